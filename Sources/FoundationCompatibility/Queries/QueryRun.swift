#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import SystemInterface

  /// The run of a query from one start to the next stop: brings the native query's batches to where they're posted,
  /// piece by piece.
  ///
  /// One piece is posted before the next one is fetched, so a slow program gets fewer and larger batches. Doesn't keep the
  /// `NSMetadataQuery` alive: it ends with it.
  struct QueryRun: Sendable {
    /// Threads for handlers that block: those of the cooperative pool are few.
    private static let threads = ElasticThreadPool(threadCountMax: 64)

    private let core: QueryCore
    private let native: MetadataQuery
    private let selection: QuerySelection?
    private let number: Int

    init(_ core: QueryCore, _ request: QueryRequest, _ number: Int) {
      self.core = core
      native = request.native
      selection = request.selection
      self.number = number
    }

    func begin() {
      // Detached: it isn't part of an access that the query is started in.
      Task.detached(executorPreference: Self.threads) { await run() }
    }

    private func run() async {
      guard await post(.began) else { return }
      for await change in native.changes {
        let batch = Piece.Batch(QueryBatch(change), selection)
        guard await post(.batch(batch)) else { return }
        if change.finishesGathering {
          guard await post(.finished) else { return }
        }
      }
    }

    /// Posts a piece as soon as updates are enabled.
    ///
    /// - Returns: Whether the run goes on.
    private func post(_ piece: Piece) async -> Bool {
      while await core.awaitEnabledUpdates(number) {
        switch await postOnQueue(piece) {
        case .posted: return true
        case .frozen: continue
        case .over: return false
        }
      }
      return false
    }

    private func postOnQueue(_ piece: Piece) async -> QueryCore.Outcome {
      let outcome = Guarded(QueryCore.Outcome.over)
      let body: @Sendable () -> Void = { [core, number] in
        let result = core.post(piece, number)
        outcome.withLock { $0 = result }
      }
      if let queue = core.operationQueue {
        await SharedQueue(queue).run(body)
      } else {
        MainThreadTurns.shared.run(body)
      }
      return outcome.withLock { $0 }
    }
  }

  /// Something to be posted.
  enum Piece: Sendable {
    case began
    case batch(Batch)
    case finished

    /// Changes, chosen by the program's own predicates when they're first to be posted.
    ///
    /// `@unchecked Sendable` because one thread after the other uses it.
    final class Batch: @unchecked Sendable {
      private var batch: QueryBatch
      private var selection: QuerySelection?

      init(_ batch: QueryBatch, _ selection: QuerySelection?) {
        self.batch = batch
        self.selection = selection
      }

      var selected: QueryBatch {
        if let selection = selection.take() { batch = selection.select(batch) }
        return batch
      }
    }
  }

  // MARK: - Where it's posted

  extension QueryCore {
    /// Changes the results and posts that, if the run goes on and updates are enabled.
    func post(_ piece: Piece, _ run: Int) -> Outcome {
      guard let query else { return .over }
      switch piece {
      case .began:
        let (outcome, _) = advance(run) { _ in }
        if outcome == .posted { notify(query, .NSMetadataQueryDidStartGathering) }
        return outcome
      case .batch(let batch): return post(batch.selected, run, query)
      case .finished:
        let (outcome, _) = advance(run) { $0.isGathering = false }
        if outcome == .posted { notify(query, .NSMetadataQueryDidFinishGathering) }
        return outcome
      }
    }

    private func post(_ batch: QueryBatch, _ run: Int, _ query: NSMetadataQuery) -> Outcome {
      let (outcome, lists) = show(batch, run)
      guard outcome == .posted, let lists, !batch.isEmpty else { return outcome }
      let userInfo: [AnyHashable: Any] = [
        NSMetadataQueryUpdateAddedItemsKey: lists.added.map(replaced),
        NSMetadataQueryUpdateChangedItemsKey: lists.changed.map(replaced),
        NSMetadataQueryUpdateRemovedItemsKey: lists.removed.map { $0.replacement ?? replaced($0.item) },
      ]
      notify(query, isGathering ? .NSMetadataQueryGatheringProgress : .NSMetadataQueryDidUpdate, userInfo)
      return outcome
    }

    private func notify(
      _ query: NSMetadataQuery, _ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil
    ) {
      let center = NotificationCenter.default
      center.post(name: name, object: query, userInfo: userInfo)
      switch name {
      case .NSMetadataQueryDidStartGathering:
        center.post(NSMetadataQuery.DidStartGatheringMessage(), subject: query)
      case .NSMetadataQueryDidFinishGathering:
        center.post(NSMetadataQuery.DidFinishGatheringMessage(), subject: query)
      case .NSMetadataQueryGatheringProgress:
        center.post(NSMetadataQuery.GatheringProgressMessage(), subject: query)
      case .NSMetadataQueryDidUpdate:
        center.post(NSMetadataQuery.DidUpdateMessage(), subject: query)
      default: break
      }
    }
  }
#endif
