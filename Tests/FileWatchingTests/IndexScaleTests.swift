import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

/// The cost of an index is counted, not timed: calls of the system, bytes, and pages of the table that a change copies.
///
/// A million files take minutes, so they are for long runs; the same property holds, or fails, with twenty thousand.
@Suite("An index of many files costs as much for each of them as one of few, and a change as much as among few")
struct IndexScaleTests {
  private static let fewFiles = 2_000
  private static let manyFiles = Budget.isLong ? 1_000_000 : 20_000

  @Test("T-43, T-50: the calls and bytes for each file don't grow with their number")
  func gathering() async {
    let few = await LongRun.run { ManyFiles(Self.fewFiles).gathering }
    let many = await LongRun.run { ManyFiles(Self.manyFiles).gathering }
    #expect(few.fileCount == Self.fewFiles && many.fileCount == Self.manyFiles)
    #expect(many.callsPerFile <= few.callsPerFile * 1.01, "\(many) \(few)")
    #expect(many.bytesPerFile <= 100, "\(many)")
  }

  @Test(
    "L3, T-48: the calls and copied pages of a change don't grow with the number of files",
    arguments: ManyFiles.Change.allCases)
  func change(change: ManyFiles.Change) async {
    let few = await LongRun.run { ManyFiles(Self.fewFiles).cost(of: change) }
    let many = await LongRun.run { ManyFiles(Self.manyFiles).cost(of: change) }
    #expect(many.callCount == few.callCount)
    // The files that change, their directories and their neighbours there.
    #expect(many.copiedPageCount <= 6, "\(many)")
    #expect(few.violations == [] && many.violations == [])
    #expect(few.isFound && many.isFound)
  }
}

/// A scope in memory with directories of twenty files, and its index.
final class ManyFiles {
  enum Change: CaseIterable {
    case create, write, remove, renameFile, moveFile, renameDirectory, moveDirectory, exchangeDirectories
  }

  struct Gathering {
    var fileCount: Int
    var callsPerFile: Double
    var bytesPerFile: Double
  }

  struct Cost {
    var callCount: Int
    var copiedPageCount: Int
    /// The index knows what was done.
    var isFound: Bool
    var violations: [String]
  }

  private static let directorySize = 20
  /// Directories begin with number 3, each before its files.
  private static let firstDirectory = ModelDisk.top + 1

  private let system: ModelSystem
  private let indexer: ScopeIndexer
  private let directoryCount: Int

  init(_ fileCount: Int) {
    directoryCount = fileCount / Self.directorySize
    system = ModelSystem(Self.disk(directoryCount))
    indexer = ScopeIndexer(system, watcher: system, watchBudget: WatchBudget(countMax: .max))
    indexer.addRoot(SystemPath("/r"))
    settle()
  }

  private static func disk(_ directoryCount: Int) -> ModelDisk {
    var disk = ModelDisk()
    (disk.watchCountMax, disk.queueCountMax) = (.max, .max)
    disk.nodes.reserveCapacity(directoryCount * (directorySize + 1) + 2)
    var top: [String: Int] = [:]
    for number in 0..<directoryCount {
      let directory = node(of: number)
      var members: [String: Int] = [:]
      for file in 1...directorySize {
        members["file_\(number)_\(file).swift"] = directory + file
        disk.nodes[directory + file] = ModelDisk.Node(kind: .regular, changeTime: 1)
      }
      disk.nodes[directory] = ModelDisk.Node(kind: .directory, children: members, changeTime: 1)
      top["dir\(number)"] = directory
    }
    disk.nodes[ModelDisk.top]?.children = top
    disk.lastNode = node(of: directoryCount)
    return disk
  }

  private static func node(of directory: Int) -> Int { firstDirectory + directory * (directorySize + 1) }

  private func settle() {
    repeat {
      indexer.processEvents()
      indexer.work()
    } while indexer.hasWork
    _ = indexer.takeChanges()
    indexer.recycleNumbers()
  }

  var gathering: Gathering {
    let index = indexer.index
    let fileCount = index.count - directoryCount - 1
    return Gathering(
      fileCount: fileCount, callsPerFile: Double(system.callCount) / Double(fileCount),
      bytesPerFile: Double(index.byteCount) / Double(index.count))
  }

  // MARK: - Changes

  private func file(_ directory: Int, _ name: String? = nil) -> ModelDisk.Name {
    ModelDisk.Name(directory: Self.node(of: directory), name: name ?? "file_\(directory)_7.swift")
  }

  private func directory(_ number: Int, _ name: String? = nil) -> ModelDisk.Name {
    ModelDisk.Name(directory: ModelDisk.top, name: name ?? "dir\(number)")
  }

  /// The operation in the middle of all files, the path that's there afterwards, and the one that isn't.
  private func plan(_ change: Change) -> (ModelDisk.Operation, present: String?, absent: String?) {
    let (here, there) = (directoryCount / 2, directoryCount / 3)
    let old = "dir\(here)/file_\(here)_7.swift"
    switch change {
    case .create: return (.create(file(here, "new"), .regular), "dir\(here)/new", nil)
    case .write: return (.write(file(here)), old, nil)
    case .remove: return (.remove(file(here)), nil, old)
    case .renameFile: return (.rename(file(here), file(here, "new")), "dir\(here)/new", old)
    case .moveFile: return (.rename(file(here), file(there, "new")), "dir\(there)/new", old)
    case .renameDirectory: return (.rename(directory(here), directory(here, "new")), "new/file_\(here)_7.swift", old)
    case .moveDirectory:
      return (.rename(directory(here), file(there, "new")), "dir\(there)/new/file_\(here)_7.swift", old)
    case .exchangeDirectories:
      return (.exchange(directory(here), directory(there)), "dir\(there)/file_\(here)_7.swift", old)
    }
  }

  private func contains(_ path: String) -> Bool {
    var number = indexer.index.table.roots.first
    for component in path.split(separator: "/") {
      number = number.flatMap { indexer.index.child(named: SystemPath(String(component)), of: $0) }
    }
    return number != nil
  }

  func cost(of change: Change) -> Cost {
    let (operation, present, absent) = plan(change)
    let (table, callCount) = (indexer.index.table, system.callCount)
    precondition(absent.map(contains) != false)
    system.disk.perform(operation)
    settle()
    let now = indexer.index.table
    let copied = zip(table.pages, now.pages).count { former, page in
      former.withUnsafeBufferPointer(\.baseAddress) != page.withUnsafeBufferPointer(\.baseAddress)
    }
    return Cost(
      callCount: system.callCount - callCount, copiedPageCount: copied,
      isFound: present.map(contains) != false && absent.map(contains) != true,
      violations: indexer.index.violations)
  }
}
