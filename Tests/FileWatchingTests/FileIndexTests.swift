import FileWatching
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@Suite("The index of a scope")
struct FileIndexTests {
  private static func facts(
    _ kind: FileKind = .regular, inode: UInt64, size: Int64 = 0, linkCount: UInt64 = 1, owner: UInt32 = 1
  ) -> FileFacts {
    FileFacts(
      FileStatus(
        kind: kind, mode: 0o644, owner: owner, group: 1, size: size, allocatedSize: size, modificationTime: 5,
        changeTime: 7, identity: FileIdentity(device: 1, inode: inode), linkCount: linkCount))
  }

  private static func index() throws -> (FileIndex, root: FileNumber) {
    var index = FileIndex()
    let root = try index.mustAddRoot(SystemPath("/top"), facts(.directory, inode: 1))
    return (index, root)
  }

  @Test("The index returns the facts that were noted for a file")
  func facts() throws {
    var (index, root) = try Self.index()
    let status = FileStatus(
      kind: .symbolicLink, mode: 0o4751, owner: 4_000_000_000, group: 17, size: 1 << 40, allocatedSize: 0,
      modificationTime: -5_000_000_001, changeTime: 1_700_000_000_123_456_789,
      identity: FileIdentity(device: 0xFD01, inode: .max), linkCount: 3, creationTime: 99)
    let number = try index.mustInsert(SystemPath("a"), in: root, FileFacts(status))
    #expect(index.table.facts(of: number) == FileFacts(status))
    #expect(index.table.facts(of: number).kind == .symbolicLink)
    #expect(index.table.facts(of: number).permissions == 0o4751)
    #expect(index.table.facts(of: root).creationTime == nil)
    let changed = Self.facts(inode: 8)
    let isFirstUpdate = index.update(number, changed)
    let isSecondUpdate = index.update(number, changed)
    #expect(isFirstUpdate && !isSecondUpdate)
    #expect(index.table.facts(of: number) == changed)
  }

  @Test("Renaming a directory changes the paths of all that is in it, and touches none of them")
  func rename() throws {
    var (index, root) = try Self.index()
    let directory = try index.mustInsert(SystemPath("d"), in: root, Self.facts(.directory, inode: 2))
    let other = try index.mustInsert(SystemPath("e"), in: root, Self.facts(.directory, inode: 3))
    let file = try index.mustInsert(SystemPath("f"), in: directory, Self.facts(inode: 4))
    let before = index.table
    let isMoved = index.move(directory, to: other, as: SystemPath("g"))
    #expect(isMoved)
    #expect(index.table.path(of: file) == SystemPath("/top/e/g/f"))
    #expect(before.path(of: file) == SystemPath("/top/d/f"))
    #expect(index.child(named: SystemPath("d"), of: root) == nil)
    #expect(index.child(named: SystemPath("g"), of: other) == directory)
    #expect(index.table.isInside(file, other) && !before.isInside(file, other))
    #expect(index.violations == [])
  }

  @Test("L14: names are kept byte by byte, whatever they are, up to 255 of them")
  func names() throws {
    var (index, root) = try Self.index()
    let names = [
      [0xFF, 0xFE], [UInt8](repeating: 0x61, count: 255), Array("e\u{301}".utf8), Array("\u{E9}".utf8), [10],
    ]
    for (inode, name) in names.enumerated() {
      _ = index.insert(SystemPath(bytes: name), in: root, Self.facts(inode: UInt64(inode + 2)))
    }
    for name in names {
      let number = try #require(index.child(named: SystemPath(bytes: name), of: root))
      #expect(index.table.name(of: number).bytes == name)
      #expect(index.table.path(of: number).bytes == Array("/top/".utf8) + name)
    }
    #expect(index.violations == [])
  }

  @Test("A scope may be the root of the file system")
  func rootOfAll() throws {
    var index = FileIndex()
    let root = try index.mustAddRoot(.root, Self.facts(.directory, inode: 1))
    let file = try index.mustInsert(SystemPath("etc"), in: root, Self.facts(.directory, inode: 2))
    #expect(index.table.path(of: file) == SystemPath("/etc"))
    #expect(index.table.path(of: root) == .root)
  }

