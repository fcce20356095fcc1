internal import FoundationEssentials
internal import MetadataPredicates
internal import SystemInterface

/// What a query looks for: prepared once.
struct QueryPlan: Sendable {
  let predicate: CompiledPredicate
  let sortDescriptors: [MetadataSortDescriptor]
  let batching: MetadataBatching
  /// The attributes of the predicate, in its order.
  private let attributes: [FileAttribute?]
  private let sortAttributes: [SortAttribute]
  /// Whether anything of it is given by providers, so that it isn't known at once.
  let usesProviders: Bool

  /// Where the values come from that results are sorted by.
  private enum SortAttribute: Sendable {
    case file(FileAttribute)
    case provided(String)

    func value(for number: FileNumber, _ snapshot: TableSnapshot) -> MetadataValue {
      switch self {
      case .file(let attribute): snapshot.table.value(of: attribute, for: number)
      case .provided(let name): snapshot.provided?.value(of: name, for: number, snapshot.table) ?? .null
      }
    }
  }

  init(
    _ predicate: CompiledPredicate, _ sortDescriptors: [MetadataSortDescriptor], _ batching: MetadataBatching,
    providing provided: Set<String> = []
  ) throws(MetadataQueryError) {
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.batching = batching
    attributes = predicate.attributes.map(FileAttribute.init(rawValue:))
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
  }

  /// What predicates take for the present moment.
  static var environment: PredicateEnvironment {
    PredicateEnvironment(now: MetadataDate(secondsSince1970: Date.now.timeIntervalSince1970))
  }

  /// What looks at one file after the other.
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

  /// All results, in order.
  ///
  /// - Complexity: O(*n*) in the number of files, with one evaluation for each.
  func results(_ snapshot: TableSnapshot) -> OrderedList<ResultOrder> {
    let environment = Self.environment
    var entries: [ResultEntry] = []
    let item = item(in: snapshot)
    snapshot.table.forEachRow { number, row in
      guard item.move(to: number, row), predicate.matches(item, in: environment) else { return }
      entries.append(sortAttributes.isEmpty ? ResultEntry(number.rawValue, .none) : unfilteredEntry(number, snapshot))
    }
    return OrderedList(ResultOrder(sortDescriptors), of: entries)
  }

  /// How a file is sorted, whether it's a result or not.
  func unfilteredEntry(_ number: FileNumber, _ snapshot: TableSnapshot) -> ResultEntry {
    ResultEntry(number.rawValue, SortKey(sortAttributes.map { $0.value(for: number, snapshot) }))
  }
}
