internal import FileWatching
public import FoundationEssentials
package import SystemInterface
internal import VersionStore

/// Where versions are kept.
///
/// On the volume of the file, so that its blocks can be shared, in a directory that only the user may use, as the trash of
/// freedesktop.org is chosen.
///
/// | volume | directory |
/// | --- | --- |
/// | that of the data home | `$XDG_DATA_HOME/file-versions`, which is `~/.local/share/file-versions` unless the variable is set |
/// | another one | `.file-versions-UID` at its top |
/// | another one whose top can't be written, or where somebody else has that name | that of the data home |
///
/// A file that has come from another volume takes its history along, from a volume of this machine by any move. From one of the
/// network, or of a program (FUSE), it does so only with a coordinated move: nothing else looks for a store there unless the file is on it,
/// because a server or a program that doesn't answer would block every call. Until then the history stays where it is, and goes on there
/// when the file is back.
///
/// If the top of a volume can be written only later, the history of a file goes there with its next use.
public struct VersionStorage: Sendable {
  private enum Choice: Sendable {
    case standard
    case directory(SystemPath)
    /// For tests: as if each of them were on a volume of its own, the first one with the data home. No store can be made on closed ones.
    case volumes([SystemPath], closed: Set<SystemPath>)
  }

  private let choice: Choice

  /// The directory is chosen by the volume of the file.
  public static let standard = VersionStorage(choice: .standard)

  private init(choice: Choice) { self.choice = choice }

  /// All versions in one directory.
  ///
  /// - Parameter url: The directory, by an absolute file URL; made if it isn't there.
  /// - Returns: The storage.
  public static func directory(_ url: URL) -> VersionStorage {
    let path = SystemPath(url) ?? SystemPath(url.path(percentEncoded: false))
    // The URL of a directory ends in a slash, which isn't part of its path.
    return VersionStorage(choice: .directory(path.parent.appending(path.lastComponent)))
  }

  /// The directory for versions of what is at a path; if `making`, those around it are made, and itself where others could plant it.
  ///
  /// Otherwise it's the one in which a call that has made it has put the versions: that of the data home if the one on the volume isn't the
  /// user's, or if there's none and that of the data home has histories at the path or below it.
  func directory(for path: SystemPath, making: Bool = true) throws(SystemError) -> SystemPath {
    let own = try preferredDirectory(for: path, making: making)
    if making { return own }
    guard let home = try homeDirectory, home != own else { return own }
    let status = try? HostFileSystem().statusIfPresent(of: own)
    if let status, status.kind == .directory, status.owner == HostUser.effectiveUserID { return own }
    return status != nil || VersionStore.hasPlaces(at: path, in: home) ? home : own
  }

  /// The directory on the volume of a path; or that of the data home, if `making` and the other one can't be made.
  private func preferredDirectory(for path: SystemPath, making: Bool) throws(SystemError) -> SystemPath {
    switch choice {
    case .directory(let directory):
      if making { try DataHome.ensureDirectory(directory.parent) }
      return directory
    case .volumes(let tops, let closed):
      let top = tops.first { path.isInside($0) } ?? tops[0]
      return (making && closed.contains(top) ? tops[0] : top).appending(Self.directoryName)
    case .standard: return try Self.standardDirectory(named: Self.directoryName, for: path, making: making)
    }
  }

  /// The directory in the data home, which has what other volumes can't have.
  var homeDirectory: SystemPath? {
    get throws(SystemError) {
      switch choice {
      case .directory: nil
      case .volumes(let tops, _): tops[0].appending(Self.directoryName)
      case .standard: try Self.homeDirectory(named: Self.directoryName, making: false)
      }
    }
  }

  /// Whether there's a store that may have versions of what is at a path: on its volume, or on the one that it has come from.
  func hasStore(for path: SystemPath) throws(SystemError) -> Bool {
    let own = try directory(for: path, making: false)
    if VersionStore.exists(at: own) { return true }
    return try otherDirectories(than: own).contains { VersionStore.exists(at: $0) }
  }

