internal import ContentHashing
internal import FileCoordination
internal import FileVersions
internal import FoundationEssentials
internal import SystemInterface

// The contents of a file are known without reading it again.

/// The hash of a file that had a status: as long as it has that, nobody has written it.
struct KnownFile: Sendable {
  let status: FileStatus
  let hash: ContentHash
}

/// The contents of a file, as they were read.
struct PresentFile: Sendable {
  let contents: Data
  /// `nil` for what was just written.
  var status: FileStatus?
  /// When it was read, by the clock of files.
  var time: Int64 = 0

  /// Clocks of files tick, every two seconds at worst: another write within the tick of the last one changes nothing but the bytes.
  private static var tickMax: Int64 { 2_000_000_000 }

  /// - Returns: `nil` if a write of the same size might go unnoticed.
  func known(_ hash: ContentHash) -> KnownFile? {
    guard let status, status.changeTime < time - Self.tickMax, status.modificationTime < time - Self.tickMax else {
      return nil
    }
    return KnownFile(status: status, hash: hash)
  }
}

extension DocumentWork {
  /// The base, if the file is the very one that was read, and nobody has touched it since: found without reading it.
  func knownBase(_ access: borrowing FileAccess) -> KnownFile? {
    guard let known = presence?.knownFile, known.hash == memory.base?.tag,
      let status = try? files.statusIfPresent(of: access.canonicalPath), status.hasContents(of: known.status),
      status.changeTime == known.status.changeTime
    else { return nil }
    return known
  }

  /// In how many names of the directory leftovers of killed saves are looked for before an open returns.
  private static var quickNameCountMax: Int { 1_024 }

  /// Looks for what killed saves have left, and for versions, as far as that takes no time worth mentioning.
  ///
  /// - Returns: Whether nothing of that is left to be done.
  func looksAround(_ path: SystemPath, _ presence: DocumentPresence) -> Bool {
    guard let found = try? files.removeLeftovers(ofSavesOf: path, among: Self.quickNameCountMax), found.isComplete
    else { return false }
    _ = presence.takesTidying()
    return !VersionsWithinAccess(options.versions).mayHaveVersions(at: path)
  }
}
