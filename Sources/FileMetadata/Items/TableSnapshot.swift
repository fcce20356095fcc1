internal import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// A state of an index that doesn't change any more.
final class TableSnapshot: Sendable {
  let table: FileTable
  /// The index whose state it is: numbers of another index stand for other files.
  let source: UInt64
  /// Whether it's of a single file that no query has found.
  let isLone: Bool
  /// Attributes that programs provide.
  let provided: ProvidedAttributes?
  /// How paths are reported.
  private let spellings: ScopeSpellings

  init(
    _ table: FileTable, source: UInt64 = 0, isLone: Bool = false, provided: ProvidedAttributes? = nil,
    spellings: ScopeSpellings = ScopeSpellings()
  ) {
    self.table = table
    self.source = source
    self.isLone = isLone
    self.provided = provided
    self.spellings = spellings
  }

  /// The path of a file as it's reported.
  func path(of number: FileNumber) -> SystemPath { spellings.asked(table.path(of: number)) }

  /// The name of a file as it's reported: that of a place as it was asked for.
  func name(of number: FileNumber) -> SystemPath {
    table[number].parent == .none ? path(of: number).lastComponent : table.name(of: number)
  }

  /// The value of an attribute; `.null` where the file system doesn't have it.
  func value(of attribute: FileAttribute, for number: FileNumber) -> MetadataValue {
    table.value(of: attribute, for: number, toldAs: path(of: number))
  }

  /// The same state without the values that programs provide, for which a caller would have to wait.
  var withoutProvided: TableSnapshot { TableSnapshot(table, source: source, spellings: spellings) }
}

/// One file after the other as predicates see it, with the attributes of the predicate resolved beforehand.
///
/// A class, so that moving to the next file copies no references. For one thread.
final class RowItem: PredicateItem {
  private let snapshot: TableSnapshot
  private let attributes: [FileAttribute?]
  private let names: NameStore
  private(set) var number = FileNumber.none
  private var row = FileRow()

  init(_ snapshot: TableSnapshot, _ attributes: [FileAttribute?]) {
    self.snapshot = snapshot
    self.attributes = attributes
    names = snapshot.table.names
  }

  /// Moves to a file.
  ///
  /// - Returns: Whether it may be a result: directories that are searched aren't, unless they're asked for themselves.
  func move(to number: FileNumber, _ row: FileRow) -> Bool {
    self.number = number
    self.row = row
    return row.isUsed
      && (row.parent != .none || !row.isDirectory || snapshot.table.rootReaches[number] != nil)
  }

  func value(forAttribute name: String, index: Int) -> MetadataValue {
    guard let attribute = attributes[index] else {
      return snapshot.provided?.value(of: name, for: number, snapshot.table) ?? .null
    }
    return snapshot.value(of: attribute, for: number)
  }

  /// Answers by the bytes of the name, without making a string of it, and by columns.
  func answer(_ question: PredicateQuestion) -> PredicateAnswer {
    guard let attribute = attributes[question.index] else {
      return question.answer(value(forAttribute: question.attribute, index: question.index))
    }
    switch attribute {
    case .name, .displayName:
      if row.parent == .none { return question.answer(snapshot.name(of: number).description) }
      return names.withName(at: row.name) { question.answer(utf8: $0) }
    case .size: return question.answer(.integer(row.size))
    default: return question.answer(snapshot.value(of: attribute, for: number))
    }
  }

  var wholeValue: MetadataValue { MetadataItem(snapshot.withoutProvided, number).wholeValue }
}
