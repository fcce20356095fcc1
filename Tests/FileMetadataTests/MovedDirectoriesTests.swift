import FileCoordinationTesting
import FileWatching
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// Batches about a directory that was moved, whose results have only another path.
@Suite("Results in a directory that is moved", .blocking)
struct MovedDirectoriesTests {
  private let tree: TemporaryTree
  private let indexed: IndexedTree
  private let port = QueryPort()
  private let clock = VirtualClock()

  init() throws {
    tree = try TemporaryTree()
    try tree.makeDirectory("d")
    for name in ["a", "d/b", "d/c", "z"] { try tree.write(name) }
    indexed = try IndexedTree(tree)
  }

  private var now: TableSnapshot { TableSnapshot(indexed.indexer.index.table, source: 1) }

  /// A query whose first results have been taken.
  private func begin(
    _ predicate: MetadataPredicate = .constant(true), sortedBy descriptors: [MetadataSortDescriptor] = [],
    _ batching: MetadataBatching = .immediate, resultCountMax: Int? = nil
  ) throws -> (runner: QueryRunner, reader: Int) {
    let plan = try QueryPlan(predicate.compiled(), descriptors, batching, resultCountMax: resultCountMax)
    let runner = QueryRunner(plan, port, FileTable())
    runner.filesChanged(now.table.numbers, now, ScopeHealth(), at: clock.now)
    runner.gatheringFinished(now, ScopeHealth(), at: clock.now)
    let (reader, count) = port.beginReading()
    runner.readerBegan(count, now, ScopeHealth(), at: clock.now)
    _ = try #require(take(runner, reader))
    return (runner, reader)
  }

  private func begin(
    _ predicate: MetadataPredicate, _ batching: MetadataBatching
  ) throws -> (runner: QueryRunner, reader: Int) {
    try begin(predicate, sortedBy: [], batching)
  }

  /// Passes on what was done to files.
  private func distribute(_ runner: QueryRunner) {
    indexed.indexer.processEvents()
    indexed.indexer.work()
    let changes = indexed.indexer.takeChanges()
    runner.filesChanged(
      changes.files, movedDirectories: changes.movedDirectories, now, ScopeHealth(), at: clock.now)
  }

  /// Takes the batch that waits, and notifies the engine.
  private func take(_ runner: QueryRunner, _ reader: Int) -> MetadataQueryChange? {
    guard case .change(let change, let count) = port.fetch(reader, nil) else { return nil }
    runner.taken(count, now, ScopeHealth(), at: clock.now)
    return change
  }

  private func names(_ change: MetadataQueryChange) -> [String] {
    change.changed.map { "\($0.oldPosition) \($0.old.path) → \($0.newPosition) \($0.new.path)" }
      .map { $0.replacing("\(tree.root)/", with: "") }
  }

  @Test("R19: Each result in a moved directory is one change from its old path to its new one, and keeps its position")
  func moved() throws {
    let (runner, reader) = try begin(sortedBy: [.init("kMDItemFSName", .descending)])
    try tree.rename("d", to: "e")
    distribute(runner)
    let change = try #require(take(runner, reader))
    #expect(names(change) == ["1 d → 1 e", "2 d/c → 2 e/c", "3 d/b → 3 e/b"])
    #expect(change.removed.isEmpty && change.added.isEmpty && !change.isEmpty)
    #expect(change.updatedPositions == RangeSet([1..<4]))
    #expect(change.departedPositions.isEmpty && change.arrivedPositions.isEmpty)
    #expect(change.changed.allSatisfy { $0.attributes == ["kMDItemPath", "kMDItemURL"] || $0.new.name == "e" })
    #expect(runner.isCurrent)
  }

