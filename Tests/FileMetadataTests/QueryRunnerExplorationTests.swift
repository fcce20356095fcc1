import FileWatching
import MetadataPredicates
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// The real runner and the real port, between an engine and a reader whose steps a seed orders: messages between the
/// two arrive later.
@Suite("One query of an engine, and its reader, in any order of their steps", .blocking, .serialized)
struct QueryRunnerExplorationTests {
  private final class Model {
    var random: SplitMix
    let tree: TemporaryTree
    let indexed: IndexedTree
    let port = QueryPort()
    let runner: QueryRunner
    /// Messages from the reader and the program that the engine hasn't received yet.
    var orders: [(Model) -> Void] = []
    var replans: [QueryPlan] = []
    var snapshot: TableSnapshot
    var isGathering = true
    /// The index was there before the query, which is notified when the index is current.
    var isArrival: Bool
    var reader: Int?
    var waiting: Task<MetadataQueryChange?, Never>?
    var items: [MetadataItem] = []
    var finishCount = 0
    var pauseDepth = 0
    var plan: QueryPlan
    var log: [String] = []

    static let orders: [[MetadataSortDescriptor]] = [
      [], [.init("kMDItemFSName")], [.init("kMDItemFSSize", .descending)], [.init("kMDItemPath")],
    ]

    static let names = ["a", "b", "c", "d", "p/a", "p/b", "q/a", "q/c", "p/r/a", "q/r/b"]
    static let directories = ["p", "q", "p/r", "q/r"]

    init(_ seed: UInt64) throws {
      random = SplitMix(seed: seed)
      tree = try TemporaryTree()
      try tree.makeDirectory("p")
      for name in ["a", "b", "p/a", "p/b"] { try tree.write(name) }
      plan = try Self.plan(&random)
      isArrival = random.chance(1, in: 2)
      // A query that begins together with its index is told of every file. One that comes later looks at all of them.
      indexed = try IndexedTree(tree, isSettled: isArrival)
      runner = QueryRunner(plan, port, FileTable())
      snapshot = TableSnapshot(isArrival ? indexed.indexer.index.table : FileTable(), source: 1)
      runner.isArriving = isArrival
    }

    static func plan(_ random: inout SplitMix) throws -> QueryPlan {
      let predicate: MetadataPredicate =
        random.pick([
          .constant(true), .constant(false), .fileName < "c", .fileSize > .bytes(2), .path.contains("/q"),
          .fileName == "p",
        ])
      let batching = random.pick([MetadataBatching.immediate, .standard])
      return try QueryPlan(
        predicate.compiled(), random.pick(orders), batching, resultCountMax: random.chance(1, in: 4) ? 2 : nil)
    }

    /// Passes in steps of their own, so that a seed decides when a batch is due.
    var time = MonotonicTime(nanoseconds: 1 << 40)

    /// The work of the engine's thread in one turn.
    func turn() {
      let heard = orders
      orders = []
      for order in heard { order(self) }
      indexed.indexer.processEvents()
      indexed.indexer.work()
      let changes = indexed.indexer.takeChanges()
      if !changes.isEmpty { snapshot = TableSnapshot(indexed.indexer.index.table, source: 1) }
      runner.filesChanged(
        changes.files, movedDirectories: changes.movedDirectories, snapshot, ScopeHealth(), at: time)
      if runner.isCurrent {
        indexed.indexer.recycleNumbers()
      } else if random.chance(1, in: 2) {
        indexed.indexer.recycleNumbers(notIn: runner.comparedTables)
      }
      runner.timePassed(snapshot, ScopeHealth(), at: time)
    }

    func carryOutReplans() {
      guard let plan = replans.last else { return }
      replans = []
      if isArrival { return runner.replanArrival(plan) }
      runner.replan(plan, snapshot, ScopeHealth(), at: time)
    }

    func take(_ change: MetadataQueryChange) {
      log.append("took +\(change.added.count) -\(change.removed.count) ~\(change.changed.count)")
      #expect(change.changed.allSatisfy { $0.old != $0.new || $0.isMove }, "\(log.joined(separator: "; "))")
      #expect(!change.isEmpty || change.finishesGathering, "\(log.joined(separator: "; "))")
      #expect(
        change.isEmpty == (change.added.isEmpty && change.removed.isEmpty && change.changed.isEmpty),
        "\(log.joined(separator: "; "))")
      items = change.applied(to: items)
      #expect(items == Array(change.results), "\(log.joined(separator: "; "))")
      if change.finishesGathering { finishCount += 1 }
    }

    /// Everything has been read.
    func finishGathering() {
      if isArrival {
        turn()
        runner.begin(snapshot, ScopeHealth(), at: time)
      } else {
        repeat { turn() } while indexed.indexer.hasWork
        runner.gatheringFinished(snapshot, ScopeHealth(), at: time)
      }
      (isGathering, isArrival) = (false, false)
    }

