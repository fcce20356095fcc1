import BenchmarkShims
import FileMetadata
import Foundation
import MetadataPredicates

extension Suite {
  static let query = Suite(
    name: "query", summary: "finding files beside find, fdfind, bfs, plocate and watchman (T-40 to T-44)"
  ) { laboratory, report in
    laboratory.progress("making \(laboratory.settings.fileCount) files")
    let forest = try FileForest.create(at: "\(laboratory.tree.root)/q", fileCount: laboratory.settings.fileCount)
    defer { forest.remove() }
    let searches = try Searches(forest, laboratory, &report.absent)
    defer { searches.end() }
    report.results += try laboratory.measure(searches.cells)
    report.targets += targets(report)
    report.targets.append(try memory(forest, report))
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func milliseconds(_ id: String) -> Double? { report.median("query/\(id)") }
    return [
      TargetLine(
        "T-40", "all names and all watches, speed of bfs",
        ratio: report.speed("query/names/ours", comparedWith: "query/names/bfs"), target: 1),
      TargetLine(
        "T-41", "sizes and dates, sorted, in times of reading them in C",
        ratio: report.speed("query/facts/floor", comparedWith: "query/facts/ours"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-42", "live, speed of watchman",
        ratio: report.speed("query/ready/ours", comparedWith: "query/ready/watchman"),
        target: 5),
      TargetLine(
        "T-44 suffix", "a second query, by suffix", ratio: milliseconds("suffix/ours"), target: 3,
        higherIsBetter: false,
        unit: " ms"),
      TargetLine(
        "T-44 size", "a second query, by size", ratio: milliseconds("size/ours"), target: 5, higherIsBetter: false,
        unit: " ms"),
    ]
  }

  private static func memory(_ forest: FileForest, _ report: Report) throws -> TargetLine {
    let child = try LineProgram(QueryChild.path, [QueryChild.argument])
    let bytes = Double(try child.ask("index \(forest.root)")) ?? .nan
    let count = Double(forest.leaves.count * FileForest.directorySize)
    return TargetLine(
      "T-43", "memory for each file, with its name, its watch and everything", ratio: bytes / count, target: 100,
      higherIsBetter: false, goal: 70, unit: " B")
  }
}

extension QueryChild {
  /// This program.
  static var path: String { URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path }
}

extension Cell {
  /// An event that can't be caused in a loop: each experiment measures its own duration.
  static func experiment(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool, nanoseconds: @escaping @Sendable () throws -> Double
  ) -> Cell {
    Cell(id: id, subject: subject, group: group, unit: "ms", isOurs: isOurs) { _ in
      Attempt(value: try nanoseconds() / 1_000_000, disturbance: 0)
    }
  }
}

/// Waits until no query of this process follows anything: a search begins with the index that a query of the same tree
/// still has, and that query ends its work a moment after it was stopped.
private func waitForEngines() throws {
  let tasks = "/proc/self/task"
  while try FileManager.default.contentsOfDirectory(atPath: tasks).contains(where: { task in
    // One that has ended meanwhile has no name.
    (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8))?.hasPrefix("file-index") == true
  }) {
    usleep(1_000)
  }
}

func time(_ body: () throws -> Void) rethrows -> Double {
  let start = monotonicNanoseconds()
  try body()
  return Double(monotonicNanoseconds() - start)
}

/// Searches of one tree, by us and by others.
private final class Searches: Sendable {
  private let forest: FileForest
  private let directory: String
  private let watchman: Watchman?
  /// Keeps an index for further queries.
  private let standing: MetadataQuery
  private let absentPrograms: Set<String>

  private enum Group {
    static let names = "all names, from nothing"
    static let facts = "sizes and dates of all files, from nothing"
    static let ready = "until changes are told"
    static let suffix = "names that end with .swift"
    static let size = "files of more than 400 bytes"
  }

