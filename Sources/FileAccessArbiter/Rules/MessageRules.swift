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
  /// The questions to one presenter for one access, which are put in this order (C-030, C-070).
  ///
  /// No list of messages: an access that asks presenters would need memory for each of them.
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

    /// Those for a presenter with `callbacks`: questions that it didn't declare count as answered (C-036, C-037).
    func declared(in callbacks: PresenterCallbacks) -> Questions {
      var declared = self
      if let kind = relinquishKind, !callbacks.contains(kind.requiredCallback) { declared.relinquish = .none }
      declared.save = save && callbacks.contains(.saveChanges)
      declared.accommodateDeletion = accommodateDeletion && callbacks.contains(.accommodateDeletion)
      declared.accommodateEviction = accommodateEviction && callbacks.contains(.accommodateEviction)
      if !callbacks.contains(.accommodateSubitemDeletion) { declared.subitemDeletions = [] }
      return declared
    }

    /// The question that is put first; absent if there's none.
    var next: Message.Kind? {
      if let kind = relinquishKind { return kind }
      if save { return .saveChanges }
      if accommodateDeletion { return .accommodateDeletion }
      if accommodateEviction { return .accommodateEviction }
      return subitemDeletions.first.map(Message.Kind.accommodateSubitemDeletion)
    }

    /// Takes that question out.
    mutating func takeNext() -> Message.Kind? {
      let kind = next
      if relinquish != .none {
        relinquish = .none
      } else if save {
        save = false
      } else if accommodateDeletion {
        accommodateDeletion = false
      } else if accommodateEviction {
        accommodateEviction = false
      } else if !subitemDeletions.isEmpty {
        subitemDeletions.removeFirst()
      }
      return kind
    }

    /// All of them, in the order in which they're put.
    var kinds: [Message.Kind] {
      var rest = self
      var kinds: [Message.Kind] = []
      while let kind = rest.takeNext() { kinds.append(kind) }
      return kinds
    }

    private var relinquishKind: Message.Kind? {
      switch relinquish {
      case .none: nil
      case .toReader: .relinquishToReader
      case .toWriter: .relinquishToWriter
      }
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
