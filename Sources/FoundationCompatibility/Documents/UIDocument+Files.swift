#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  // How a document's file is read and written, unless its class says otherwise.

  extension UIDocument {
    nonisolated func readContents(of url: URL) throws {
      var isDirectory = ObjCBool(false)
      _ = unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
      let contents: Any = try isDirectory.boolValue ? FileWrapper(url: url) : Data(contentsOf: url)
      if inbox.put(contents) { return }
      let (shared, type) = (SharedReference(contents), fileType)
      try MainTurns.wait { try self.load(fromContents: shared.value, ofType: type) }
    }

    nonisolated func write(_ contents: Any, _ url: URL, _ originalURL: URL?) throws {
      switch contents {
      case let data as Data: try data.write(to: url, options: .withoutOverwriting)
      case let wrapper as FileWrapper:
        try wrapper.write(to: url, options: .withNameUpdating, originalContentsURL: originalURL)
      default:
        throw CocoaError(
          .featureUnsupported,
          userInfo: [
            NSLocalizedDescriptionKey:
              "contents(forType:) has returned a \(type(of: contents)). Return Data or a FileWrapper, or override "
              + "writeContents(_:to:for:originalContentsURL:)."
          ])
      }
    }

    /// In a directory of its own beside the file: so a package can keep its name, and what's left after a crash is recognized.
    nonisolated func writeSafely(
      _ contents: Any, _ attributes: [AnyHashable: Any], _ url: URL, _ operation: SaveOperation
    ) throws {
      let files = HostFileSystem()
      let place = url.systemPath
      let folder: URL
      do throws(SystemError) {
        folder = try files.withTemporaryName(for: place.lastComponent) { (name) throws(SystemError) in
          let path = place.parent.appending(name)
          try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
          return path.foundationURL
        }
      } catch { throw FileManager.cocoaError(error, url) }
      defer { try? FileManager.default.removeItem(at: folder) }
      let new = folder.appendingPathComponent(url.lastPathComponent)
      let isThere = try files.statusIfPresent(of: place) != nil
      try writeContents(contents, to: new, for: operation, originalContentsURL: isThere ? url : nil)
      _ = try FileManager.put(new, inPlaceOf: url)
      let known = attributes.compactMap { key, value -> (FileAttributeKey, Any)? in
        if let key = key as? FileAttributeKey { return (key, value) }
        return (key as? String).map { (FileAttributeKey(rawValue: $0), value) }
      }
      if known.isEmpty { return }
      try FileManager.default.setAttributes(
        Dictionary(known) { first, _ in first }, ofItemAtPath: url.path)
    }
  }
#endif