  init(_ forest: FileForest, _ laboratory: Laboratory, _ absent: inout [String]) throws {
    self.forest = forest
    directory = laboratory.tree.root
    let programs = ["find", "fdfind", "bfs", "plocate", "updatedb", "watchman", "inotifywait"]
    absentPrograms = Set(programs.filter { !ShellCommand.isInstalled($0) })
    absent += absentPrograms.sorted().map { "\($0): not installed" }
    watchman = absentPrograms.contains("watchman") ? nil : try Watchman(in: directory)
    try watchman?.ask("[\"watch\",\"\(forest.root)\"]")
    try watchman?.query(forest.root, "\"suffix\":\"nothing\"")
    standing = try MetadataQuery(.fileName == "nothing is called that", in: [URL(filePath: forest.root)])
    if !absentPrograms.contains("updatedb") { _ = try updateDatabase.time() }
    try keepIndex()
  }

  func end() { watchman?.end() }

  private var updateDatabase: ShellCommand {
    ShellCommand(
      program: "updatedb",
      line: "updatedb -l 0 -U \(forest.root) -o \(directory)/plocate.db --prunepaths '' --prunefs ''")
  }

  var cells: [Cell] { names + facts + ready + suffix + size }

  // MARK: From nothing

  private var names: [Cell] {
    let root = forest.root
    return [
      first("names", Group.names, sortedBy: [], depth: .names), again,
    ]
      + command("names/bfs", Group.names, "bfs", "bfs \(root) -type f | wc -l")
      + command("names/find", Group.names, "find", "find \(root) -type f | wc -l")
      + command("names/fdfind", Group.names, "fdfind", "fdfind -u -t f . \(root) | wc -l")
      + (absentPrograms.contains("updatedb")
        ? [] : [command("names/updatedb", "updatedb", Group.names, updateDatabase)])
  }

  private var facts: [Cell] {
    let root = forest.root
    return [
      first(
        "facts", Group.facts, sortedBy: [.init("kMDItemFSContentChangeDate", .descending), .init("kMDItemFSSize")]),
      .experiment("query/facts/floor", "readdir and statx in C, nothing kept", Group.facts, isOurs: false) {
        time { _ = bench_walk_with_status(root) }
      },
    ]
      + command("facts/find", Group.facts, "find", "find \(root) -printf '%p %s %T@ %i\\n' | wc -l")
      + command("facts/fdfind", Group.facts, "fdfind", "fdfind -u -S +400b . \(root) | wc -l")
  }

  /// The names once more, in a further run of a program that has kept its index.
  private var again: Cell {
    first(
      "names/again", "MetadataQuery, with watches and a kept index", Group.names, sortedBy: [],
      ScopeOptions(gatheringDepth: .names, indexDirectory: indexDirectory))
  }

  private var indexDirectory: URL { URL(filePath: "\(directory)/index") }

