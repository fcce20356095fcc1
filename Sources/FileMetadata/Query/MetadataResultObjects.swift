/// Objects of the program's own in the place of results, in their order: each is made once, and kept as long as the file is a result.
///
/// ```swift
/// var rows = MetadataResultObjects { Row($0) } updating: { $0.show($1) }
/// for await change in query.changes {
///   let lists = rows.apply(change)
/// }
/// ```
///
/// A value that one task after the other may use; sendable if it contains only values.
///
/// - Note: Rule R24.
public struct MetadataResultObjects<Object>: RandomAccessCollection {
  /// The objects that a batch is about.
  public struct Lists {
    /// Of files that are results now, by position.
    public let added: [Object]
    /// Of files that have altered, by position.
    public let changed: [Object]
    /// Of files that aren't results any more, by the position they had.
    public let removed: [Object]
  }

  private let make: (MetadataItem) -> Object
  private let update: (Object, MetadataItem) -> Void
  private var objects: [MetadataItem.ID: Object] = [:]
  /// The results that the objects stand for.
  public private(set) var results: MetadataResults?

  /// Makes an empty list.
  ///
  /// - Parameters:
  ///   - make: Makes the object of a file.
  ///   - update: Passes an object its file, when that has altered.
  public init(
    _ make: @escaping (MetadataItem) -> Object, updating update: @escaping (Object, MetadataItem) -> Void = { _, _ in }
  ) {
    self.make = make
    self.update = update
  }

  /// Makes a batch the results.
  ///
  /// A first batch, which contains the existing results, begins anew.
  ///
  /// - Parameter change: The batch that follows the one before.
  /// - Returns: The objects that it's about.
  /// - Complexity: O(*k*) in the number of changes, with one object made for each file that's added.
  public mutating func apply(_ change: MetadataQueryChange) -> Lists {
    let removed = change.removed.compactMap { objects.removeValue(forKey: $0.item.id) }
    // First all are taken out: one may have the former identity of another one.
    let former = change.changed.map { (objects.removeValue(forKey: $0.old.id), $0.new) }
    let changed = former.map { known, item in
      let object = known ?? make(item)
      if known != nil { update(object, item) }
      objects[item.id] = object
      return object
    }
    let added = change.added.map { place in
      let object = make(place.item)
      objects[place.item.id] = object
      return object
    }
    results = change.results
    return Lists(added: added, changed: changed, removed: removed)
  }

  /// The position of the first object.
  public var startIndex: Int { 0 }
  /// How many objects there are.
  public var endIndex: Int { results?.count ?? 0 }

  /// The object of the result at a position.
  ///
  /// - Complexity: O(log *n*).
  public subscript(position: Int) -> Object {
    guard let item = results?[position], let object = objects[item.id] else {
      preconditionFailure("position \(position) of \(count) objects; was a batch left out?")
    }
    return object
  }
}
