import BenchmarkShims
import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import Glibc
import SystemInterface

extension Suite {
  static let documents = Suite(
    name: "documents", summary: "opening, editing and saving documents and packages (T-80 to T-83)"
  ) { laboratory, report in
    let field = try DocumentField(laboratory)
    defer { field.remove() }
    report.results += try laboratory.measure(field.cells)
    report.counters += try field.counters(laboratory.settings)
    report.targets += targets(report)
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func median(_ id: String) -> Double? { report.median("documents/\(id)") }
    func ratio(_ id: String, to other: String) -> Double? {
      median(id).flatMap { value in median(other).map { value / $0 } }
    }
    return [
      TargetLine(
        "T-80", "a document of 10 KB opened and closed, in times of a coordinated read",
        ratio: ratio("opening/document", to: "opening/read"), target: 4, higherIsBetter: false),
      TargetLine(
        "T-81", "an edit", ratio: median("edit"), target: 1, higherIsBetter: false, unit: " µs"),
      TargetLine(
        "T-81 undo", "an edit that can be undone", ratio: median("edit/undo"), target: 1, higherIsBetter: false,
        unit: " µs"),
      TargetLine(
        "T-82", "one of 1,000 members of 100 KiB changed in a document, and saved", ratio: median("package/document"),
        target: 10, higherIsBetter: false, unit: " ms"),
      TargetLine(
        "T-82 exchange", "the same by a package that takes the place of the other, in times of its calls alone",
        ratio: ratio("package/one", to: "package/calls"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-82 all", "the same, in times of writing all members", ratio: ratio("package/one", to: "package/all"),
        target: 0.1, higherIsBetter: false),
      TargetLine(
        "T-83", "a turn of two editors, in times of one editor alone", ratio: ratio("turn", to: "alone"), target: 4,
        higherIsBetter: false),
    ]
  }
}

/// The files of the suite; packages and other processes are there once a row needs them, so that they're in no profile of another row.
///
/// `@unchecked Sendable`: one cell is measured at a time, and only that uses the numbers and what's made late.
private final class DocumentField: @unchecked Sendable {
  private static let operationCount = 100
  private static let editCount = 10_000
  private static let memberSize = 100 << 10
  /// How often an open and a close may allocate.
  private static let allocationCountMax: Double = 150

  private let directory: URL
  private let domain = CoordinationDomain()
  private let versions: FileVersions
  private let file: URL
  private let isTiny: Bool
  private var step = 0
  private var madeAlbum: SystemPath?
  private var madeTurns: EditorPair?

  init(_ laboratory: Laboratory) throws {
    isTiny = laboratory.settings.isTiny
    directory = URL(filePath: "\(laboratory.tree.root)/documents")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    versions = FileVersions(domain: domain, storage: .directory(directory.appending(path: "store")))
    file = directory.appending(path: "note.txt")
    try Data(repeating: 65, count: 10_000).write(to: file)
    sync()
  }

  func remove() {
    madeTurns?.end()
    try? FileManager.default.removeItem(at: directory)
  }

  private func album() throws -> SystemPath {
    if let madeAlbum { return madeAlbum }
    let album = SystemPath(directory.appending(path: "album").path)
    try FileManager.default.createDirectory(atPath: album.description, withIntermediateDirectories: true)
    for number in 0..<(isTiny ? 10 : 1_000) {
      try Data(repeating: UInt8(truncatingIfNeeded: number), count: Self.memberSize)
        .write(to: URL(filePath: "\(album)/\(number).png"))
    }
    sync()
    madeAlbum = album
    return album
  }

  private func turns() throws -> EditorPair {
    if let madeTurns { return madeTurns }
    let pair = try EditorPair(in: directory)
    madeTurns = pair
    return pair
  }

  var cells: [Cell] { opening + editing + saving + takingTurns }

  /// So many operations; the value is the time of one of them in `unit`.
  private func cell(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool = true, unit: String = "µs",
    _ body: @escaping @Sendable () throws -> Double
  ) -> Cell {
    Cell(id: "documents/\(id)", subject: subject, group: group, unit: unit, isOurs: isOurs) { _ in
      Attempt(value: try body(), disturbance: 0)
    }
  }

  private var options: DocumentOptions<String> {
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    options.observesUncoordinatedChanges = false
    return options
  }