  /// Keeps the index with which the first further run begins; by an engine of its own, because of another option that
  /// doesn't matter.
  private func keepIndex() throws {
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: forest.root)],
      options: ScopeOptions(gatheringDepth: .names, pollingInterval: .seconds(2), indexDirectory: indexDirectory))
    defer { query.stop() }
    try query.start()
    // Nothing is kept of the last three seconds.
    sleep(4)
    try blocking {
      try await query.waitUntilCurrent()
      try await query.saveIndex()
    }
  }

  private func first(
    _ id: String, _ group: String, sortedBy descriptors: [MetadataSortDescriptor],
    depth: ScopeOptions.GatheringDepth = .attributes
  ) -> Cell {
    first(
      id, "MetadataQuery, with watches", group, sortedBy: descriptors, ScopeOptions(gatheringDepth: depth))
  }

  private func first(
    _ id: String, _ subject: String, _ group: String, sortedBy descriptors: [MetadataSortDescriptor],
    _ options: ScopeOptions
  ) -> Cell {
    .experiment("query/\(id)/ours", subject, group, isOurs: true) { [forest] in
      let query = try MetadataQuery(
        .constant(true), in: [URL(filePath: forest.root)], sortedBy: descriptors, options: options)
      defer { query.stop() }
      try waitForEngines()
      return try time {
        try query.start()
        let results = try blocking { try await query.waitUntilCurrent() }
        if results.count < forest.leaves.count * FileForest.directorySize {
          throw BenchmarkFailure("\(results.count) results are too few")
        }
      }
    }
  }

  private var ready: [Cell] {
    // All files of its index in the end, as with the others.
    var cells = [first("ready", Group.ready, sortedBy: [])]
    if watchman != nil {
      cells.append(
        .experiment("query/ready/watchman", "watchman, a server that runs", Group.ready, isOurs: false) { [self] in
          let server = try Watchman(in: directory)
          defer { server.end() }
          return try time {
            try server.ask("[\"watch\",\"\(forest.root)\"]")
            try server.query(forest.root, "\"suffix\":\"nothing\"")
          }
        })
    }
    if !absentPrograms.contains("inotifywait") {
      cells.append(
        .experiment("query/ready/inotifywait", "inotifywait -m -r", Group.ready, isOurs: false) { [forest] in
          let start = monotonicNanoseconds()
          let program = try LineProgram(
            "/usr/bin/env", ["inotifywait", "-m", "-r", "-e", "create", forest.root], mergesErrors: true)
          while try program.line() != "Watches established." {}
          return Double(monotonicNanoseconds() - start)
        })
    }
    return cells
  }

  // MARK: With an index

  private var suffix: [Cell] {
    let root = forest.root
    return [second("suffix", .fileName.hasSuffix(".swift"), Group.suffix)]
      + asked("suffix", "\"suffix\":\"swift\"", Group.suffix)
      + command("suffix/plocate", Group.suffix, "plocate", "plocate -d \(directory)/plocate.db -c .swift")
      + command("suffix/find", Group.suffix, "find", "find \(root) -name '*.swift' | wc -l")
      + command("suffix/fdfind", Group.suffix, "fdfind", "fdfind -u -e swift . \(root) | wc -l")
  }

  private var size: [Cell] {
    let root = forest.root
    return [second("size", .fileSize > .bytes(400), Group.size)]
      + asked("size", "\"expression\":[\"allof\",[\"type\",\"f\"],[\"size\",\"gt\",400]]", Group.size)
      + command("size/find", Group.size, "find", "find \(root) -type f -size +400c | wc -l")
      + command("size/fdfind", Group.size, "fdfind", "fdfind -u -S +400b . \(root) | wc -l")
  }

  /// One more query over a scope that is followed.
  private func second(_ id: String, _ predicate: MetadataPredicate, _ group: String) -> Cell {
    .experiment("query/\(id)/ours", "a further MetadataQuery", group, isOurs: true) { [self] in
      try standing.start()
      _ = try blocking { [standing] in try await standing.waitUntilCurrent() }
      defer { standing.stop() }
      let query = try MetadataQuery(predicate, in: [URL(filePath: forest.root)])
      defer { query.stop() }
      return try time {
        try query.start()
        let results = try blocking { try await query.waitUntilCurrent() }
        if results.isEmpty { throw BenchmarkFailure("nothing was found") }
      }
    }
  }

  private func asked(_ id: String, _ what: String, _ group: String) -> [Cell] {
    guard let watchman else { return [] }
    return [
      .experiment("query/\(id)/watchman", "watchman, names over its socket", group, isOurs: false) { [forest] in
        try time { try watchman.query(forest.root, what) }
      }
    ]
  }

  // MARK: Commands

  private func command(_ id: String, _ group: String, _ program: String, _ line: String) -> [Cell] {
    if absentPrograms.contains(program) { return [] }
    let subject = line.replacingOccurrences(of: forest.root, with: "T").replacingOccurrences(of: directory, with: "D")
    return [command(id, subject, group, ShellCommand(program: program, line: line))]
  }

  private func command(_ id: String, _ subject: String, _ group: String, _ command: ShellCommand) -> Cell {
    .experiment("query/\(id)", subject, group, isOurs: false) { try command.time() }
  }
}
