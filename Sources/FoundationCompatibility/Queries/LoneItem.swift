#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import MetadataPredicates
  internal import SystemInterface

  /// Looks at one file that no query has found.
  enum LoneItem {
    /// Own threads, because who looks waits, perhaps on one of the cooperative pool.
    private static let threads = ElasticThreadPool(threadCountMax: 64)

    /// - Returns: What is there; `nil` for nothing.
    static func source(_ url: URL) -> NSMetadataItem.Source? {
      guard url.isFileURL, let place = try? canonical(SystemPath(url.absoluteURL.path)) else { return nil }
      if place.status.kind == .directory { return .values(directory(place.path, place.status)) }
      // Without its type when there are no more watches.
      return file(url.absoluteURL).map(NSMetadataItem.Source.file) ?? .values(values(place.path, place.status))
    }

    private static func canonical(_ path: SystemPath) throws(SystemError) -> (path: SystemPath, status: FileStatus) {
      let files = HostFileSystem()
      let canonical = try files.canonicalPath(of: path, resolvingLastComponent: true)
      return (canonical, try files.status(of: canonical, at: .workingDirectory, links: .noFollow))
    }

    /// A file is the only result of a query that searches it alone.
    private static func file(_ url: URL) -> MetadataItem? {
      guard let query = try? MetadataQuery(.constant(true), in: [url], batching: .immediate),
        (try? query.start()) == true
      else { return nil }
      defer { query.stop() }
      let (found, isOver) = (Guarded<MetadataItem?>(nil), ThreadEvent())
      Task.detached(executorPreference: threads) {
        for await change in query.changes where change.finishesGathering {
          found.withLock { $0 = change.results.first }
          break
        }
        isOver.signal()
      }
      isOver.wait()
      return found.withLock { $0 }
    }

    /// A query doesn't find the directory that it searches.
    private static func directory(_ path: SystemPath, _ status: FileStatus) -> [String: MetadataValue] {
      var values = values(path, status)
      values["kMDItemContentType"] = "public.folder"
      values["kMDItemContentTypeTree"] = ["public.folder", "public.directory", "public.item"]
      if let members = try? FileManager.default.contentsOfDirectory(atPath: path.description) {
        values["kMDItemFSNodeCount"] = .integer(Int64(members.count))
      }
      return values
    }

    private static func values(_ path: SystemPath, _ status: FileStatus) -> [String: MetadataValue] {
      let name = path.lastComponent.description
      let url = URL(fileURLWithPath: path.description, isDirectory: status.kind == .directory)
      var values: [String: MetadataValue] = [
        "kMDItemFSName": .string(name), "kMDItemDisplayName": .string(name), "kMDItemPath": .string(path.description),
        "kMDItemURL": .string(url.absoluteString), "kMDItemFSSize": .integer(status.size),
        "kMDItemFSContentChangeDate": date(status.modificationTime),
        "kMDItemContentModificationDate": date(status.modificationTime),
        "kMDItemAttributeChangeDate": date(status.changeTime),
        "kMDItemFSInvisible": .bool(name.hasPrefix(".")), "kMDItemFSOwnerUserID": .integer(Int64(status.owner)),
        "kMDItemFSOwnerGroupID": .integer(Int64(status.group)), NSMetadataItemIsUbiquitousKey: .bool(false),
      ]
      if let time = status.creationTime {
        values["kMDItemFSCreationDate"] = date(time)
        values["kMDItemContentCreationDate"] = date(time)
      }
      if status.kind == .regular || status.kind == .directory { addExtendedAttributes(of: path, to: &values) }
      return values
    }

    private static func addExtendedAttributes(of path: SystemPath, to values: inout [String: MetadataValue]) {
      let files = HostFileSystem()
      guard let file = try? files.open(path, at: .workingDirectory, flags: [.noFollow, .nonBlocking], mode: 0) else {
        return
      }
      defer { try? files.close(file) }
      func text(_ name: String) -> String? {
        (try? files.extendedAttribute(ExtendedAttributeName(name), of: file)).map {
          String(decoding: $0, as: UTF8.self)
        }
      }
      if let comment = text("user.xdg.comment") {
        values["kMDItemComment"] = .string(comment)
        values["kMDItemFinderComment"] = .string(comment)
      }
      if let origin = text("user.xdg.origin.url") { values["kMDItemWhereFroms"] = .array([.string(origin)]) }
      if let tags = text("user.xdg.tags") {
        values["kMDItemUserTags"] = .array(tags.split(separator: ",").map { .string(String($0)) })
      }
    }

    private static func date(_ time: Int64) -> MetadataValue {
      .date(MetadataDate(secondsSince1970: Double(time) / 1_000_000_000))
    }
  }
#endif
