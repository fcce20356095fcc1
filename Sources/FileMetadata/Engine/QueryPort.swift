internal import SystemInterface
internal import FileWatching

/// Where the engine leaves batches of a query, and readers fetch them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all | `state`'s lock | the engine's thread leaves batches, any thread takes them; the thread that takes one decides the race with the next |
///
/// There's room for one batch. As long as it hasn't been taken, the engine may put a larger one in its place, which
/// contains the later changes as well: a slow reader gets fewer and larger batches, and never misses anything.
final class QueryPort: Sendable {
  typealias Waiter = CheckedContinuation<MetadataQueryChange?, Never>

  /// The fate of a batch.
  enum Outcome {
    /// A reader has it, or none needs any.
    case taken
    /// It waits for a reader.
    case stored
    /// The one before was taken meanwhile, so that this one doesn't follow. The engine is going to be notified.
    case outdated
    /// Results are to stay as they are.
    case paused
  }

  /// The start of an engine that isn't the first one of the run.
  struct Heritage: Sendable {
    /// The number of the engine in the run.
    var generation = 0
    var takenCount = 0
    var pauseDepth = 0
    /// The end of a first search hasn't been reported.
    var owesFinish = true

    static let none = Heritage()
  }

  private struct State: Sendable {
    var results: MetadataResults?
    /// The results that readers have, or would have if there were any.
    var taken = MetadataResults.none
    /// A reader has begun and has nothing yet, though there are results.
    var hasNewReader = false
    /// The number in the run of the engine that puts batches here.
    var generation = 0
    /// Whether the end of a first search hasn't been reported to the reader.
    var owesFinish = true
    var progress = MetadataQueryProgress()
    var history = ResultHistory()
    var isGathering = true
    /// A batch that waits, and whether it begins with nothing.
    var ready: (change: MetadataQueryChange, isWhole: Bool)?
    /// The reader: only the last one that has begun.
    var reader: Int?
    var readerCount = 0
    var waiter: Waiter?
    /// How often readers have taken a batch out of the port, or have come or gone.
    var takenCount = 0
    var pauseDepth = 0
    var isEnded = false

    /// Readers have a batch, or there are none.
    mutating func take(_ change: MetadataQueryChange) {
      taken = change.results
      hasNewReader = false
      if change.finishesGathering { owesFinish = false }
    }

    /// The results are others now.
    ///
    /// - Parameters:
    ///   - results: The results.
    ///   - updates: The updates that turn the results taken last into these; `nil` if they're not known.
    mutating func advance(to results: MetadataResults, by updates: [ListUpdate<ResultEntry>]?) {
      self.results = results
      var told: ResultHistory.Batches?
      if let updates, history.isWanted {
        // A batch that hasn't been taken is undone first.
        let undone = ready.map { $0.isWhole ? nil : $0.change.updates.map(\.reversed) } ?? []
        told = undone.map { [$0, updates] }
      }
      history.advance(told, resultCount: results.count)
    }
  }

  private let state = Guarded(State())
  /// How well the scopes are followed, and the listeners for that.
  let board = HealthBoard()

  var results: MetadataResults? { state.withLock { $0.results } }
  var health: ScopeHealth { board.health }
  var progress: MetadataQueryProgress { state.withLock { $0.progress } }
  var isGathering: Bool { state.withLock { $0.isGathering } }
  var hasReader: Bool { state.withLock { $0.reader != nil } }
  var isEnded: Bool { state.withLock { $0.isEnded } }
  /// Whether a reader waits for a batch.
  var isWaitedFor: Bool { state.withLock { $0.waiter != nil } }
  /// Whether a batch waits for a reader.
  var hasBatch: Bool { state.withLock { $0.ready != nil } }

  // MARK: The engine

  func note(_ health: ScopeHealth, by generation: Int = 0) {
    if state.withLock({ $0.generation == generation }) { board.note(health) }
  }

  func note(_ progress: MetadataQueryProgress, by generation: Int = 0) {
    state.withLock { if $0.generation == generation { $0.progress = progress } }
  }

  /// From now on no batch of the engine before is taken.
  ///
  /// - Returns: The start of the next one.
  func succeed() -> Heritage {
    state.withLock { state in
      state.generation += 1
      return Heritage(
        generation: state.generation, takenCount: state.takenCount, pauseDepth: state.pauseDepth,
        owesFinish: state.owesFinish)
    }
  }

  /// The results that readers have.
  var taken: MetadataResults { state.withLock { $0.taken } }
  /// Whether the end of a first search hasn't been reported to the reader.
  var owesFinish: Bool { state.withLock { $0.owesFinish } }