  @Test("Two hard links are two files, and each is found through the other")
  func hardLinks() throws {
    var (index, root) = try Self.index()
    let facts = Self.facts(inode: 5, linkCount: 2)
    let first = try index.mustInsert(SystemPath("a"), in: root, facts)
    let second = try index.mustInsert(SystemPath("b"), in: root, facts)
    #expect(index.files(with: facts.identity) == [first, second])
    _ = index.remove(first)
    #expect(index.files(with: facts.identity) == [second])
    index.update(second, Self.facts(inode: 5))
    #expect(index.files(with: facts.identity) == [])
    #expect(index.violations == [])
  }

  @Test("A number stands for nothing else before it may be used again")
  func numbers() throws {
    var (index, root) = try Self.index()
    let first = try index.mustInsert(SystemPath("a"), in: root, Self.facts(inode: 2))
    let removed = index.remove(first)
    let moment = index.moment
    #expect(removed == [first])
    #expect(!index.table.contains(first))
    let second = try index.mustInsert(SystemPath("b"), in: root, Self.facts(inode: 3))
    #expect(second != first)
    index.recycle(before: moment - 1)
    let third = try index.mustInsert(SystemPath("c"), in: root, Self.facts(inode: 4))
    #expect(third != first)
    index.recycle(before: moment)
    let fourth = try index.mustInsert(SystemPath("d"), in: root, Self.facts(inode: 5))
    #expect(fourth == first)
    #expect(index.violations == [])
  }

  @Test("Numbers that a former state doesn't have are used again; those that it has aren't")
  func numbersOfComparedState() throws {
    var (index, root) = try Self.index()
    let first = try index.mustInsert(SystemPath("a"), in: root, Self.facts(inode: 2))
    let former = index.table
    _ = index.remove(first)
    var numbers: Set<FileNumber> = []
    for round in UInt64(0)..<1000 {
      let number = try index.mustInsert(SystemPath("b"), in: root, Self.facts(inode: 3 + round))
      numbers.insert(number)
      _ = index.remove(number)
      index.recycle(notIn: [former])
    }
    #expect(numbers.count == 1 && !numbers.contains(first) && index.limboCount == 1)
    #expect(index.violations == [])
    index.recycle(before: index.moment)
    #expect(index.limboCount == 0 && index.violations == [])
  }

  @Test("More owners than can be counted are unknown ones, and nothing else is harmed")
  func owners() throws {
    var (index, root) = try Self.index()
    for owner in UInt32(1)...70_000 {
      _ = index.insert(SystemPath("\(owner)"), in: root, Self.facts(inode: UInt64(owner) + 1, owner: owner))
    }
    let last = try #require(index.child(named: SystemPath("70000"), of: root))
    #expect(index.table.facts(of: last).owner == .max)
    let isUpdated = index.update(last, Self.facts(inode: 70_001, owner: 70_000))
    #expect(!isUpdated)
    let first = try #require(index.child(named: SystemPath("7"), of: root))
    #expect(index.table.facts(of: first).owner == 7)
  }

  /// The allocator may hand out more than an array asks for, which counts as the array's: the least of some is its own.
  @Test("T-43: at most 100 bytes per file, names included")
  func memory() throws {
    let perFile = try (0..<5).map { _ in try Self.byteCountPerFile() }
    print("index: \(perFile) bytes per file")
    #expect(perFile.contains { $0 <= 100 })
  }

  private static func byteCountPerFile() throws -> Double {
    var (index, root) = try Self.index()
    var inode = UInt64(2)
    for directory in 0..<200 {
      let parent = try index.mustInsert(SystemPath("dir\(directory)"), in: root, Self.facts(.directory, inode: inode))
      inode += 1
      for file in 0..<100 {
        _ = index.insert(SystemPath("file_\(directory)_\(file).swift"), in: parent, Self.facts(inode: inode))
        inode += 1
      }
    }
    #expect(index.violations == [])
    return Double(index.byteCount) / Double(index.count)
  }
}

extension FileIndex {
  fileprivate mutating func mustAddRoot(_ path: SystemPath, _ facts: FileFacts) throws -> FileNumber {
    let number = addRoot(path, facts)
    return try #require(number)
  }

  fileprivate mutating func mustInsert(
    _ name: SystemPath, in directory: FileNumber, _ facts: FileFacts
  ) throws -> FileNumber {
    let number = insert(name, in: directory, facts)
    return try #require(number)
  }
}

/// A tree that is as simple as can be, to compare with.
private struct ModelTree {
  var paths: [SystemPath: UInt64] = [SystemPath("/top"): 1]
  var directories: Set<SystemPath> = [SystemPath("/top")]

