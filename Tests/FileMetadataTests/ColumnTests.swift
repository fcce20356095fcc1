import FileWatching
import MetadataPredicates
import SeededRandom
import SystemInterface
import Testing

@testable import FileMetadata

@Suite("Predicates that one column of the index decides")
struct ColumnTests {
  private static let endings = [".swift", ".SWIFT", ".swif", ".swift\u{301}", ".md", "\u{17F}wift", ""]
  private static let sizes: [Int64] = [0, 1, 399, 400, 401, .max - 1, .max]

  /// Roots of all kinds, files with names of all kinds in several blocks and pages, and numbers that stand for nothing.
  private static func snapshot(fileCount: Int) -> TableSnapshot {
    var random = SplitMix(seed: 5)
    var index = FileIndex()
    func facts(_ kind: FileKind, _ inode: Int) -> FileFacts {
      FileFacts(
        FileStatus(
          kind: kind, mode: 0o644, owner: 1, group: 1, size: random.pick(sizes), allocatedSize: 0, modificationTime: 5,
          changeTime: 7, identity: FileIdentity(device: 1, inode: UInt64(inode))))
    }
    let top = index.addRoot(SystemPath("/top.swift"), facts(.directory, 1)) ?? .none
    _ = index.addRoot(SystemPath("/one.swift"), facts(.regular, 2), reach: .item)
    _ = index.addRoot(SystemPath("/all.swift"), facts(.directory, 3), reach: .itemAndContents)
    for file in 0..<fileCount {
      var name = Array("\(file)\(random.chance(1, in: 9) ? String(repeating: "é", count: 80) : "")".utf8)
      if random.chance(1, in: 20) { name.append(0xFF) }
      name += Array(random.pick(endings).utf8)
      let number = index.insert(
        SystemPath(bytes: name), in: top, facts(random.chance(1, in: 8) ? .directory : .regular, file + 4))
      if let number, random.chance(1, in: 10) { _ = index.remove(number) }
    }
    return TableSnapshot(index.table)
  }

  /// Compares the results of a query at once with those of the predicate for each file.
  private func check(_ predicate: MetadataPredicate, _ snapshot: TableSnapshot) throws -> CompiledPredicate {
    let compiled = try predicate.compiled()
    let plan = try QueryPlan(compiled, [], .immediate)
    let item = plan.item(in: snapshot)
    let expected = snapshot.table.numbers.filter { plan.entry($0, item, snapshot, .standard) != nil }
    let results = plan.results(snapshot)
    #expect(results.elements.map(\.number) == expected.map(\.rawValue))
    #expect(results.count == expected.count && results.violations == [])
    return compiled
  }

  @Test(
    "T-44: a comparison of a name or a size finds the files for which the predicate holds",
    arguments: [
      "kMDItemFSName ENDSWITH '.swift'", "kMDItemFSName ENDSWITH[c] '.swift'", "kMDItemFSName ENDSWITH[cd] 'swift'",
      "kMDItemFSName BEGINSWITH '12'", "kMDItemFSName CONTAINS '7.s'", "kMDItemFSName == '20.md'",
      "kMDItemDisplayName ENDSWITH 'e.swift'", "kMDItemFSSize > 400", "kMDItemFSSize >= 400", "kMDItemFSSize < 400",
      "kMDItemFSSize <= 400", "kMDItemFSSize == 400", "kMDItemFSSize > 9223372036854775807",
      "kMDItemFSSize >= 9223372036854775807", "kMDItemFSSize < -9223372036854775807",
    ])
  func columns(format: String) throws {
    _ = try check(MetadataPredicate(format: format), Self.snapshot(fileCount: 2_000))
  }

  @Test(
    "Anything else isn't decided by a column",
    arguments: [
      "kMDItemFSSize != 400", "NOT kMDItemFSSize > 400", "kMDItemFSSize > 400 AND kMDItemFSName ENDSWITH 't'",
      "kMDItemFSSize > 400.5", "kMDItemFSName LIKE '*1?.md'", "kMDItemFSSize IN {1, 400}", "TRUEPREDICATE",
    ])
  func others(format: String) throws {
    let compiled = try check(MetadataPredicate(format: format), Self.snapshot(fileCount: 2_000))
    #expect(compiled.columnTest == nil)
  }

  @Test("T-44: the parts that several threads find make one list")
  func parts() throws {
    let compiled = try check(.fileName.hasSuffix(".swift"), Self.snapshot(fileCount: 40_000))
    #expect(compiled.columnTest != nil)
  }
}
