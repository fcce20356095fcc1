#if !canImport(ObjectiveC)
  public import Foundation
  internal import MetadataPredicates

  /// The sort descriptor behind `NSSortDescriptor(key:ascending:)`.
  final class KeySortDescriptor: NSSortDescriptor, NSSecureCoding {
    private final class Unused {
      var key: String { "" }
    }

    let sortKey: String?
    /// How the program compares values; `nil` for the usual way.
    private let compareValues: Comparator?

    init(_ key: String?, ascending: Bool, comparator: Comparator? = nil) {
      sortKey = key
      compareValues = comparator
      super.init(keyPath: \Unused.key, ascending: ascending)
    }

    private static let archivedKey = "FoundationCompatibility.key"
    private static let archivedOrder = "FoundationCompatibility.ascending"

    static var supportsSecureCoding: Bool { true }

    /// Reads the archive of ``encode(with:)``.
    required convenience init?(coder: NSCoder) {
      let key = coder.decodeObject(of: NSString.self, forKey: Self.archivedKey)
      self.init(key as String?, ascending: coder.decodeBool(forKey: Self.archivedOrder))
    }

    /// Writes key and direction, for keyed archives.
    func encode(with coder: NSCoder) {
      if compareValues != nil { Misuse.report("a sort descriptor is archived without its comparator, which is code") }
      coder.encode(sortKey as NSString?, forKey: Self.archivedKey)
      coder.encode(ascending, forKey: Self.archivedOrder)
    }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? KeySortDescriptor else { return false }
      // Code can't be compared.
      if compareValues != nil || other.compareValues != nil { return other === self }
      return other.sortKey == sortKey && other.ascending == ascending
    }

    override var hash: Int {
      var hasher = Hasher()
      hasher.combine(sortKey)
      hasher.combine(ascending)
      return hasher.finalize()
    }

    override var reversedSortDescriptor: Any {
      KeySortDescriptor(sortKey, ascending: !ascending, comparator: compareValues)
    }

    /// The key, if values are compared in the usual way, which queries can do themselves.
    var plainKey: String? { compareValues == nil ? sortKey : nil }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
      let order = order(of: object1, object2)
      if ascending || order == .orderedSame { return order }
      return order == .orderedAscending ? .orderedDescending : .orderedAscending
    }

    private func order(of first: Any, _ second: Any) -> ComparisonResult {
      guard let compareValues else { return Self.order(value(of: first), value(of: second)) }
      switch (self.object(of: first), self.object(of: second)) {
      case (nil, nil): return .orderedSame
      case (nil, _): return .orderedAscending
      case (_, nil): return .orderedDescending
      case (let left?, let right?): return compareValues(left, right)
      }
    }

    /// The object for the program's comparator: the original one where a dictionary holds it.
    private func object(of whole: Any) -> Any? {
      if let sortKey {
        switch whole {
        case let item as NSMetadataItem: return item.value(forAttribute: sortKey)
        case let entries as [String: Any]: if let value = entries[sortKey] { return value is NSNull ? nil : value }
        default: break
        }
      } else {
        return whole
      }
      return value(of: whole).foundationObject
    }

    private func value(of object: Any) -> MetadataValue {
      guard let sortKey else { return FoundationItem(object: object).wholeValue }
      var keys = sortKey.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      if keys.first == "self" || keys.first == "SELF" { keys.removeFirst() }
      guard let first = keys.first else { return FoundationItem(object: object).wholeValue }
      return keys.dropFirst().reduce(FoundationItem(object: object).value(forAttribute: first, index: 0)) {
        $0.value(forAttribute: $1, index: 0)
      }
    }

    /// Missing values come first; numbers and dates before texts, and the rest last, in the order it had.
    private static func order(_ left: MetadataValue, _ right: MetadataValue) -> ComparisonResult {
      switch (left, right) {
      case (.string(let left), .string(let right)): return left.compare(right)
      case (.integer(let left), .integer(let right)): return order(of: left, right)
      default: break
      }
      if let left = number(left), let right = number(right) { return order(of: left, right) }
      return order(of: rank(left), rank(right))
    }

    private static func order<Value: Comparable>(of left: Value, _ right: Value) -> ComparisonResult {
      left < right ? .orderedAscending : (left > right ? .orderedDescending : .orderedSame)
    }

    private static func number(_ value: MetadataValue) -> Double? {
      switch value {
      case .bool(let flag): flag ? 1 : 0
      case .integer(let number): Double(number)
      case .real(let number): number
      case .date(let date): date.secondsSince2001
      case .null, .string, .data, .array, .set, .dictionary: nil
      }
    }

    private static func rank(_ value: MetadataValue) -> Int {
      switch value {
      case .null: 0
      case .bool, .integer, .real, .date: 1
      case .string: 2
      case .data, .array, .set, .dictionary: 3
      }
    }
  }

  extension NSSortDescriptor: MadeByFactory {}

  extension NSSortDescriptor {
    /// Sorts dictionaries and items by the value of a key, and values by themselves if there's no key.
    ///
    /// Texts are compared by their scalars, numbers and dates by their numbers; missing values come first.
    ///
    /// - Parameters:
    ///   - key: The key, or several with dots between them.
    ///   - ascending: Whether the smallest comes first.
    /// - Note: Rule N-3.
    public convenience init(key: String?, ascending: Bool) {
      self.init(madeBy: { KeySortDescriptor(key, ascending: ascending) })
    }

    /// Sorts dictionaries and items by the value of a key, as the program compares values.
    ///
    /// - Parameters:
    ///   - key: The key, or several with dots between them; `nil` for the objects themselves.
    ///   - ascending: Whether the smallest comes first.
    ///   - cmptr: Compares two values. It's given those that there are: missing ones come first. A query calls it on its own thread.
    public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
      self.init(madeBy: { KeySortDescriptor(key, ascending: ascending, comparator: cmptr) })
    }

    /// The key, if it was made with one.
    public var key: String? { (self as? KeySortDescriptor)?.sortKey }
  }
#endif
