internal import MetadataPredicates
internal import SystemInterface
internal import FileWatching

/// The search of a query: prepared once.
struct QueryPlan: Sendable {
  let predicate: CompiledPredicate
  let order: ResultOrder
  let batching: MetadataBatching
  let wallClock: WallClock
  /// How many results are reported, if not all.
  let resultCountMax: Int?
  /// The attributes of the predicate, in its order.
  private let attributes: [FileAttribute?]
  private let sortAttributes: [SortAttribute]
  /// Whether anything of it is given by providers, so that it isn't known at once.
  let usesProviders: Bool

  /// Where the values come from that results are sorted by.
  private enum SortAttribute: Sendable {
    case file(FileAttribute)
    case provided(String)

    var file: FileAttribute? {
      if case .file(let attribute) = self { return attribute }
      return nil
    }

    func value(for number: FileNumber, _ snapshot: TableSnapshot) -> MetadataValue {
      switch self {
      // Counted on the disk when it's asked for: another number would be another place.
      case .file(.nodeCount) where snapshot.table.isUnread(number): .null
      case .file(let attribute): snapshot.value(of: attribute, for: number)
      case .provided(let name): snapshot.provided?.value(of: name, for: number, snapshot.table) ?? .null
      }
    }
  }
  /// Whether it takes more than names and kinds to find results and to order them.
  let needsFacts: Bool
  /// Whether the path of a file decides, or may decide, whether it's a result, or where it comes.
  let readsPaths: Bool
  /// Whether a file remains the result that it is when a directory around it is moved.
  let isSteadyInMoves: Bool
  /// Whether the number of members decides whether a directory is a result, or where it comes.
  let countsMembers: Bool
  /// The predicate, if one column of the index decides it.
  private let rowTest: RowTest?

  private enum RowTest: Sendable {
    case size(ClosedRange<Int64>)
    case name(TextColumnTest)

    init?(_ test: ColumnTest?, _ attributes: [FileAttribute?]) {
      switch test {
      case .integer(let attribute, let range) where attributes[attribute] == .size: self = .size(range)
      case .text(let attribute, let test)
      where attributes[attribute] == .name || attributes[attribute] == .displayName:
        self = .name(test)
      default: return nil
      }
    }
  }

  /// The attributes by which results are ordered, if no value has to be made for that.
  private let sortNumbers: [FileAttribute]?

  init(
    _ predicate: CompiledPredicate, _ sortDescriptors: [MetadataSortDescriptor], _ batching: MetadataBatching,
    providing provided: Set<String> = [], resultCountMax: Int? = nil, wallClock: WallClock = .host
  ) throws(MetadataQueryError) {
    self.wallClock = wallClock
    self.resultCountMax = resultCountMax.map { max(0, $0) }
    self.predicate = predicate
    order = ResultOrder(sortDescriptors)
    self.batching = batching
    attributes = predicate.attributes.map(FileAttribute.init(rawValue:))
    rowTest = RowTest(predicate.columnTest, attributes)
    let used = predicate.attributes + sortDescriptors.map(\.attribute)
    usesProviders = used.contains { provided.contains($0) && FileAttribute(rawValue: $0) == nil }
    var sortAttributes: [SortAttribute] = []
    for descriptor in sortDescriptors {
      if provided.contains(descriptor.attribute), FileAttribute(rawValue: descriptor.attribute) == nil {
        sortAttributes.append(.provided(descriptor.attribute))
        continue
      }
      guard let attribute = FileAttribute(rawValue: descriptor.attribute), attribute.isIndexed else {
        throw MetadataQueryError(
          .unsortableAttribute, descriptor.attribute,
          "results can be sorted by \(FileAttribute.indexedNames.sorted().joined(separator: ", "))")
      }
      sortAttributes.append(.file(attribute))
    }
    self.sortAttributes = sortAttributes
    let sorting = sortAttributes.compactMap(\.file)
    let areNumbers = sorting.count == sortAttributes.count && sorting.count <= 2 && sorting.allSatisfy(\.isNumber)
    sortNumbers = areNumbers ? sorting : nil
    let all = attributes.compactMap(\.self) + sorting
    // The type of a file may depend on whether it can be run, and what results are sorted by has to be recorded.
    needsFacts =
      usesProviders || predicate.readsWholeItem || all.contains(where: \.needsFacts)
      || sorting.contains { $0 == .contentType || $0 == .contentTypeTree }
    readsPaths = usesProviders || predicate.readsWholeItem || all.contains { $0 == .path || $0 == .url }
    countsMembers = predicate.readsWholeItem || all.contains(.nodeCount)
    // Anything else is read by the path, and perhaps at another time.
    isSteadyInMoves = !readsPaths && all.allSatisfy(\.isIndexed)
  }