    /// Takes the batch that the port has handed over to the reader that waits.
    func look() async {
      guard let task = waiting, !port.isWaitedFor else { return }
      waiting = nil
      if let change = await task.value { take(change) }
    }

    func read() async {
      await look()
      guard let reader, waiting == nil else { return }
      let isRegistered = Barrier()
      let counts = Guarded<Int?>(nil)
      let port = port
      waiting = Task {
        await withCheckedContinuation { waiter in
          switch port.fetch(reader, waiter) {
          case .change(let change, let takenCount):
            counts.withLock { $0 = takenCount }
            waiter.resume(returning: change)
          case .ended: waiter.resume(returning: nil)
          case .waiting: break
          }
          isRegistered.end()
        }
      }
      await isRegistered.wait()
      if let count = counts.withLock({ $0 }) {
        orders.append { $0.runner.taken(count, $0.snapshot, ScopeHealth(), at: $0.time) }
      }
      await look()
    }

    /// A new reader begins, and the one before ends.
    func begin() async {
      let (number, count) = port.beginReading()
      (reader, items, finishCount) = (number, [], 0)
      orders.append { $0.runner.readerBegan(count, $0.snapshot, ScopeHealth(), at: $0.time) }
      let former = waiting
      waiting = nil
      if let former { #expect(await former.value == nil) }
    }

    func step() async throws {
      let choice = random.below(16)
      log.append("\(choice)")
      switch choice {
      case 0: try? tree.write(random.pick(Self.names), String(repeating: "x", count: random.below(5)))
      case 1: try? tree.unlink(random.pick(Self.names))
      case 2: try? tree.rename(random.pick(["a", "b"]), to: random.pick(["c", "d"]))
      case 3, 4: turn()
      case 5: carryOutReplans()
      case 6:
        plan = try Self.plan(&random).with(plan)
        orders.append { [plan] in $0.replans.append(plan) }
      case 7, 8: await read()
      case 9 where reader == nil || random.chance(1, in: 5): await begin()
      case 10:
        if isGathering, random.chance(1, in: 3) {
          finishGathering()
        } else if !isArrival {
          _ = runner.flush(snapshot, ScopeHealth(), at: time)
        }
      case 11:
        // As long as a batch waits for others, or somewhat more or less.
        time = time.advanced(by: .milliseconds(random.below(1200)))
        turn()
      case 12: try? tree.rename(random.pick(Self.names), to: random.pick(Self.names))
      case 13, 14:
        let directory = random.pick(Self.directories)
        if (try? tree.makeDirectory(directory)) == nil || random.chance(1, in: 2) {
          try? tree.rename(directory, to: random.pick(Self.directories))
        }
      default:
        if pauseDepth == 0, random.chance(1, in: 3) {
          port.pause()
          pauseDepth = 1
          orders.append { $0.runner.pause() }
        } else if pauseDepth == 1 {
          pauseDepth = 0
          _ = port.resume()
          orders.append { $0.runner.resume($0.snapshot, ScopeHealth(), at: $0.time) }
        }
      }
      await look()
    }

    /// Ends everything that's open, and compares.
    func settle() async {
      if pauseDepth == 1 {
        pauseDepth = 0
        _ = port.resume()
        orders.append { $0.runner.resume($0.snapshot, ScopeHealth(), at: $0.time) }
      }
      for _ in 0..<6 {
        turn()
        carryOutReplans()
        if isGathering { finishGathering() }
        _ = runner.flush(snapshot, ScopeHealth(), at: time)
        await read()
      }
      let all = Array(MetadataResults(plan.results(snapshot), snapshot))
      let expected = Array(all.prefix(plan.resultCountMax ?? .max))
      #expect(Array(port.results ?? .none) == expected, "\(log.joined(separator: "; "))")
      if reader != nil { #expect(items == expected && finishCount == 1, "\(log.joined(separator: "; "))") }
      port.end()
      _ = await waiting?.value
    }
  }

  private static let seeds = Budget.seeds(normal: 60, long: 1_500, complete: 5_000)

  @Test("Batches lead from nothing to the results, whatever comes between", arguments: seeds)
  func exploration(seed: UInt64) async throws {
    let model = try Model(seed)
    for _ in 0..<80 { try await model.step() }
    await model.settle()
  }
}

extension QueryPlan {
  /// With as many results as another one, which doesn't change while a query runs.
  fileprivate func with(_ other: QueryPlan) throws -> QueryPlan {
    try QueryPlan(predicate, order.descriptors, other.batching, resultCountMax: other.resultCountMax)
  }
}
