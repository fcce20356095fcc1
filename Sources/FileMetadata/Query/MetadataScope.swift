public import FoundationEssentials
internal import SystemInterface
internal import FileWatching

/// Where a query searches.
///
/// - Note: Rules Q23 to Q27 of <doc:QueryRules>.
public enum MetadataScope: Hashable, Sendable {
  /// A directory, with everything in it.
  ///
  /// It doesn't have to be there: files that come there are found. Links that lead to it when the query is made are
  /// followed, others aren't. Results carry the path that was asked for, unless it has a `..`; where several lead to
  /// one directory, the first.
  case directory(URL)
  /// The user's home directory.
  case home
  /// The contents of the root directory, but for `/dev`, `/proc`, `/run`, `/sys`, other file systems that the kernel
  /// invents, and volumes of other machines; and the home directory, wherever it is.
  ///
  /// All of it is indexed in memory, by each process that searches it.
  case localComputer
  /// Volumes of other machines that are mounted when the query is made.
  case network
  /// The documents in the program's ubiquity containers: nothing, as on a device whose user isn't signed in.
  case ubiquitousDocuments
  /// The other files in the program's ubiquity containers: nothing, as on a device whose user isn't signed in.
  case ubiquitousData
  /// Documents in ubiquity containers of other programs: nothing, as on a device whose user isn't signed in.
  case accessibleUbiquitousExternalDocuments

  /// Whether it's about ubiquity containers, and can't stand beside other scopes.
  ///
  /// - Note: Rule Q23.
  public var isUbiquitous: Bool {
    switch self {
    case .directory, .home, .localComputer, .network: false
    case .ubiquitousDocuments, .ubiquitousData, .accessibleUbiquitousExternalDocuments: true
    }
  }

  /// The directories that are searched now: one may be inside another one.
  ///
  /// Reads the table of mounted volumes and the root directory if it has to.
  public var directories: [URL] {
    switch self {
    case .directory(let url): [url]
    case .home: [Self.homeDirectory]
    case .localComputer:
      Self.joined(
        MountedVolumes.current.localDirectories(of: Self.rootMembers).compactMap { $0.url(isDirectory: true) },
        Self.homeDirectory)
    case .network:
      MountedVolumes.current.networkDirectories.compactMap { $0.url(isDirectory: true) }
    case .ubiquitousDocuments, .ubiquitousData, .accessibleUbiquitousExternalDocuments: []
    }
  }

  /// Directories and one more, unless that's in one of them already.
  static func joined(_ directories: [URL], _ other: URL) -> [URL] {
    let components = other.standardizedFileURL.pathComponents
    let isInside = directories.contains { components.starts(with: $0.standardizedFileURL.pathComponents) }
    return isInside ? directories : directories + [other]
  }

  private static var homeDirectory: URL { FileManager.default.homeDirectoryForCurrentUser }

  private static var rootMembers: [SystemPath] {
    let files = HostFileSystem()
    do throws(SystemError) {
      let root = try files.openDirectory(.root)
      defer { try? files.close(root) }
      var names: [SystemPath] = []
      while let entries = try files.readDirectory(root) { names += entries.map(\.name) }
      return names
    } catch {
      return []
    }
  }
}
