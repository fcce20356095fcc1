public import FoundationEssentials
internal import FileVersions
internal import SystemInterface

/// Keeps what is unsaved in a file of its own, for the case that the program is killed.
///
/// ```swift
/// var options = DocumentOptions<String>()
/// options.crashJournal = .standard
/// let note = FileDocument(url, as: .text, options: options)
/// try await note.open()
/// for recovery in await note.recoveries {
///   try await note.resolve(recovery, by: .restoring)
/// }
/// ```
///
/// A journal belongs to one document of one process. It's written some time after an edit, away from the document's actor, and removed as
/// soon as a save has made it needless. A process that ends without closing its documents leaves their journals behind, and the next
/// ``FileDocument/open(creatingWith:within:)`` of the file finds them: see ``FileDocument/recoveries``. The journal of a process that
/// lives is left alone. If the file isn't there any more, ``FileDocument/abandonedContents(as:options:onVolumeOf:)`` finds them.
///
/// Journals are on the volume of the file, in directories that only the user may use:
///
/// | volume | directory |
/// | --- | --- |
/// | that of the data home | `$XDG_DATA_HOME/file-journals`, which is `~/.local/share/file-journals` unless the variable is set |
/// | another one | `.file-journals-UID` at its top |
/// | another one that's full or whose top can't be written, or where somebody else has that name | that of the data home |
///
/// A journal has all unsaved contents of a file. Of a package it has the members that were altered, and the places and identities of
/// those that were moved: its size is that of the changes. Members of another package, such as those of a version that the document went
/// back to, are altered members.
///
/// A damaged journal of a killed process is reported once, with code ``DocumentError/Code/journalDamaged`` in
/// ``DocumentState/journalError``. Its files are kept under names that end in `-damaged` until they're as old as ``orphanAge``. Where they
/// can't get other names, for example on a read-only volume, each process reports them once. An open finds at most 64 journals of
/// its file, the newest ones; the others are offered when something was decided about those.
///
/// - Note: Rules CD-60 to CD-65, CD-72, CD-73 and CD-80.
public struct CrashJournal: Sendable {
  enum Place: Sendable {
    case standard
    /// The others are for journals that the first one has no room for.
    case directories([SystemPath])
  }

  let place: Place
  /// How long an edit may be in memory alone.
  ///
  /// That of the disk comes on top: all contents are written each time. After a failure it's doubled, up to 64 times.
  public var delay = Duration.seconds(1)
  /// How long journals are kept for which nobody comes.
  ///
  /// Older ones are removed when a document of another file is opened that has a journal. Those of its own file are offered.
  /// ``FileDocument/abandonedContents(as:options:onVolumeOf:)`` lists them before.
  public var orphanAge = Duration.seconds(90 * 86_400)
  /// How many bytes of unsaved contents a journal may have, and all journals that an open finds.
  ///
  /// More than that isn't written, and ``DocumentState/journalError`` says so; the record before stays. Of a package only the altered
  /// members count. Larger journals of killed processes stay where they are.
  public var byteCountMax = 1 << 30
  /// In nanoseconds since 1970.
  package var time: @Sendable () -> Int64 = { Int64(Date.now.timeIntervalSince1970 * 1e9) }

  /// Journals in directories that are chosen by the volume of the file.
  public static let standard = CrashJournal(place: .standard)

  /// All journals in one directory.
  ///
  /// - Parameter url: The directory, by an absolute file URL; made if it isn't there, in one that has to be. Permissions of others
  ///   are taken back.
  /// - Returns: The journal.
  public static func directory(_ url: URL) -> CrashJournal {
    let path = SystemPath(url.path(percentEncoded: false))
    // The URL of a directory ends in a slash, which isn't part of its path.
    return CrashJournal(place: .directories([path.parent.appending(path.lastComponent)]))
  }

  /// For tests: as if the first directory were on the volume of the file, and the second one in the data home.
  static func directories(_ first: SystemPath, _ second: SystemPath) -> CrashJournal {
    CrashJournal(place: .directories([first, second]))
  }

  private init(place: Place) { self.place = place }

  private static let name = "file-journals"

  /// The directories in which journals of a file may be that processes have left behind; without a file, those for all volumes.
  func directories(for path: SystemPath?) throws(SystemError) -> [SystemPath] {
    switch place {
    case .directories(let directories): return directories
    case .standard:
      guard let path else { return [try VersionStorage.homeDirectory(named: Self.name, making: false)] }
      let first = try VersionStorage.standardDirectory(named: Self.name, for: path, making: false)
      let home = try VersionStorage.homeDirectory(named: Self.name, making: false)
      if first == home { return [home] }
      // Another user's, or a link: nothing of ours is there.
      let status = try? HostFileSystem().statusIfPresent(of: first)
      let isOwn = status?.kind == .directory && status?.owner == HostUser.effectiveUserID
      return isOwn ? [first, home] : [home]
    }
  }

  /// Writes a journal of a file in the directory of its volume or, if that has no room for it, in the next one.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - write: Writes it in a directory that's there, and that nobody else can use.
  /// - Throws: The error of the first directory.
  func write(
    for path: SystemPath, _ write: (SystemPath) throws(SystemError) -> Void
  ) throws(SystemError) {
    do throws(SystemError) { try write(try firstDirectory(for: path)) } catch {
      guard error.isOne(of: .noSpace, .quotaExceeded, .readOnlyFileSystem) else { throw error }
      do throws(SystemError) {
        guard let other = try nextDirectory(for: path) else { throw error }
        try write(other)
      } catch _ { throw error }
    }
  }

  private func firstDirectory(for path: SystemPath) throws(SystemError) -> SystemPath {
    switch place {
    case .standard: return try VersionStorage.standardDirectory(named: Self.name, for: path, making: true)
    case .directories(let directories): return try made(directories[0])
    }
  }

  private func nextDirectory(for path: SystemPath) throws(SystemError) -> SystemPath? {
    switch place {
    case .standard:
      let first = try VersionStorage.standardDirectory(named: Self.name, for: path, making: false)
      let home = try VersionStorage.homeDirectory(named: Self.name, making: true)
      return first == home ? nil : home
    case .directories(let directories): return try directories.dropFirst().first.map(made)
    }
  }

  private func made(_ directory: SystemPath) throws(SystemError) -> SystemPath {
    try RuntimeDirectory.makePrivate(directory, owners: [HostUser.effectiveUserID])
    return directory
  }
}