  private var opening: [Cell] {
    let (group, count) = ("a file of 10 KB", isTiny ? 2 : Self.operationCount)
    let coordinator = FileCoordinator(domain: domain)
    return [
      cell("opening/document", "FileDocument: open and close", group) { [self] in
        try LoopExecutor.perform { [self] in
          let start = monotonicNanoseconds()
          try await openAndClose(count)
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(count)
        }
      },
      cell("opening/read", "FileCoordinator: contents(of:)", group, isOurs: false) { [self] in
        try LoopExecutor.perform { [file] in
          let start = monotonicNanoseconds()
          for _ in 0..<count { _ = try await coordinator.contents(of: file) }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(count)
        }
      },
    ]
  }

  private func openAndClose(_ count: Int) async throws {
    for _ in 0..<count {
      let document = FileDocument(file, as: .text, options: options, in: nil)
      try await document.open()
      try await document.close()
    }
  }

  /// Edits an open document on its actor, and gives what `body` says about them.
  private func withEdits<Result: Sendable>(
    undo: DocumentUndoPolicy? = nil, _ body: @escaping @Sendable (isolated FileDocument<String>) throws -> Result
  ) throws -> Result {
    var options = options
    options.undo = undo
    return try LoopExecutor.perform { [options, file] in
      let document = FileDocument(file, as: .text, options: options, in: nil)
      try await document.open()
      // The first one arms the timer.
      try await document.edit { $0 = "x" }
      let result = try await body(document)
      try await document.close(discardingChanges: true)
      return result
    }
  }

  private var editing: [Cell] {
    [
      cell("edit", "FileDocument: editNow", "an edit") { [self] in
        try withEdits { document in
          let start = monotonicNanoseconds()
          for _ in 0..<Self.editCount { try document.editNow { $0 = "y" } }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(Self.editCount)
        }
      },
      cell("edit/undo", "FileDocument: editNow, with a step of undo", "an edit") { [self] in
        try withEdits(undo: DocumentUndoPolicy()) { document in
          let start = monotonicNanoseconds()
          for _ in 0..<Self.editCount { try document.editNow { $0 = "y" } }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(Self.editCount)
        }
      },
      cell("edit/actor", "a variable of an actor, from outside", "an edit", isOurs: false) {
        try LoopExecutor.perform {
          let box = Box()
          let start = monotonicNanoseconds()
          for _ in 0..<Self.editCount { await box.set("y") }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(Self.editCount)
        }
      },
    ]
  }

  private actor Box {
    var text = ""
    func set(_ text: String) { self.text = text }
  }

  private var saving: [Cell] {
    let group = "a package of \(isTiny ? 10 : 1_000) members of 100 KiB"
    return [
      cell("package/one", "PackageTree: one member changed", group, unit: "ms") { [self] in
        let album = try album()
        var tree = try PackageTree(openingPackageAt: album)
        step += 1
        try tree.update(
          SystemPath("0.png"), [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: Self.memberSize))
        return try time { _ = try tree.write(to: album) } / 1e6
      },
      cell("package/document", "FileDocument: one member changed, and saved", group, unit: "ms") { [self] in
        let album = try album()
        return try LoopExecutor.perform { [self] in
          var options = DocumentOptions<PackageTree>(domain: domain, versions: versions)
          options.observesUncoordinatedChanges = false
          let document = FileDocument(
            URL(filePath: album.description), as: .package, options: options, in: nil)
          try await document.open()
          let start = monotonicNanoseconds()
          try await document.edit { try? $0.update(SystemPath("3.png"), Self.picture) }
          try await document.save()
          let duration = monotonicNanoseconds() - start
          try await document.close()
          return Double(duration) / 1e6
        }
      },
      cell("package/all", "all members written", group, isOurs: false, unit: "ms") { [self] in
        let album = try album()
        let copy = album.parent.appending("copy")
        defer { try? FileManager.default.removeItem(atPath: copy.description) }
        let tree = try PackageTree(openingPackageAt: album)
        return try time { _ = try tree.write(to: copy, .nothing, linking: .never) } / 1e6
      },
      cell("package/calls", "the calls of such an exchange, alone, in C", group, isOurs: false, unit: "ms") { [self] in
        let (album, count) = (try album(), Int64(isTiny ? 10 : 1_000))
        var code: Int32 = 0
        let duration = time {
          code = bench_exchange(directory.path, album.lastComponent.description, count, Int64(Self.memberSize))
        }
        if code != 0 { throw BenchmarkFailure("a package can't be exchanged: errno \(code)") }
        return duration / 1e6
      },
    ]
  }

  /// Another one each time.
  private static var picture: [UInt8] { [UInt8](repeating: .random(in: 0...255), count: memberSize) }

