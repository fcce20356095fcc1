internal import SystemInterface

/// A place in the history of the results of one run of a query.
///
/// - Note: ``MetadataQuery/changes(since:)``.
public struct MetadataQueryCursor: Hashable, Sendable {
  /// Which run of which query, in this process.
  let run: UInt64
  /// How often results had changed.
  let version: Int

  /// How many places a query remembers, with what they need of older states of the index.
  public static let rememberedCountMax = 64
}

/// What has happened to results since a place in their history.
public enum MetadataQueryCatchUp: Sendable {
  /// Exactly what makes the results now out of those then.
  case changes(MetadataQueryChange, MetadataQueryCursor)
  /// Nobody remembers the results then: these are those now, and their place.
  case tooOld(MetadataResults, MetadataQueryCursor)

  /// The results now.
  public var results: MetadataResults {
    switch self {
    case .changes(let change, _): change.results
    case .tooOld(let results, _): results
    }
  }

  /// The place of the results now, to go on from.
  public var cursor: MetadataQueryCursor {
    switch self {
    case .changes(_, let cursor), .tooOld(_, let cursor): cursor
    }
  }
}

extension MetadataQuery {
  /// The place of the results now in their history; `nil` before the first ``start()``.
  ///
  /// From then on the query remembers these results, until ``MetadataQueryCursor/rememberedCountMax`` other places have been asked for or it's
  /// started anew. Any thread may ask; the results are those of ``results``.
  ///
  /// - Complexity: O(1).
  public var cursor: MetadataQueryCursor? { current?.port.mark().cursor }

  /// What has happened to the results since a place in their history, as one exact difference.
  ///
  /// For programs that look from time to time, whoever else reads ``changes``. Says what has been told, as ``results`` does; call
  /// ``waitUntilCurrent()`` before to have everything.
  ///
  /// - Parameter cursor: The place, of this run of the query; another one is too old.
  /// - Returns: The difference, or all results if the place isn't remembered; `nil` before the first ``start()``.
  /// - Complexity: O(*n*) in the number of results then and now, if they differ.
  public func changes(since cursor: MetadataQueryCursor) -> MetadataQueryCatchUp? {
    guard let port = current?.port else { return nil }
    let now = port.mark(since: cursor)
    guard let old = now.old else { return .tooOld(now.results, now.cursor) }
    let change = MetadataQueryChange(
      from: old, to: now.results, isGathering: now.isGathering,
      finishesGathering: old.isGathering && !now.isGathering, health: now.health)
    return .changes(change, now.cursor)
  }
}

/// The places that a run of a query remembers.
struct ResultHistory: Sendable {
  /// Results at a place.
  struct Remembered: Sendable {
    let results: MetadataResults
    let isGathering: Bool
  }

  private static let runs = Guarded<UInt64>(0)

  private let run = Self.runs.withLock { count in
    count += 1
    return count
  }
  private var version = 0
  private var remembered: [Int: Remembered] = [:]
  /// The oldest first.
  private var versions: [Int] = []

  /// The results are others now.
  mutating func advance() { version += 1 }

  /// Remembers the results now.
  mutating func mark(_ results: MetadataResults, isGathering: Bool) -> MetadataQueryCursor {
    if remembered[version] == nil {
      versions.append(version)
      if versions.count > MetadataQueryCursor.rememberedCountMax { remembered[versions.removeFirst()] = nil }
      remembered[version] = Remembered(results: results, isGathering: isGathering)
    }
    return MetadataQueryCursor(run: run, version: version)
  }

  func results(at cursor: MetadataQueryCursor) -> Remembered? {
    cursor.run == run ? remembered[cursor.version] : nil
  }
}
