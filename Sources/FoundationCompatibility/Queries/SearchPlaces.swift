#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import SystemInterface

  /// The places that a query searches, from the program's settings.
  struct SearchPlaces {
    /// Never empty; a ubiquitous scope stands for nothing.
    var scopes: [MetadataScope]
    var items: [URL] = []

    /// - Parameters:
    ///   - scopes: Constants, URLs and paths; none for no limit.
    ///   - items: Items, URLs and paths.
    ///   - computer: The directories that are searched without a limit.
    init(scopes: [Any], items: [Any]?, computer: [URL]) {
      let directories = scopes.isEmpty ? computer : scopes.flatMap { Self.directories($0, computer) }
      if let items {
        let limits = scopes.isEmpty ? nil : directories.compactMap(Self.path)
        self.items = items.compactMap(Self.url).filter { item in
          guard let path = Self.path(item) else { return false }
          return limits?.contains { path == $0 || path.isInside($0) } ?? true
        }
        self.scopes = []
      } else {
        self.scopes = directories.filter { Self.path($0) != nil }.map(MetadataScope.directory)
      }
      if self.scopes.isEmpty, self.items.isEmpty { self.scopes = [.ubiquitousDocuments] }
    }

    // MARK: Scopes

    private static let constants: [String: MetadataScope] = [
      NSMetadataQueryUserHomeScope: .home, NSMetadataQueryLocalComputerScope: .localComputer,
      NSMetadataQueryIndexedLocalComputerScope: .localComputer, NSMetadataQueryNetworkScope: .network,
      NSMetadataQueryIndexedNetworkScope: .network, NSMetadataQueryUbiquitousDocumentsScope: .ubiquitousDocuments,
      NSMetadataQueryUbiquitousDataScope: .ubiquitousData,
      NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope: .accessibleUbiquitousExternalDocuments,
    ]

    /// Whether scopes on this machine and such as are kept elsewhere stand beside each other.
    ///
    /// - Note: Rule Q23.
    static func areMixed(_ scopes: [Any]) -> Bool {
      let ubiquitous = scopes.count { ($0 as? String).flatMap { constants[$0] }?.isUbiquitous == true }
      return ubiquitous > 0 && ubiquitous < scopes.count
    }

    private static func directories(_ scope: Any, _ computer: [URL]) -> [URL] {
      switch (scope as? String).flatMap({ constants[$0] }) {
      case .localComputer?: return computer + MetadataScope.home.directories
      case let constant?: return constant.directories
      case nil: break
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

    /// Where a URL leads, be anything there or not; `nil` for a URL that can't lead anywhere, which is reported.
    private static func path(_ url: URL) -> SystemPath? {
      do throws(SystemError) {
        return try HostFileSystem().canonicalPath(of: url.systemPath, resolvingLastComponent: true)
      } catch {
        Misuse.report("'\(url.path)' isn't searched: \(error)")
        return nil
      }
    }
  }
#endif
