#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates
  internal import SystemInterface

  /// Where a query searches, made of what the program has said.
  struct SearchPlaces {
    /// Directories and files that are there.
    var roots: [URL] = []
    /// Searches only these paths in the roots, if not `nil`.
    var paths: Set<String>?

    /// - Parameters:
    ///   - scopes: Constants, URLs and paths; none for no limit.
    ///   - items: Items, URLs and paths.
    ///   - computer: What no limit means.
    init(scopes: [Any], items: [Any]?, computer: [URL]) {
      let isLimited = !scopes.isEmpty
      let directories = scopes.flatMap { Self.directories($0, computer) }
      guard let items else {
        roots = isLimited ? directories.compactMap(Self.existing) : computer
        return
      }
      let limits = isLimited ? directories.map(Self.canonicalPath) : nil
      var paths: Set<String> = []
      for item in items.compactMap(Self.url).compactMap(Self.existing) {
        let path = Self.canonicalPath(item)
        guard limits?.contains(where: { Self.isInside(path, $0) }) ?? true else { continue }
        paths.insert(path)
        // A query finds what's in the directories that it searches, and not these.
        let place = URL(fileURLWithPath: path)
        roots.append(Self.isDirectory(place) ? place.deletingLastPathComponent() : place)
      }
      self.paths = paths
    }

    /// What limits a search to these paths.
    var condition: MetadataPredicate? {
      paths.map { paths in
        .comparison(
          PredicateComparison(
            .attribute(NSMetadataItemPathKey), .isIn,
            .constant(.array(paths.sorted().map(MetadataValue.string)))))
      }
    }

    // MARK: Scopes

    private static let ubiquitous: Set = [
      NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryUbiquitousDataScope,
      NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope,
    ]
    private static let local: Set = [
      NSMetadataQueryUserHomeScope, NSMetadataQueryLocalComputerScope, NSMetadataQueryNetworkScope,
      NSMetadataQueryIndexedLocalComputerScope, NSMetadataQueryIndexedNetworkScope,
    ]

    /// Whether scopes on this machine and such as are kept elsewhere stand beside each other.
    ///
    /// - Note: Rule Q23.
    static func areMixed(_ scopes: [Any]) -> Bool {
      let names = scopes.compactMap { $0 as? String }
      return names.contains(where: ubiquitous.contains) && names.contains(where: local.contains)
    }

    private static func directories(_ scope: Any, _ computer: [URL]) -> [URL] {
      let home = FileManager.default.homeDirectoryForCurrentUser
      switch scope as? String {
      case NSMetadataQueryUserHomeScope?: return [home]
      case NSMetadataQueryLocalComputerScope?, NSMetadataQueryIndexedLocalComputerScope?: return computer + [home]
      case NSMetadataQueryNetworkScope?, NSMetadataQueryIndexedNetworkScope?:
        return MountedVolumes.current.networkDirectories
      // Nobody is signed in.
      case let name? where ubiquitous.contains(name): return []
      default: break
      }
      if let url = url(scope) { return [url] }
      Misuse.report("'\(scope)' isn't searched: a scope is a constant, a file URL or a path")
      return []
    }

    private static func url(_ place: Any) -> URL? {
      switch place {
      case let url as URL: url.isFileURL ? url.absoluteURL : nil
      case let path as String: path.isEmpty ? nil : literal(path)
      case let item as NSMetadataItem: item.value(forAttribute: NSMetadataItemURLKey) as? URL
      default: nil
      }
    }

    /// Foundation puts the home directory in the place of a tilde, and queries don't.
    ///
    /// - Note: Rule Q26.
    private static func literal(_ path: String) -> URL {
      URL(fileURLWithPath: path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path)
    }

    private static func existing(_ url: URL) -> URL? {
      if FileManager.default.fileExists(atPath: url.path) { return url }
      Misuse.report("'\(url.path)' isn't searched: it isn't there")
      return nil
    }

    private static func canonicalPath(_ url: URL) -> String {
      (try? HostFileSystem().canonicalPath(of: SystemPath(url.path), resolvingLastComponent: true).description)
        ?? url.path
    }

    private static func isDirectory(_ url: URL) -> Bool {
      var isDirectory: ObjCBool = false
      return unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private static func isInside(_ path: String, _ directory: String) -> Bool {
      path == directory || path.hasPrefix(directory == "/" ? directory : directory + "/")
    }
  }
#endif