  @Test("R19: Results that come and go in the same batch shift the positions of those in the moved directory")
  func besideOthers() throws {
    let (runner, reader) = try begin(.fileName != "d" && .fileName != "e", sortedBy: [.init("kMDItemFSName")])
    try tree.rename("d", to: "e")
    try tree.unlink("a")
    try tree.write("e/bb")
    try tree.rename("e/c", to: "e/y")
    distribute(runner)
    let change = try #require(take(runner, reader))
    #expect(change.removed.map { "\($0.position) \($0.item.name)" } == ["0 a"])
    #expect(change.added.map { "\($0.position) \($0.item.name)" } == ["1 bb"])
    #expect(names(change) == ["1 d/b → 0 e/b", "2 d/c → 2 e/y"])
    #expect(runner.isCurrent)
  }

  @Test("R9: Results in a directory that's moved back before the batch haven't changed")
  func toAndFro() throws {
    let (runner, reader) = try begin(.fileName != "d", batching)
    try tree.rename("d", to: "e")
    distribute(runner)
    #expect(!runner.isCurrent)
    try tree.rename("e", to: "d")
    distribute(runner)
    #expect(runner.isCurrent)
    clock.advance(by: .seconds(2))
    runner.timePassed(now, ScopeHealth(), at: clock.now)
    #expect(take(runner, reader) == nil)
  }

  private var batching: MetadataBatching { MetadataBatching(interval: .seconds(1)) }

  @Test("Q18: Results in a moved directory count as changes one by one")
  func counted() throws {
    let limit = MetadataBatching.Limit(countMax: 3, delayMax: .seconds(60))
    let (runner, reader) = try begin(.fileName < "d", MetadataBatching(first: limit, gathering: limit, live: limit))
    try tree.rename("d", to: "e")
    distribute(runner)
    #expect(take(runner, reader) == nil)
    try tree.write("aa")
    distribute(runner)
    #expect(try #require(take(runner, reader)).changed.count == 2)
  }

  // The file itself has been moved twice, which its change time shows.
  @Test(
    "R9: A result that's the only one in a moved directory, and is put back, is reported once, with its path as before")
  func putBack() throws {
    let (runner, reader) = try begin(.fileName == "b", batching)
    try tree.rename("d", to: "e")
    distribute(runner)
    try tree.makeDirectory("d")
    try tree.rename("e/b", to: "d/b")
    distribute(runner)
    clock.advance(by: .seconds(2))
    runner.timePassed(now, ScopeHealth(), at: clock.now)
    #expect(names(try #require(take(runner, reader))) == ["0 d/b → 0 d/b"])
    #expect(runner.isCurrent)
  }

  @Test("The first results of a moved directory suffice to report it", arguments: [10, 3_000])
  func cost(count: Int) throws {
    var index = FileIndex()
    func facts(_ kind: FileKind, _ inode: Int) -> FileFacts {
      FileFacts(kind: kind, FileIdentity(device: 1, inode: UInt64(inode)), readAt: 0)
    }
    let top = index.addRoot(SystemPath("/r"), facts(.directory, 1))
    let root = try #require(top)
    let inserted = index.insert(SystemPath("d"), in: root, facts(.directory, 2))
    let moved = try #require(inserted)
    var entries: [ResultEntry] = []
    for number in 0..<count {
      let file = index.insert(SystemPath("\(number)"), in: moved, facts(.regular, number + 3))
      entries.append(ResultEntry(try #require(file).rawValue, .none))
    }
    let before = index.table
    let isMoved = index.move(moved, to: root, as: SystemPath("e"))
    #expect(isMoved)
    var lookCount = 0
    let basis = MovedDirectories.Basis(
      list: OrderedList(ResultOrder([]), of: entries), before: before, after: index.table
    ) { _ in
      lookCount += 1
      return true
    } isOther: { _ in
      false
    }
    var directories = MovedDirectories()
    directories.insert([moved], basis, countMax: 1)
    #expect(directories.count == 1 && lookCount == 1)
    directories.settle(basis, countMax: 1)
    #expect(lookCount == 2)
    directories.insert([moved], basis, countMax: 20)
    #expect(directories.count == min(count, 20) && lookCount <= 2 + 20)
  }
}
