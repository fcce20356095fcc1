internal import CompactContainers

/// Which presenter an item concerns, seen from the item.
enum PresenterRelation: Hashable, Sendable {
  /// Presents the item itself (PI).
  case item
  /// Presents a package that encloses the item (PK).
  case enclosingPackage
  /// Presents something inside the item (PD).
  case inside
  /// Presents a plain directory around the item (PA). Notified afterwards, and asked before only if the item is deleted
  /// or replaced.
  case enclosingDirectory
}

/// The questions to presenters before an access, as one table (C-411).
///
/// | access                      | item (PI)             | enclosing package (PK)   | inside (PD)           | rules      |
/// | --------------------------- | --------------------- | ------------------------ | --------------------- | ---------- |
/// | read                        | to reader, save       | to reader, save          | –                     | C-030…C-037 |
/// | read `.forUploading`        | to reader, save       | to reader, save          | to reader, save       | C-045, C-046 |
/// | read `.withoutChanges`      | to reader             | to reader                | –                     | C-031      |
/// | write, metadata only        | to writer             | to writer                | –                     | C-050, C-051 |
/// | write `.forMerging`         | to writer, save       | to writer, save          | –                     | C-052      |
/// | write `.forMoving`          | to writer             | to writer                | to writer             | C-105      |
/// | write `.forDeleting`,
///   `.forReplacing`             | to writer, deletion   | to writer, subitem deletion | to writer, deletion | C-070…C-077 |
/// | eviction                    | eviction, or veto     | eviction, or veto        | eviction, or veto     | C-208, C-209 |
/// | `prepare`                   | save or deletion as above, without relinquish; PD like PI           || C-136, C-137 |
///
/// Presenters of enclosing plain directories are only asked to accommodate the deletion of a subitem (C-034, C-073).
struct MessageRules {
  /// The questions to one presenter for one access, in the order in which they're asked (C-030, C-070).
  struct Questions: Hashable, Sendable {
    enum Relinquish: Int, Hashable, Sendable { case none, toReader, toWriter }
    var relinquish = Relinquish.none
    var save = false
    var accommodateDeletion = false
    var accommodateEviction = false
    var subitemDeletions: [ItemPath] = []

    /// Several items of one request may concern one presenter: the strongest question wins (C-313).
    mutating func merge(_ other: Questions) {
      if other.relinquish.rawValue > relinquish.rawValue { relinquish = other.relinquish }
      save = save || other.save
      accommodateDeletion = accommodateDeletion || other.accommodateDeletion
      accommodateEviction = accommodateEviction || other.accommodateEviction
      for path in other.subitemDeletions where !subitemDeletions.contains(path) { subitemDeletions.append(path) }
    }

    /// The messages for a presenter with `callbacks`: questions that it didn't declare count as answered (C-036,
    /// C-037).
    ///
    /// In reverse order, so that the next is the last.
    func messages(for callbacks: PresenterCallbacks) -> ShortList<Message.Kind> {
      var kinds = ShortList<Message.Kind>()
      func add(_ kind: Message.Kind) { if callbacks.contains(kind.requiredCallback) { kinds.append(kind) } }
      for path in subitemDeletions.reversed() { add(.accommodateSubitemDeletion(path)) }
      if accommodateEviction { add(.accommodateEviction) }
      if accommodateDeletion { add(.accommodateDeletion) }
      if save { add(.saveChanges) }
      switch relinquish {
      case .none: break
      case .toReader: add(.relinquishToReader)
      case .toWriter: add(.relinquishToWriter)
      }
      return kinds
    }
  }

  static func questions(
    _ access: ItemAccess, at path: @autoclosure () -> ItemPath, to relation: PresenterRelation, isPreparation: Bool
  ) -> Questions {
    var questions = Questions()
    if relation == .enclosingDirectory {
      let isItsEnd = access == .write(.deleting) || access == .write(.replacing)
      if isItsEnd { questions.subitemDeletions = [path()] }
      return questions
    }
    let isInside = relation == .inside
    switch access {
    case .read(let withoutChanges), .readAll(let withoutChanges):
      if isInside, access == .read(withoutChanges: withoutChanges), !isPreparation { break }
      questions.relinquish = .toReader
      questions.save = !withoutChanges
    case .write(let intent):
      if isInside, !intent.isDeep, !isPreparation { break }
      questions.relinquish = .toWriter
      switch intent {
      case .update, .metadataOnly, .moving: break
      case .merging: questions.save = true
      case .deleting, .replacing:
        if relation == .enclosingPackage {
          questions.subitemDeletions = [path()]
        } else {
          questions.accommodateDeletion = true
        }
      case .evicting:
        questions.relinquish = .none
        questions.accommodateEviction = true
      }
    case .delegated: break
    }
    if isPreparation { questions.relinquish = .none }
    return questions
  }

  /// Whether presenters inside the item have to be searched for.
  static func concernsInside(_ access: ItemAccess, isPreparation: Bool) -> Bool {
    switch access {
    case .read: isPreparation
    case .readAll: true
    case .write(let intent): isPreparation || intent.isDeep
    case .delegated: false
    }
  }
}
