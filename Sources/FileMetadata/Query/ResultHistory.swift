internal import SystemInterface

/// The places that a run of a query remembers, and the batches from one to the next.
struct ResultHistory: Sendable {
  /// Results at a place.
  struct Remembered: Sendable {
    let results: MetadataResults
    let isGathering: Bool
  }

  typealias Update = ListUpdate<ResultEntry>

  /// The reported changes of results, one batch after the other.
  typealias Batches = [[Update]]

  private static let runs = Guarded<UInt64>(0)

  private let run = Self.runs.withLock { count in
    count += 1
    return count
  }
  private var version = 0
  private var remembered: [Int: Remembered] = [:]
  /// The oldest first.
  private var versions: [Int] = []
  /// The batches since a place, each with the place that it led to.
  private var batches: [(version: Int, updates: [Update])] = []
  /// The place behind which all batches are there.
  private var firstVersion = 0
  private var updateCount = 0

  /// For so many updates and a part of the results, it costs as much to compare all results.
  private static let updateCountMin = 1024
  private static let updateShare = 8

  /// Whether a caller may ask for changes.
  var isWanted: Bool { !remembered.isEmpty }

  /// The results are others now.
  ///
  /// - Parameters:
  ///   - told: The former and present entries, batch by batch; `nil` if they're not known.
  ///   - resultCount: How many results there are.
  mutating func advance(_ told: Batches?, resultCount: Int) {
    version += 1
    guard let told, isWanted else { return forgetBatches() }
    for updates in told where !updates.isEmpty {
      batches.append((version, updates))
      updateCount += updates.count
    }
    if updateCount > Self.updateCountMin + resultCount / Self.updateShare { forgetBatches() }
  }

  private mutating func forgetBatches() {
    batches = []
    updateCount = 0
    firstVersion = version
  }

  /// Remembers the results now.
  mutating func mark(_ results: MetadataResults, isGathering: Bool) -> MetadataQueryCursor {
    if !isWanted { forgetBatches() }
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

  /// The reported changes of results since a place; `nil` if they're not known.
  func batches(since cursor: MetadataQueryCursor) -> Batches? {
    guard cursor.run == run, cursor.version >= firstVersion else { return nil }
    return batches.filter { $0.version > cursor.version }.map(\.updates)
  }
}

extension ListUpdate {
  /// The update that undoes it.
  var reversed: ListUpdate { ListUpdate(old: new, new: old) }
}