  /// Leaves a batch.
  ///
  /// - Parameters:
  ///   - change: The batch.
  ///   - takenCount: How many taken batches the engine has noticed.
  ///   - isWhole: Whether it doesn't begin with the results taken last, but with nothing or another order.
  ///   - generation: The number of the engine in the run.
  /// - Returns: Its fate.
  func put(
    _ change: MetadataQueryChange, takenCount: Int, isWhole: Bool = false, by generation: Int = 0
  ) -> Outcome {
    let (outcome, waiter) = state.withLock { state -> (Outcome, Waiter?) in
      if state.isEnded || state.generation != generation { return (.taken, nil) }
      if state.pauseDepth > 0 { return (.paused, nil) }
      if state.takenCount != takenCount { return (.outdated, nil) }
      let isWhole = isWhole || state.hasNewReader
      state.advance(to: change.results, by: isWhole || !state.history.isWanted ? nil : change.updates)
      state.isGathering = change.isGathering
      let waiter = state.waiter.take()
      if state.reader != nil, waiter == nil {
        state.ready = (change, isWhole)
        return (.stored, nil)
      }
      state.take(change)
      return (.taken, waiter)
    }
    waiter?.resume(returning: change)
    return outcome
  }

  /// Takes back the batch that waits, because the results are those before it.
  ///
  /// - Parameters:
  ///   - results: The results.
  ///   - takenCount: How many taken batches the engine has noticed.
  ///   - generation: The number of the engine in the run.
  /// - Returns: Its fate; never ``Outcome/stored``.
  func withdraw(_ results: MetadataResults, takenCount: Int, by generation: Int = 0) -> Outcome {
    state.withLock { state in
      if state.isEnded || state.generation != generation { return .taken }
      if state.pauseDepth > 0 { return .paused }
      if state.takenCount != takenCount { return .outdated }
      state.advance(to: results, by: state.taken.snapshot.source == results.snapshot.source ? [] : nil)
      state.ready = nil
      state.taken = results
      return .taken
    }
  }

  /// Results at one moment, and their place in the history.
  struct Mark: Sendable {
    let cursor: MetadataQueryCursor
    let results: MetadataResults
    let isGathering: Bool
    let health: ScopeHealth
    /// Those at an earlier place, if it's remembered.
    let old: ResultHistory.Remembered?
    /// The batches since then, if they're known.
    let told: ResultHistory.Batches?
  }

  /// Remembers the results, and looks up those at an earlier place.
  func mark(since cursor: MetadataQueryCursor? = nil) -> Mark {
    state.withLock { state in
      let results = state.results ?? .none
      let old = cursor.flatMap { state.history.results(at: $0) }
      let told = cursor.flatMap { state.history.batches(since: $0) }
      let cursor = state.history.mark(results, isGathering: state.isGathering)
      return Mark(
        cursor: cursor, results: results, isGathering: state.isGathering, health: board.health, old: old,
        told: told)
    }
  }

  /// Nothing follows, unless another engine has begun.
  func end(by generation: Int) {
    if state.withLock({ $0.generation == generation }) { end() }
  }

  /// Nothing follows.
  func end() {
    board.end()
    let waiter = state.withLock { state in
      state.isEnded = true
      state.isGathering = false
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }

  // MARK: Readers

  /// Begins to read; earlier readers get nothing any more.
  ///
  /// - Returns: The number of the reader, and how many batches have been taken.
  func beginReading() -> (reader: Int, takenCount: Int) {
    let (reader, takenCount, waiter) = state.withLock { state in
      state.readerCount += 1
      state.reader = state.readerCount
      // A batch that the engine has put meanwhile doesn't begin with nothing, as this reader does.
      state.ready = nil
      state.taken = .none
      state.hasNewReader = true
      state.owesFinish = true
      state.takenCount += 1
      return (state.readerCount, state.takenCount, state.waiter.take())
    }
    waiter?.resume(returning: nil)
    return (reader, takenCount)
  }

  /// Keeps results as they are from now on; nests.
  func pause() { state.withLock { $0.pauseDepth += 1 } }

  /// Ends one ``pause()``.
  ///
  /// - Returns: Whether there was one.
  func resume() -> Bool {
    state.withLock { state in
      if state.pauseDepth == 0 { return false }
      state.pauseDepth -= 1
      return true
    }
  }

  /// The next batch, or the way to get one.
  enum Fetch {
    case change(MetadataQueryChange, takenCount: Int)
    case ended
    case waiting
  }

  /// Takes the next batch; if there's none, keeps the waiter for it.
  ///
  /// A batch is for one waiter: a former one, which two copies of an iterator make, ends.
  func fetch(_ reader: Int, _ waiter: Waiter?) -> Fetch {
    let (fetch, former) = state.withLock { state -> (Fetch, Waiter?) in
      guard state.reader == reader else { return (.ended, nil) }
      if let ready = state.ready.take() {
        state.take(ready.change)
        state.takenCount += 1
        return (.change(ready.change, takenCount: state.takenCount), nil)
      }
      if state.isEnded { return (.ended, nil) }
      defer { state.waiter = waiter }
      return (.waiting, state.waiter)
    }
    former?.resume(returning: nil)
    return fetch
  }

  /// Ends the wait of a reader whose task was cancelled.
  ///
  /// - Returns: How many batches have been taken; `nil` if another reader has begun.
  func cancel(_ reader: Int) -> Int? {
    let (takenCount, waiter) = state.withLock { state -> (Int?, Waiter?) in
      guard state.reader == reader else { return (nil, nil) }
      state.reader = nil
      // The engine takes it for taken.
      if let ready = state.ready.take() { state.take(ready.change) }
      state.takenCount += 1
      return (state.takenCount, state.waiter.take())
    }
    waiter?.resume(returning: nil)
    return takenCount
  }
}
