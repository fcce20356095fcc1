internal import ContentHashing
public import FoundationEssentials
internal import SystemInterface

/// The contents that a killed process hadn't saved, of a file that isn't at its place any more.
///
/// Nobody who opens a file gets them: the file was deleted, or another program has moved it and it was saved since. A program
/// shows them at its start, as documents without a name, and calls ``discard()`` when the user has saved or refused them.
///
/// As long as this value exists, no other process and no document gets the journal. In a directory that can't be written, for example on
/// a read-only volume, others that ask for such contents get it as well, and it stays there.
///
/// - Note: Rule CD-80.
public struct AbandonedContents<Contents: Sendable>: Sendable, Identifiable {
  /// Where the file was.
  public let formerURL: URL
  /// The contents as the process had them; `nil` if the format can't read them.
  ///
  /// Of a package: the members that the process had altered, without the others.
  public let contents: Contents?
  let orphan: JournalOrphan
  let work: JournalWork<Contents>

  /// Names the journal.
  public var id: String { orphan.held.name }
  /// The same as the bytes of a file; of a package, the journal's table of its altered members.
  public var bytes: Data { Data(orphan.record.contents) }
  /// When the journal was written.
  public var date: Date { Date(timeIntervalSince1970: Double(orphan.record.header.time) / 1e9) }
  /// The SHA-256 of the file that the contents were made from, as 64 hexadecimal digits; `nil` if there was none.
  public var baseHash: String? { orphan.record.header.base?.description }

  /// Removes the journal.
  ///
  /// - Throws: ``DocumentError`` with code `.journalNotWritten` if it couldn't be removed, for example on a read-only volume: it's offered
  ///   again then.
  public func discard() async throws(DocumentError) {
    if let error = await work.remove(orphan) { throw error }
  }
}

extension FileDocument {
  /// The unsaved contents of killed processes whose files aren't at their places any more; oldest first.
  ///
  /// A file that was moved, and not saved since, is known by its inode: opening it offers them as well, see ``recoveries``, once these
  /// values are gone. Journals of living processes and of documents of this process are left alone. Those that can't be removed, on a
  /// read-only volume for example, are found as well. At most 64 are found, the newest ones.
  ///
  /// - Parameters:
  ///   - format: The format of the contents; journals of files and packages are told apart, others aren't.
  ///   - options: Has the place of the journals. Without one, nothing is found.
  ///   - url: An item on a volume whose journals are meant as well; those in the data home are always found.
  /// - Returns: The contents. Nothing is removed before ``AbandonedContents/discard()``.
  /// - Throws: ``DocumentError`` with code `.journalNotRead` if no journal could be read, or `.journalDamaged` if those that are left
  ///   are damaged.
  /// - Complexity: O(journals), and O(bytes) in those that are returned.
  /// - Note: Rule CD-80.
  public static func abandonedContents(
    as format: some DocumentFormat<Contents>, options: DocumentOptions<Contents> = DocumentOptions(),
    onVolumeOf url: URL? = nil
  ) async throws(DocumentError) -> [AbandonedContents<Contents>] {
    guard let journal = options.crashJournal else { return [] }
    let work = JournalWork(
      format: format, options: options, journal: journal, url: url ?? URL(filePath: "/", directoryHint: .isDirectory))
    return try await work.takeAbandoned(onVolume: url != nil)
  }
}
