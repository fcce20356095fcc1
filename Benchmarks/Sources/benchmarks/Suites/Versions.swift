import BenchmarkShims
import FileCoordination
import FileVersions
import Foundation
import Glibc
import Synchronization

extension Suite {
  static let versions = Suite(
    name: "versions",
    summary: "keeping, listing and saving versions (T-70 to T-72), very many of them, and hashing (T-73)"
  ) { laboratory, report in
    let field = try VersionField(laboratory)
    defer { field.remove() }
    let many = ManyVersions(in: field.directory, isTiny: laboratory.settings.isTiny)
    report.results += try laboratory.measure(field.cells + many.cells)
    report.targets += targets(report)
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func median(_ id: String) -> Double? { report.median("versions/\(id)") }
    func ratio(_ id: String, to other: String) -> Double? {
      median(id).flatMap { value in median(other).map { value / $0 } }
    }
    return [
      TargetLine(
        "T-70 cp", "a version of 100 MiB, in times of cp and sync of the copy", ratio: ratio("add", to: "add/cp"),
        target: 1.1, higherIsBetter: false),
      TargetLine(
        "T-70 moving", "a version of 100 MiB by moving", ratio: median("add-by-moving"), target: 1,
        higherIsBetter: false, unit: " ms"),
      TargetLine(
        "T-70 beside one wait", "the same in times of a record, a link and one fsync",
        ratio: ratio("add-by-moving", to: "add-by-moving/record"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-71 list", "1,000 versions of one file listed", ratio: median("list"), target: 5, higherIsBetter: false,
        unit: " ms"),
      TargetLine(
        "T-71 open", "a store of 100,000 versions opened", ratio: median("open"), target: 20, higherIsBetter: false,
        unit: " ms"),
      TargetLine(
        "T-71 memory", "the same", ratio: median("open-memory"), target: 5, higherIsBetter: false, unit: " MiB"),
      TargetLine(
        "T-72", "a save that keeps a version, in times of one that doesn't",
        ratio: ratio("save/kept", to: "save/plain"),
        target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-72 beside C", "the same in times of what the calls alone take, in C",
        ratio: ratio("save/kept", to: "save/bare-in-C"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-72 mean", "the mean of many saves that keep versions, in times of the mean of saves that don't",
        ratio: ratio("save/kept-mean", to: "save/plain-mean"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-73", "hashing, in times of the speed of sha256sum", ratio: ratio("hash/sha256sum", to: "hash"), target: 4),
    ]
  }
}

/// The files of the suite, and their store.
private final class VersionField: Sendable {
  let directory: URL
  private let domain = CoordinationDomain()
  private let versions: FileVersions
  private let large: URL
  private let listed: URL
  private let saved: URL
  private let savedInC: URL
  private let counter = Mutex<Int64>(0)
  private let isTiny: Bool
  /// The names of preparations that rows have made for themselves: one that isn't measured doesn't cost anything.
  private let prepared = Mutex<Set<String>>([])
  private let hashed = Mutex<FileVersion?>(nil)

  private var size: Int { isTiny ? 1 << 20 : 100 << 20 }

  init(_ laboratory: Laboratory) throws {
    isTiny = laboratory.settings.isTiny
    directory = URL(filePath: "\(laboratory.tree.root)/versions")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    versions = FileVersions(domain: domain, storage: .directory(directory.appending(path: "store")))
    large = directory.appending(path: "large")
    listed = directory.appending(path: "listed")
    saved = directory.appending(path: "saved")
    savedInC = directory.appending(path: "in-C")
    try FileManager.default.createDirectory(at: savedInC.appending(path: "kept"), withIntermediateDirectories: true)
    try Data(count: 4096).write(to: savedInC.appending(path: "saved"))
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    try Data(bytes).write(to: large)
    // Otherwise the kernel writes it beside the first measurements.
    sync()
    try Data("text".utf8).write(to: listed)
    try Data(count: 4096).write(to: saved)
  }

  private func prepare(_ name: String, _ body: () throws -> Void) throws {
    try prepared.withLock { prepared in
      if !prepared.contains(name) { try body() }
      prepared.insert(name)
    }
  }

  private func prepareList() throws {
    try prepare("list") { for _ in 0..<(isTiny ? 10 : 1000) { try versions.blocking.addVersion(of: listed) } }
  }

  /// So that the store has the directories that it makes for its first versions.
  private func prepareSaves() throws {
    let coordinator = FileCoordinator(domain: domain)
    try prepare("saves") {
      for _ in 0..<(isTiny ? 1 : 500) {
        try coordinator.blocking.replaceContents(of: saved, with: Self.contents, keepingVersion: versions)
      }
    }
  }

  func remove() { try? FileManager.default.removeItem(at: directory) }

  /// The store of many versions, by its present name.
  private let largeStore = Mutex<URL?>(nil)

  /// Makes a store of a hundred versions of each of many files, by copies of the records of one version.
  private func fillLargeStore(itemCount: Int) throws {
    let store = directory.appending(path: "large-store")
    let first = FileVersions(domain: domain, storage: .directory(store))
    let version = try first.blocking.addVersion(of: listed)
    let record = try Data(contentsOf: version.url.appending(path: "../../record").standardizedFileURL)
    for item in 0..<itemCount {
      let number = String(item, radix: 16)
      let name = String(repeating: "e", count: 32 - number.count) + number
      for age in 0..<100 {
        let time = String(1_000_000_000_000_000 + age, radix: 16)
        let id = String(repeating: "0", count: 16 - time.count) + time + "-0123456789abcdef"
        let path = store.appending(path: "items/ee/\(name)/\(id)")
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        try record.write(to: path.appending(path: "record"))
      }
      try FileManager.default.createDirectory(
        at: store.appending(path: "places/many/\(item)"), withIntermediateDirectories: true)
    }
    largeStore.withLock { $0 = store }
  }

  /// Does something with a store that the process hasn't opened yet: it has another name each time.
  private func openLargeStore(_ body: (FileVersions) throws -> Double) throws -> Double {
    try prepare("open") { try fillLargeStore(itemCount: isTiny ? 10 : 1000) }
    let next = directory.appending(path: "large-store-\(UUID())")
    let present = largeStore.withLock { store in
      defer { store = next }
      return store
    }
    guard let present else { throw BenchmarkFailure("the store of many versions wasn't made") }
    try FileManager.default.moveItem(at: present, to: next)
    return try body(FileVersions(domain: domain, storage: .directory(next)))
  }

  var cells: [Cell] { adding + listing + saving + hashing }

  private func cell(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool = true,
    _ body: @escaping @Sendable () throws -> Double
  ) -> Cell {
    .experiment("versions/\(id)", subject, group, isOurs: isOurs, nanoseconds: body)
  }

  private func shell(_ line: String) throws { _ = try ShellCommand(program: "sh", line: line).time() }

  private var adding: [Cell] {
    let (group, target) = ("a version of 100 MiB", directory.appending(path: "copy").path)
    return [
      cell("add", "add a version", group) { [self] in
        var added: FileVersion?
        let time = try time { added = try versions.blocking.addVersion(of: large) }
        // So that it isn't hashed beside the next measurement.
        if let added { try versions.blocking.verify(added) }
        if let added { try versions.blocking.remove(added, of: large) }
        return time
      },
      cell("add-by-moving", "add a version by moving", group) { [self] in
        let source = try versions.blocking.makeTemporaryDirectory(for: large)
        defer { try? FileManager.default.removeItem(at: source) }
        let file = source.appending(path: "f")
        try shell("cp '\(large.path)' '\(file.path)' && sync -f '\(file.path)'")
        var added: FileVersion?
        let time = try time { added = try versions.blocking.addVersion(of: large, contentsOf: file, byMoving: true) }
        if let added { try versions.blocking.verify(added) }
        if let added { try versions.blocking.remove(added, of: large) }
        return time
      },
      cell("add-by-moving/rename", "rename, and fsync of the directory", group, isOurs: false) { [self] in
        try timeOfMove { from, to, directory in
          rename(from, to) == 0 && Self.waits(for: directory)
        }
      },
      cell("add-by-moving/record", "a record, a link, and one fsync", group, isOurs: false) { [self] in
        try timeOfMove { from, to, _ in
          let record = open(to + ".record", O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
          defer { close(record) }
          let bytes = [UInt8](repeating: 120, count: 256)
          return write(record, bytes, bytes.count) == bytes.count && link(from, to) == 0 && fsync(record) == 0
            && unlink(from) == 0
        }
      },
      cell("add/cp", "cp, and sync of the copy", group, isOurs: false) { [self] in
        let time = try time { try shell("cp --reflink=auto '\(large.path)' '\(target)' && sync '\(target)'") }
        unlink(target)
        return time
      },
      cell("add/cp-unsynced", "cp, without waiting for the disk", group, isOurs: false) { [self] in
        let time = try time { try shell("cp --reflink=auto '\(large.path)' '\(target)'") }
        unlink(target)
        return time
      },
    ]
  }

  private static func waits(for path: String) -> Bool {
    let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(directory) }
    return directory >= 0 && fsync(directory) == 0
  }

  /// The time of calls that move a file of the same size to another directory: the least that waits for this disk.
  private func timeOfMove(
    _ move: (_ from: String, _ to: String, _ directory: String) -> Bool
  ) throws -> Double {
    let target = directory.appending(path: "moved")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    let (from, to) = (directory.appending(path: "to-move").path, target.appending(path: "f").path)
    try shell("cp '\(large.path)' '\(from)' && sync -f '\(from)'")
    defer { unlink(to) }
    var isDone = false
    let elapsed = time { isDone = move(from, to, target.path) }
    if !isDone { throw BenchmarkFailure("a file can't be moved: errno \(errno)") }
    return elapsed
  }

  private var listing: [Cell] {
    [
      cell("list", "1,000 versions of one file", "listing") { [self] in
        try prepareList()
        return try time { _ = try versions.blocking.versions(of: listed) }
      },
      cell("list/read", "their records opened, read and closed", "listing", isOurs: false) { [self] in
        try prepareList()
        let kept = try versions.blocking.versions(of: listed) ?? []
        let records = kept.map { $0.url.appending(path: "../../record").standardizedFileURL.path }
        var buffer = [UInt8](repeating: 0, count: 4096)
        return time {
          for record in records {
            let file = open(record, O_RDONLY | O_CLOEXEC)
            _ = read(file, &buffer, buffer.count)
            close(file)
          }
        }
      },
      cell("open", "a store of 100,000 versions opened for the first time, and one file's listed", "listing") {
        [self] in
        try openLargeStore { versions in try time { _ = try versions.blocking.versions(of: listed) } }
      },
      Cell(
        id: "versions/open-memory", subject: "the same, by the growth of the peak", group: "listing", unit: "MiB",
        isOurs: true
      ) {
        [self] _ in
        let growth = try openLargeStore { versions in
          try MemoryUse.peakGrowth { _ = try versions.blocking.versions(of: listed) }
        }
        return Attempt(value: growth / Double(1 << 20), disturbance: 0)
      },
    ]
  }

  private var saving: [Cell] {
    let coordinator = FileCoordinator(domain: domain)
    return [
      cell("save/plain", "replaceContents", "a save of 4 KiB") { [self] in
        let contents = Self.contents
        return try timeOfSave { try coordinator.blocking.replaceContents(of: saved, with: contents) }
      },
      cell("save/kept", "replaceContents, keepingVersion:", "a save of 4 KiB") { [self] in
        try prepareSaves()
        var contents = Self.contents
        return try timeOfSave {
          contents[0] &+= 1
          try coordinator.blocking.replaceContents(of: saved, with: contents, keepingVersion: versions)
        }
      },
      cell("save/plain-mean", "replaceContents, the mean of 256 in a row", "a save of 4 KiB") { [self] in
        let contents = Self.contents
        return try meanTimeOfSaves { try coordinator.blocking.replaceContents(of: saved, with: contents) }
      },
      cell(
        "save/kept-mean", "replaceContents, keepingVersion:, the same, with directories for all versions",
        "a save of 4 KiB"
      ) { [self] in
        try prepareSaves()
        var contents = Self.contents
        return try meanTimeOfSaves {
          contents[0] &+= 1
          try coordinator.blocking.replaceContents(of: saved, with: contents, keepingVersion: versions)
        }
      },
      cell("save/plain-in-C", "write, fsync, rename, fsync", "a save of 4 KiB", isOurs: false) { [self] in
        try saveInC(BENCH_KEEPS_NOTHING)
      },
      cell("save/kept-in-C", "and before that link, record, three times fsync", "a save of 4 KiB", isOurs: false) {
        [self] in
        try saveInC(BENCH_KEEPS_BEFORE)
      },
      cell(
        "save/bare-in-C", "and before that link, attribute, all fsync before the rename at once", "a save of 4 KiB",
        isOurs: false
      ) { [self] in
        try saveInC(BENCH_KEEPS_BARE)
      },
    ]
  }

  /// The median of several: the disk takes longer now and then.
  private func timeOfSave(_ save: () throws -> Void) throws -> Double {
    let times = try (0..<(isTiny ? 1 : 15)).map { _ in try time(save) }.sorted()
    return times[times.count / 2]
  }

  /// Work that saves leave to be done later takes a part of that time, too.
  private func meanTimeOfSaves(_ save: () throws -> Void) throws -> Double {
    let count = isTiny ? 1 : 256
    return try time { for _ in 0..<count { try save() } } / Double(count)
  }

  private func saveInC(_ keeping: bench_keeping) throws -> Double {
    try timeOfSave { try saveOnceInC(keeping) }
  }

  private func saveOnceInC(_ keeping: bench_keeping) throws {
    let number = counter.withLock { number -> Int64 in
      number += 1
      return number
    }
    let error = bench_save(savedInC.path, 4096, number, keeping)
    if error != 0 { throw BenchmarkFailure("a save in C: \(String(cString: strerror(error)))") }
  }

  /// Other ones each time.
  private static var contents: Data { Data((0..<4096).map { _ in UInt8.random(in: 0...255) }) }

  private var hashing: [Cell] {
    [
      cell("hash", "restoring reads and hashes: the contents of a version", "hashing 100 MiB") { [self] in
        let version = try hashedVersion()
        return try time { try versions.blocking.verify(version) }
      },
      cell("hash/sha256sum", "sha256sum of the same file", "hashing 100 MiB", isOurs: false) { [self] in
        let file = try hashedVersion().url
        return try time { try shell("sha256sum '\(file.path)'") }
      },
    ]
  }

  /// A version of the large file that no thread hashes and that's on the disk: both rows read the same file, which is in memory.
  private func hashedVersion() throws -> FileVersion {
    try hashed.withLock { hashed in
      if let hashed { return hashed }
      let version = try versions.blocking.addVersion(of: large)
      let end = DispatchSemaphore(value: 0)
      Task.detached {
        await FileVersions.waitForHashes()
        end.signal()
      }
      end.wait()
      sync()
      hashed = version
      return version
    }
  }
}
