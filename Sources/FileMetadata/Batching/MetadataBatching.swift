/// How changes are gathered before they are reported.
///
/// A batch is reported when it has so many changes, or when the first of them has waited so long.
///
/// - Note: Rules Q18 and Q19.
public struct MetadataBatching: Hashable, Sendable {
  /// The moment at which a batch is reported.
  public struct Limit: Hashable, Sendable {
    /// The number of changes that makes it due; at least 1.
    public var countMax: Int
    /// How long the first change waits for others.
    public var delayMax: Duration

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - countMax: The number of changes that makes a batch due; 1 is taken for anything less.
    ///   - delayMax: How long the first change waits for others; zero reports each change at once.
    public init(countMax: Int, delayMax: Duration) {
      self.countMax = max(1, countMax)
      self.delayMax = max(.zero, delayMax)
    }
  }

  /// The first results, which are to be seen soon.
  public var first: Limit
  /// The other results of the first search.
  public var gathering: Limit
  /// The changes afterwards.
  public var live: Limit

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - first: The first results.
  ///   - gathering: The other results of the first search.
  ///   - live: The changes afterwards.
  public init(
    first: Limit = Limit(countMax: 20, delayMax: .milliseconds(80)),
    gathering: Limit = Limit(countMax: 10_000, delayMax: .seconds(1)),
    live: Limit = Limit(countMax: 10_000, delayMax: .seconds(1))
  ) {
    self.first = first
    self.gathering = gathering
    self.live = live
  }

  /// Reports everything after the same delay, however much it is.
  ///
  /// - Parameter interval: The delay.
  public init(interval: Duration) {
    let limit = Limit(countMax: .max, delayMax: interval)
    self.init(first: limit, gathering: limit, live: limit)
  }

  /// The number of changes from which on it doesn't matter for any limit how many more there are.
  var pendingCountMax: Int { [first, gathering, live].map(\.countMax).filter { $0 < .max }.max() ?? 1 }

  /// The first 20 results after 80 ms at most, then up to 10,000 in a second.
  public static let standard = MetadataBatching()
  /// Each change at once.
  public static let immediate = MetadataBatching(interval: .zero)
}
