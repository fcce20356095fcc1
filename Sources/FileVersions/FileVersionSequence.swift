internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// The versions that are kept of a file, newest first, whose records are read as they're asked for.
///
/// The names of all versions are read with the first one. A version that's added later isn't among them, and one that's removed before it's
/// its turn is left out.
public struct FileVersionSequence: AsyncSequence, Sendable {
  let versions: FileVersions
  let url: URL

  /// Begins with the newest version.
  ///
  /// - Returns: An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

  /// Reads one version after the other.
  public struct Iterator: AsyncIteratorProtocol {
    /// How many records are read at a time, while others who change the history wait.
    static let batchCount = 64

    private let sequence: FileVersionSequence
    /// The names that are left, oldest first; `nil` at the beginning.
    private var rest: Rest?
    /// The versions that were read, oldest first.
    private var batch: [FileVersion] = []

    fileprivate struct Rest: Sendable {
      let item: ItemID
      var ids: [VersionID]
    }

    fileprivate init(sequence: FileVersionSequence) { self.sequence = sequence }

    /// Reads the next version.
    ///
    /// - Returns: The version; `nil` at the end.
    /// - Throws: ``FileVersionError`` with code `.noSuchFile` when nothing is at the URL; others as ``FileVersions/FileVersions/versions(of:)``.
    public mutating func next() async throws(FileVersionError) -> FileVersion? {
      if let version = batch.popLast() { return version }
      let (url, begun) = (sequence.url, rest)
      (rest, batch) = try await sequence.versions.perform { keeper in
        let path = try keeper.path(of: url)
        guard let begun else { return try keeper.firstBatch(at: path) }
        return try keeper.nextBatch(begun, at: path)
      }
      return batch.popLast()
    }
  }
}

extension FileVersions {
  /// The versions that are kept of a file, newest first, one after the other: for histories of which only a part is needed.
  ///
  /// The same ones as ``versions(of:)``, without the current one. Nothing is read before the first one is asked for.
  ///
  /// - Parameter url: The file.
  /// - Returns: The versions.
  /// - Complexity: O(versions) for their names with the first one, and one record for each that's asked for, 64 at a time. With engines all
  ///   are read with the first one.
  /// - Note: Rule CV-02.
  public func eachVersion(of url: URL) -> FileVersionSequence { FileVersionSequence(versions: self, url: url) }
}

extension VersionKeeper {
  fileprivate typealias Rest = FileVersionSequence.Iterator.Rest

  fileprivate func firstBatch(at path: SystemPath) throws -> (Rest?, [FileVersion]) {
    if try status(of: path) == nil { throw VersionStoreError.nothingThere(path) }
    if !conflictCopies.isEmpty {
      let all = try versions(at: path) ?? []
      return (Rest(item: .drawn(), ids: []), all.reversed())
    }
    let rest: Rest? = try withStoreIfPresent(at: path, otherwise: nil) { store in
      try store.item(at: path, creating: false).map { Rest(item: $0, ids: try store.listedIDs(of: $0)) }
    }
    return try nextBatch(rest ?? Rest(item: .drawn(), ids: []), at: path)
  }

  /// The next versions; none only at the end.
  fileprivate func nextBatch(_ rest: Rest, at path: SystemPath) throws -> (Rest?, [FileVersion]) {
    var (rest, batch) = (rest, [FileVersion]())
    while batch.isEmpty, !rest.ids.isEmpty {
      let ids = rest.ids.suffix(FileVersionSequence.Iterator.batchCount)
      rest.ids.removeLast(ids.count)
      let item = rest.item
      batch = try withStoreIfPresent(at: path, otherwise: []) { store in
        var found: [FileVersion] = []
        for id in ids {
          // One that's damaged isn't listed.
          do throws(VersionStoreError) {
            if let version = try store.versionIfPresent(id, of: item) { found.append(FileVersion(version, in: store)) }
          } catch .damaged {}
        }
        return found
      }
    }
    return (rest, batch)
  }
}
