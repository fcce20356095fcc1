/// Parts of a document's snapshot, for programs that follow only some of them.
///
/// - Note: Rule ND-10.
public struct DocumentAttributes: OptionSet, Hashable, Sendable {
  /// The attributes as bits.
  public let rawValue: UInt

  /// Creates a set.
  ///
  /// - Parameter rawValue: The attributes as bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The contents, from any cause: ``DocumentState/revision``.
  public static let contents = DocumentAttributes(rawValue: 1)
  /// Whether something is unsaved.
  public static let unsavedChanges = DocumentAttributes(rawValue: 2)
  /// Where the file is, and whether it's open or deleted.
  public static let place = DocumentAttributes(rawValue: 4)
  /// When the file was changed last.
  public static let modificationDate = DocumentAttributes(rawValue: 8)
  /// Whether the file can be written, and whether it's locked.
  public static let permissions = DocumentAttributes(rawValue: 16)
  /// The versions that other programs have added, removed or resolved, and the condition `inConflict`.
  public static let versions = DocumentAttributes(rawValue: 32)
  /// The errors in the state.
  public static let errors = DocumentAttributes(rawValue: 64)
  /// The obstacles to editing.
  public static let editing = DocumentAttributes(rawValue: 128)
  /// Whether steps can be undone or redone.
  public static let undo = DocumentAttributes(rawValue: 256)
  /// The progress of a long operation.
  public static let progress = DocumentAttributes(rawValue: 512)
  /// Whether there's something to decide about that a killed process has left.
  public static let recoveries = DocumentAttributes(rawValue: 1024)
  /// Whether the document is a draft.
  public static let draft = DocumentAttributes(rawValue: 2048)
  /// All of them.
  public static let all = DocumentAttributes(rawValue: 4095)
}

extension DocumentSnapshot {
  /// The attributes that differ from those of another snapshot.
  ///
  /// - Parameters:
  ///   - former: The other snapshot.
  ///   - asked: The attributes to compare: URLs and errors take longer than numbers.
  /// - Returns: Those that differ.
  func attributes(otherThanIn former: DocumentSnapshot, among asked: DocumentAttributes) -> DocumentAttributes {
    let (now, before) = (state, former.state)
    func differ(_ conditions: DocumentState.Conditions) -> Bool {
      !now.conditions.symmetricDifference(before.conditions).isDisjoint(with: conditions)
    }
    var changed: DocumentAttributes = []
    func compare(_ attribute: DocumentAttributes, _ differs: @autoclosure () -> Bool) {
      if asked.contains(attribute), differs() { changed.insert(attribute) }
    }
    compare(.contents, now.revision != before.revision)
    compare(.unsavedChanges, now.hasUnsavedChanges != before.hasUnsavedChanges)
    compare(.place, differ([.closed, .deleted]) || url != former.url)
    compare(.modificationDate, fileModificationDate != former.fileModificationDate)
    compare(.permissions, isWritable != former.isWritable || isLocked != former.isLocked)
    compare(.versions, versionsRevision != former.versionsRevision || differ(.inConflict))
    compare(
      .errors,
      now.savingError != before.savingError || now.readingError != before.readingError
        || now.openingError != before.openingError || now.journalError != before.journalError)
    compare(.editing, now.editingObstacles != before.editingObstacles)
    compare(.undo, canUndo != former.canUndo || canRedo != former.canRedo)
    compare(.progress, progress != former.progress)
    compare(.recoveries, differ(.recoverable))
    compare(.draft, isDraft != former.isDraft)
    return changed
  }
}
