public import MetadataPredicates

extension MetadataResults {
  /// A value of an attribute, and how many results have it.
  public struct ValueCount: Hashable, Sendable {
    /// The value; `.null` for results that haven't got the attribute.
    public let value: MetadataValue
    /// How many results have it.
    public let count: Int
  }

  /// Results with the same value of an attribute.
  public struct Group: Sendable {
    /// The name of the attribute.
    public let attribute: String
    /// The value that they have in common; `.null` for results that haven't got the attribute.
    public let value: MetadataValue
    /// The results in their order, also those of groups below.
    public let items: [MetadataItem]
    /// The groups by the next attribute; `nil` if there's none.
    ///
    /// - Note: Rule R28.
    public let subgroups: [Group]?
  }

  /// The values of an attribute, each once, in the order in which results first have them.
  ///
  /// A result with a list of values, such as tags, counts for each of them; then counts add up to more than there are results. As results don't
  /// change, neither does the list: ask the next ones for the next list.
  ///
  /// - Parameters:
  ///   - attribute: The name of the attribute.
  ///   - replacing: Makes something else of a value, such as the month of a date, by which results are counted then.
  /// - Returns: The values, and how many results have each.
  /// - Complexity: Makes the value of each result; O(*n*). Attributes that aren't in the index are read from each file.
  /// - Note: Rules R25 to R27.
  public func valueList(
    of attribute: String, replacing: (MetadataValue) -> MetadataValue = { $0 }
  ) -> [ValueCount] {
    var places: [MetadataValue: Int] = [:]
    var counts: [(value: MetadataValue, count: Int)] = []
    for item in self {
      for value in item.value(forAttribute: attribute).members(replacing) {
        if let place = places[value] {
          counts[place].count += 1
        } else {
          places[value] = counts.count
          counts.append((value, 1))
        }
      }
    }
    return counts.map { ValueCount(value: $0.value, count: $0.count) }
  }

  /// The results by the values of attributes: groups by the first, in these groups by the second, and so on.
  ///
  /// Groups come in the order of their first results; so results that are sorted by the same attributes make sorted groups. A
  /// result with a list of values is in a group for each of them.
  ///
  /// - Parameters:
  ///   - attributes: The names of the attributes.
  ///   - replacing: Makes something else of a value of an attribute, such as the month of a date, by which results are grouped then.
  /// - Returns: The groups by the first attribute; none without an attribute.
  /// - Complexity: O(*n* × *m*) for *n* results and *m* attributes.
  /// - Note: Rules R25, R28, R29 and R42.
  public func groups(
    by attributes: [String], replacing: (_ attribute: String, MetadataValue) -> MetadataValue = { $1 }
  ) -> [Group] {
    Self.groups(Array(self), attributes[...], replacing)
  }

  private static func groups(
    _ items: [MetadataItem], _ attributes: ArraySlice<String>,
    _ replacing: (String, MetadataValue) -> MetadataValue
  ) -> [Group] {
    guard let attribute = attributes.first else { return [] }
    var places: [MetadataValue: Int] = [:]
    var found: [(value: MetadataValue, items: [MetadataItem])] = []
    for item in items {
      for value in item.value(forAttribute: attribute).members({ replacing(attribute, $0) }) {
        if let place = places[value] {
          found[place].items.append(item)
        } else {
          places[value] = found.count
          found.append((value, [item]))
        }
      }
    }
    let rest = attributes.dropFirst()
    return found.map { value, items in
      Group(
        attribute: attribute, value: value, items: items,
        subgroups: rest.isEmpty ? nil : groups(items, rest, replacing))
    }
  }
}

extension MetadataValue {
  /// The counted values: each member of a list once, in its order; itself for anything else, and no value for an empty
  /// list.
  fileprivate func members(_ replacing: (MetadataValue) -> MetadataValue) -> [MetadataValue] {
    let members: [MetadataValue] =
      switch self {
      case .array(let members): members.isEmpty ? [.null] : members
      case .set(let members): members.isEmpty ? [.null] : Array(members)
      default: [self]
      }
    var seen: Set<MetadataValue> = []
    return members.map(replacing).filter { seen.insert($0).inserted }
  }
}
