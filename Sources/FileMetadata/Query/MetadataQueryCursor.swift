internal import SystemInterface

/// A place in the history of the results of one run of a query.
///
/// - Note: ``MetadataQuery/changes(since:)``.
public struct MetadataQueryCursor: Hashable, Sendable {
  /// Which run of which query, in this process.
  let run: UInt64
  /// How often results had changed.
  let version: Int

  /// How many places a query remembers, with the older states of the index that they need.
  public static let rememberedCountMax = 64
}

/// The changes of results since a place in their history.
public enum MetadataQueryCatchUp: Sendable {
  /// Exactly the changes that turn the results then into those now.
  case changes(MetadataQueryChange, MetadataQueryCursor)
  /// The results then aren't remembered: these are those now, and their place.
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

  /// The changes of the results since a place in their history, as one exact difference.
  ///
  /// For programs that poll, beside any reader of ``changes``. It contains the changes that have been reported, as
  /// ``results`` does; call ``waitUntilCurrent()`` before to have everything.
  ///
  /// - Parameter cursor: The place, of this run of the query; another one is too old.
  /// - Returns: The difference, or all results if the place isn't remembered; `nil` before the first ``start()``.
  /// - Complexity: O(*k* log *n*) for *k* results that have been reported as other ones since; O(*n*) if they are many,
  ///   if the order was replaced, or if a reader of ``changes`` has begun since.
  public func changes(since cursor: MetadataQueryCursor) -> MetadataQueryCatchUp? {
    guard let port = current?.port else { return nil }
    let now = port.mark(since: cursor)
    guard let old = now.old else { return .tooOld(now.results, now.cursor) }
    let change = MetadataQueryChange(
      from: old, to: now.results, isGathering: now.isGathering,
      finishesGathering: old.isGathering && !now.isGathering, health: now.health, told: now.told)
    return .changes(change, now.cursor)
  }
}
