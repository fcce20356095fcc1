import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

@Suite("How many directories a process watches", .blocking)
struct WatchBudgetTests {
  private func scope(_ directoryCount: Int, _ budget: WatchBudget) throws -> (TemporaryTree, ScopeIndexer) {
    let tree = try TemporaryTree()
    for number in 0..<directoryCount { try tree.makeDirectory("d\(number)") }
    let indexer = ScopeIndexer(HostFileSystem(), watcher: try InotifyWatcher(), watchBudget: budget)
    indexer.addRoot(tree.root)
    repeat { indexer.processEvents() } while !indexer.work()
    indexer.processEvents()
    return (tree, indexer)
  }

  @Test("L12: all scopes share one budget, and a scope that gets nothing is polled and says why")
  func sharing() throws {
    let budget = WatchBudget(countMax: 100)
    let (firstTree, first) = try scope(60, budget)
    #expect(first.health.isComplete && first.health.watchedDirectoryCount == 61)
    #expect(first.health.processWatchCountMax == 100 && budget.count == 64)
    let (secondTree, second) = try scope(60, budget)
    #expect(second.health.watchedDirectoryCount == 36 && second.health.polledDirectoryCount == 25)
    #expect(second.health.pollingReason?.contains("this process") == true)
    #expect(budget.count == 100)
    try secondTree.write("d0/found")
    second.poll()
    repeat { second.processEvents() } while !second.work()
    let directory = try #require(second.index.child(named: SystemPath("d0"), of: second.index.table.roots[0]))
    #expect(second.index.child(named: SystemPath("found"), of: directory) != nil)
    withExtendedLifetime((firstTree, first)) {}
  }

  @Test("L18: The watches of a scope are free again when it has ended, and others take them the next time")
  func returning() throws {
    let budget = WatchBudget(countMax: 64)
    var first: (TemporaryTree, ScopeIndexer)? = try scope(10, budget)
    #expect(first?.1.health.isComplete == true)
    let (tree, second) = try scope(10, budget)
    #expect(second.health.watchedDirectoryCount == 0 && second.health.polledDirectoryCount == 11)
    first = nil
    #expect(budget.count == 0)
    second.poll()
    repeat { second.processEvents() } while !second.work()
    #expect(second.health.isComplete && second.health.watchedDirectoryCount == 11)
    withExtendedLifetime(tree) {}
  }
}