  private var takingTurns: [Cell] {
    let count = isTiny ? 2 : 20
    return [
      cell("turn", "two documents of two processes: type and save", "taking turns") { [self] in
        try turns().typeInTurns(count)
      },
      cell("alone", "one document: type and save", "taking turns", isOurs: false) { [self] in
        try turns().typeAlone(count)
      },
    ]
  }

  // MARK: - Counted

  func counters(_ settings: Settings) throws -> [CounterLine] {
    try [
      ("opening", openingCounters), ("edit", editCounters), ("package", packageCounters),
    ].filter { id, _ in settings.selects("documents/\(id)") }.flatMap { _, lines in try lines() }
  }

  /// Of all threads, the loop's included.
  private func openingCounters() throws -> [CounterLine] {
    let count = Self.operationCount
    // Threads are made once, which isn't the cost of an open.
    try LoopExecutor.perform { [self] in try await openAndClose(count) }
    let allocations = try allocationsOfAllThreads {
      try LoopExecutor.perform { [self] in try await openAndClose(count) }
    }
    return [
      CounterLine(
        "documents/opening/allocations", "calls of malloc and its relatives for one open and close of a document",
        value: Double(allocations) / Double(count), limit: Self.allocationCountMax)
    ]
  }

  private func editCounters() throws -> [CounterLine] {
    let calls = try withEdits(undo: DocumentUndoPolicy()) { document in
      try EventCounter.systemCalls.count { for _ in 0..<1_000 { try document.editNow { $0 = "y" } } }
    }
    guard let calls else { return [] }
    return [CounterLine("documents/edit/system-calls", "system calls of 1,000 edits", value: Double(calls), limit: 0)]
  }

  private func packageCounters() throws -> [CounterLine] {
    let album = try album()
    var tree = try PackageTree(openingPackageAt: album)
    try tree.update(SystemPath("1.png"), [UInt8](repeating: 7, count: Self.memberSize))
    let report = try tree.write(to: album).report
    let before = MemoryUse.now()
    let opened = try PackageTree(openingPackageAt: album)
    _ = try opened.contents(of: SystemPath("2.png"))
    let memory = (MemoryUse.now().allocated - before.allocated) / 1_048_576
    withExtendedLifetime(opened) {}
    return [
      CounterLine(
        "documents/package/bytes", "bytes written for one changed member, in its own",
        value: Double(report.bytesWritten) / Double(Self.memberSize), limit: 1.1),
      CounterLine(
        "documents/package/memory", "MiB of a package that's open, one member of which was read", value: memory,
        limit: 2),
    ]
  }
}

/// A document that takes turns with that of another process, and one without company.
private final class EditorPair {
  private let turns: TakingTurns
  private let alone: TakingTurns
  private let peer: Peer
  private var turn = 0
  private var turnAlone = 0

  init(in directory: URL) throws {
    let socket = directory.appending(path: "s").path
    let meeting = CoordinationDomain.socket(socket)
    for name in ["turns", "alone"] { try Data("0".utf8).write(to: directory.appending(path: name)) }
    turns = TakingTurns(directory.appending(path: "turns").path, meeting)
    alone = TakingTurns(directory.appending(path: "alone").path, meeting)
    peer = try Peer(socket)
    try LoopExecutor.perform { [turns, alone] in
      try await turns.document.open()
      try await alone.document.open()
    }
    try peer.ask("edit \(directory.appending(path: "turns").path)")
  }

  func end() {
    try? LoopExecutor.perform { [turns, alone] in
      try await turns.document.close()
      try await alone.document.close()
    }
    peer.kill()
  }

  /// - Returns: The microseconds of one turn.
  func typeInTurns(_ count: Int) throws -> Double {
    let start = monotonicNanoseconds()
    for _ in 0..<count {
      turn += 2
      try LoopExecutor.perform { [turns, turn] in try await turns.type(turn - 1) }
      try peer.ask("type \(turn)")
    }
    return Double(monotonicNanoseconds() - start) / 1e3 / Double(2 * count)
  }

  /// - Returns: The microseconds of one turn.
  func typeAlone(_ count: Int) throws -> Double {
    let start = monotonicNanoseconds()
    try LoopExecutor.perform { [alone, step = turnAlone] in
      for number in 1...count { try await alone.type(step + number) }
    }
    turnAlone += count
    return Double(monotonicNanoseconds() - start) / 1e3 / Double(count)
  }
}