  /// Whether there's one store for all volumes, so that no history can come from another one.
  var isSingle: Bool { if case .directory = choice { true } else { false } }

  /// The directories for other volumes: histories may have come from there with their files.
  func otherDirectories(than directory: SystemPath) throws(SystemError) -> [SystemPath] {
    let all: [SystemPath] =
      switch choice {
      case .directory: []
      case .volumes(let tops, _): tops.map { $0.appending(Self.directoryName) }
      case .standard: try Self.standardDirectories(named: Self.directoryName)
      }
    return all.filter { $0 != directory }
  }

  /// Lets a store that the process begins to use be found from other volumes.
  func note(_ store: SystemPath) {
    guard case .standard = choice, (try? homeDirectory) != store else { return }
    NestedStores.note(store)
  }

  static func volumes(_ tops: [SystemPath], closed: Set<SystemPath> = []) -> VersionStorage {
    VersionStorage(choice: .volumes(tops, closed: closed))
  }

  private static let directoryName = "file-versions"

  /// The directories that ``standardDirectory(named:for:making:)`` may have chosen and that are there, that of the data home first.
  ///
  /// Those of other machines' volumes and of programs aren't among them: nothing is asked of these, see ``LocalMounts``.
  package static func standardDirectories(
    named name: String, mounts: [MountTable.Mount] = MountTable.mounts, files: any FileSystem = HostFileSystem()
  ) throws(SystemError) -> [SystemPath] {
    let user = HostUser.effectiveUserID
    let local = LocalMounts(mounts)
    let nested = try NestedStores.paths(on: local).filter { $0.lastComponent == SystemPath(".\(name)-\(user)") }
    let directories = local.paths.map { $0.appending(".\(name)-\(user)") } + nested
    let own = directories.filter { directory in
      // Another user's, or a link: not ours.
      guard let status = try? files.statusIfPresent(of: directory) else { return false }
      return status.kind == .directory && status.owner == user
    }
    return try [DataHome.path().appending(SystemPath(name))] + own
  }

  /// The directory in the data home, whatever volume a file is on; if `making`, it's made, and nobody else can use it.
  package static func homeDirectory(named name: String, making: Bool) throws(SystemError) -> SystemPath {
    if making { return try DataHome.privateDirectory(name) }
    return try DataHome.path().appending(SystemPath(name))
  }

  /// A directory that only the user may use, on the volume of a file; the rule is that of the type.
  ///
  /// - Parameters:
  ///   - name: The last component of each such directory, which names its contents.
  ///   - path: The file, as a canonical path.
  ///   - making: Whether it's made, with those around it.
  /// - Returns: The directory.
  /// - Throws: The error of a system call.
  package static func standardDirectory(
    named name: String, for path: SystemPath, making: Bool
  ) throws(SystemError) -> SystemPath {
    let files = HostFileSystem()
    let home = try DataHome.path()
    let own = { () throws(SystemError) -> SystemPath in
      making ? try DataHome.privateDirectory(name) : home.appending(SystemPath(name))
    }
    // Items in a directory where a volume is mounted are on that volume.
    var top = try files.statusIfPresent(of: path)?.kind == .directory ? path : path.parent
    while try files.statusIfPresent(of: top) == nil, top != .root { top = top.parent }
    let device = try files.status(of: top, at: .workingDirectory, links: .follow).device
    let user = HostUser.effectiveUserID
    if try files.status(of: home, at: .workingDirectory, links: .follow).device == device {
      return try own()
    }
    while top != .root, try files.status(of: top.parent, at: .workingDirectory, links: .follow).device == device {
      top = top.parent
    }
    let directory = top.appending(SystemPath(".\(name)-\(user)"))
    do throws(SystemError) {
      if making { try RuntimeDirectory.makePrivate(directory, owners: [user]) }
      return directory
    } catch {
      // It may work the next time: until then nothing is kept elsewhere, where it wouldn't be found.
      if error.isOne(of: .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noSpace) { throw error }
      // Read-only, another user's, or planted: the contents are copied.
      return try own()
    }
  }
}