  /// The environment of the predicate, with the present moment.
  var environment: PredicateEnvironment { wallClock.environment }

  /// Examines one file after the other.
  func item(in snapshot: TableSnapshot) -> RowItem { RowItem(snapshot, attributes) }

  /// The result that a file is; `nil` if it isn't one.
  ///
  /// Directories that are searched aren't results themselves.
  func entry(
    _ number: FileNumber, _ item: RowItem, _ snapshot: TableSnapshot, _ environment: PredicateEnvironment
  ) -> ResultEntry? {
    guard snapshot.table.contains(number), item.move(to: number, snapshot.table[number]) else { return nil }
    return predicate.matches(item, in: environment) ? unfilteredEntry(number, snapshot) : nil
  }

  /// The moment from which on the predicate's result for a file may differ though the file doesn't change.
  func nextMoment(
    of number: FileNumber, _ item: RowItem, _ snapshot: TableSnapshot, _ environment: PredicateEnvironment
  ) -> MetadataDate? {
    guard snapshot.table.contains(number), item.move(to: number, snapshot.table[number]) else { return nil }
    return predicate.nextMoment(for: item, in: environment)
  }

  /// All results, in order.
  ///
  /// - Complexity: O(*n*) in the number of files, with one evaluation for each. Several threads share them if there are many.
  func results(_ snapshot: TableSnapshot) -> OrderedList<ResultOrder> {
    let environment = environment
    let pageCount = snapshot.table.pageCount
    let partCount =
      usesProviders
      ? 1 : max(1, min(HostThread.usableProcessorCount, Self.partCountMax, pageCount / Self.partPageCountMin))
    @Sendable func pages(_ part: Int) -> Range<Int> {
      (pageCount * part / partCount)..<(pageCount * (part + 1) / partCount)
    }
    if sortAttributes.isEmpty {
      // In the order of their numbers, as they are found.
      let parts = ConcurrentParts(partCount) { part in
        var builder = OrderedList<ResultOrder>.LeafBuilder()
        forEachResult(snapshot, inPages: pages(part), environment) {
          builder.append(ResultEntry($0.rawValue, .none))
        }
        return builder.finish()
      }
      return OrderedList(order, leaves: Array(parts.results.joined()))
    }
    let parts = ConcurrentParts<[ResultEntry]>(partCount) { part in
      var entries: [ResultEntry] = []
      forEachResult(snapshot, inPages: pages(part), environment) { entries.append(unfilteredEntry($0, snapshot)) }
      return entries
    }
    return OrderedList(order, of: Array(parts.results.joined()))
  }

  /// More threads than that would wait for memory.
  private static let partCountMax = 4
  /// Fewer pages, of a hundred files each, cost less than to start a thread.
  private static let partPageCountMin = 128

  /// Calls `body` for each result in some pages, in the order of their numbers.
  @inline(__always)
  private func forEachResult(
    _ snapshot: TableSnapshot, inPages pages: Range<Int>, _ environment: PredicateEnvironment,
    _ body: (FileNumber) -> Void
  ) {
    let item = item(in: snapshot)
    func isResult(_ number: FileNumber, _ row: FileRow) -> Bool {
      item.move(to: number, row) && predicate.matches(item, in: environment)
    }
    switch rowTest {
    case .size(let range):
      snapshot.table.forEachRow(inPages: pages) { number, row in
        if row.parent == .none ? isResult(number, row) : range.contains(row.size) { body(number) }
      }
    case .name(let test):
      var names = NameReader(snapshot.table.names)
      snapshot.table.forEachRow(inPages: pages) { number, row in
        let answer = row.parent == .none ? nil : names.withName(at: row.name) { test.holds($0) }
        if answer ?? isResult(number, row) { body(number) }
      }
    case nil:
      snapshot.table.forEachRow(inPages: pages) { number, row in if isResult(number, row) { body(number) } }
    }
  }

  /// How a file is sorted, whether it's a result or not.
  func unfilteredEntry(_ number: FileNumber, _ snapshot: TableSnapshot) -> ResultEntry {
    ResultEntry(number.rawValue, key(number, snapshot))
  }

  private func key(_ number: FileNumber, _ snapshot: TableSnapshot) -> SortKey {
    if let sortNumbers {
      let row = snapshot.table[number]
      switch sortNumbers.count {
      case 0: return .none
      case 1: return .number(row.order(of: sortNumbers[0]))
      default: return .numbers(row.order(of: sortNumbers[0]), row.order(of: sortNumbers[1]))
      }
    }
    return SortKey(sortAttributes.map { $0.value(for: number, snapshot) })
  }
}