  mutating func remove(_ path: SystemPath) {
    paths = paths.filter { $0.key != path && !$0.key.isInside(path) }
    directories = directories.filter { $0 != path && !$0.isInside(path) }
  }

  mutating func move(_ old: SystemPath, to new: SystemPath) {
    func moved(_ path: SystemPath) -> SystemPath {
      guard path == old || path.isInside(old) else { return path }
      return SystemPath(bytes: new.bytes + path.bytes.dropFirst(old.bytes.count))
    }
    paths = Dictionary(uniqueKeysWithValues: paths.map { (moved($0.key), $0.value) })
    directories = Set(directories.map(moved))
  }
}

@Suite("The index after many changes")
struct FileIndexExplorationTests {
  @Test("The index is what a plain list of paths is", arguments: Budget.seeds(normal: 6, long: 200))
  func agreement(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var index = FileIndex()
    var model = ModelTree()
    var inode: UInt64 = 1
    func facts(_ kind: FileKind) -> FileFacts {
      FileFacts(
        FileStatus(
          kind: kind, mode: 0o755, owner: 0, group: 0, size: 0, allocatedSize: 0, modificationTime: 0, changeTime: 0,
          identity: FileIdentity(device: 1, inode: inode)))
    }
    var numbers = [SystemPath("/top"): try index.mustAddRoot(SystemPath("/top"), facts(.directory))]
    var copies: [(FileTable, Set<SystemPath>)] = []

    for step in 0..<400 {
      let directory = random.pick(model.directories.sorted())
      let target = directory.appending("n\(random.below(8))")
      let source = random.pick(model.paths.keys.sorted())
      switch random.below(10) {
      case 0..<5:
        if model.paths[target] != nil { continue }
        inode += 1
        let kind: FileKind = random.chance(1, in: 3) ? .directory : .regular
        let parent = try #require(numbers[directory])
        let number = try index.mustInsert(target.lastComponent, in: parent, facts(kind))
        model.paths[target] = inode
        if kind == .directory { model.directories.insert(target) }
        numbers[target] = number
      case 5..<8:
        if source == SystemPath("/top") || model.paths[target] != nil || target == source || target.isInside(source) {
          continue
        }
        let moved = try #require(numbers[source])
        let isMoved = try index.move(moved, to: #require(numbers[directory]), as: target.lastComponent)
        #expect(isMoved)
        model.move(source, to: target)
      default:
        if source == SystemPath("/top") { continue }
        let gone = try index.remove(#require(numbers[source])).count
        #expect(gone == model.paths.keys.count { $0 == source || $0.isInside(source) })
        model.remove(source)
        if random.chance(1, in: 2) { index.recycle(before: index.moment) }
      }
      numbers = [:]
      index.table.forEach(in: FileNumber(1)) { numbers[index.table.path(of: $0)] = $0 }
      #expect(Set(numbers.keys) == Set(model.paths.keys))
      for (path, number) in numbers { #expect(index.table.facts(of: number).identity.inode == model.paths[path]) }
      #expect(index.violations == [])
      if step % 40 == 0 { copies.append((index.table, Set(model.paths.keys))) }
    }
    for (table, paths) in copies {
      var seen: Set<SystemPath> = []
      table.forEach(in: FileNumber(1)) { seen.insert(table.path(of: $0)) }
      #expect(seen == paths)
    }
  }

  @Test("Names of files that are gone are given up, also when there are copies of the table")
  func compaction() throws {
    var index = FileIndex()
    let facts = FileFacts(
      FileStatus(
        kind: .directory, mode: 0, owner: 0, group: 0, size: 0, allocatedSize: 0, modificationTime: 0, changeTime: 0,
        identity: FileIdentity(device: 1, inode: 1)))
    let root = try index.mustAddRoot(SystemPath("/"), facts)
    let long = String(repeating: "x", count: 200)
    let kept = try index.mustInsert(SystemPath("kept"), in: root, facts)
    var copy = index.table
    for round in 0..<3000 {
      let number = try index.mustInsert(SystemPath("\(long)\(round)"), in: root, facts)
      _ = index.remove(number)
      index.recycle(before: index.moment)
      if round == 300 { copy = index.table }
    }
    #expect(index.nameByteCount < 300_000)
    #expect(index.table.path(of: kept) == SystemPath("/kept"))
    #expect(copy.path(of: kept) == SystemPath("/kept"))
    #expect(index.violations == [])
  }
}
