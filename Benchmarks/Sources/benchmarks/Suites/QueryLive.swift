import FileMetadata
import Foundation
import Glibc
import MetadataPredicates

extension Suite {
  static let queryLive = Suite(
    name: "query/live", summary: "results that follow what happens, beside watchman and inotifywait (T-45 to T-48)"
  ) { laboratory, report in
    let settings = laboratory.settings
    let live = try LiveSearches(laboratory, &report.absent)
    defer { live.end() }
    report.results += try laboratory.measure(live.cells)
    report.targets += targets(report)
    if settings.selects("query/live/nested") {
      let found = try live.nestedRounds(laboratory)
      let peer = found.peer.map { "inotifywait: \(format($0))" } ?? "inotifywait isn't installed"
      report.targets.append(
        TargetLine(
          "T-46",
          "share of files found in fresh directories, the least of \(settings.nestedRoundCount) rounds; \(peer)",
          ratio: found.ours, target: 1))
    }
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func milliseconds(_ id: String) -> Double? { report.median("query/live/\(id)") }
    func line(_ id: String, _ what: String, _ row: String, _ target: Double) -> TargetLine {
      TargetLine(id, what, ratio: milliseconds(row), target: target, higherIsBetter: false, unit: " ms")
    }
    return [
      line("T-45", "one change, until it's told", "change/ours", 1),
      line("T-47", "lost events, until the exact difference is known", "lost/ours", 500),
      line("T-48", "a directory renamed, all files of which are results, beyond rename(2)", "renamed/ours", 20),
      TargetLine(
        "T-48 size",
        "a directory renamed, no file of which is a result, beyond rename(2), in times of one with a tenth of the files",
        ratio: report.speed("query/live/renamed/tenth", comparedWith: "query/live/renamed/others"), target: 1.5,
        higherIsBetter: false),
    ]
  }
}

/// Trees that change while they're followed.
private final class LiveSearches: Sendable {
  private enum Group {
    static let change = "one file made, until it's told"
    static let lost = "events lost, until everything is known"
    static let renamed = "a directory renamed, until it's told"
    static let since = "what ten written files have changed, asked for afterwards"
  }

  private let settings: Settings
  private let directory: String
  private let watchman: Watchman?
  private let hasInotifywait: Bool
  private let number = Guard(0)

  init(_ laboratory: Laboratory, _ absent: inout [String]) throws {
    settings = laboratory.settings
    directory = "\(laboratory.tree.root)/live"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    hasInotifywait = ShellCommand.isInstalled("inotifywait")
    watchman = ShellCommand.isInstalled("watchman") ? try Watchman(in: laboratory.tree.root) : nil
    for (name, isThere) in [("inotifywait", hasInotifywait), ("watchman", watchman != nil)] where !isThere {
      let line = "\(name): not installed"
      if !absent.contains(line) { absent.append(line) }
    }
  }

  func end() { watchman?.end() }

  /// A new directory.
  private func fresh() throws -> String {
    let path = "\(directory)/\(number.withLock { $0 += 1; return $0 })"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  var cells: [Cell] { changes + losses + renames + catchUps }

  private func cell(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool = true,
    _ experiment: @escaping @Sendable () throws -> Double
  ) -> Cell {
    .experiment("query/live/\(id)", subject, group, isOurs: isOurs, nanoseconds: experiment)
  }
}

// MARK: - One change

extension LiveSearches {
  private static let changeCount = 20

  private var changes: [Cell] {
    var cells = [
      cell("change/ours", "MetadataQuery", Group.change) { [self] in
        let root = try fresh()
        let query = try MetadataQuery(.constant(true), in: [URL(filePath: root)], batching: .immediate)
        try query.start()
        defer { query.stop() }
        return try blocking {
          var changes = query.changes.makeAsyncIterator()
          while let change = await changes.next(), !change.finishesGathering {}
          var samples: [Double] = []
          for file in 0..<Self.changeCount {
            let start = monotonicNanoseconds()
            try FileForest.write("\(root)/\(file)")
            guard await changes.next() != nil else { throw BenchmarkFailure("the query has ended") }
            samples.append(Double(monotonicNanoseconds() - start))
            // The other changes of this file.
            _ = try await query.waitUntilCurrent()
          }
          return Measurement(samples: samples).median
        }
      }
    ]
    if hasInotifywait {
      cells.append(
        cell("change/inotifywait", "inotifywait -m -r", Group.change, isOurs: false) { [self] in
          let root = try fresh()
          let program = try follow(root)
          return try samples {
            try FileForest.write("\(root)/\($0)")
            _ = try program.line()
          }
        })
    }
    if watchman != nil {
      cells.append(
        cell("change/watchman", "watchman, a subscription", Group.change, isOurs: false) { [self] in
          let root = try fresh()
          let server = try Watchman(in: URL(filePath: directory).deletingLastPathComponent().path)
          defer { server.end() }
          try server.ask("[\"watch\",\"\(root)\"]")
          try server.ask("[\"subscribe\",\"\(root)\",\"s\",{\"fields\":[\"name\"]}]")
          return try samples { number in
            try FileForest.write("\(root)/file\(number).")
            // The server also reports the subscription and the directory.
            while !String(decoding: try server.line(), as: UTF8.self).contains("file\(number).") {}
          }
        })
    }
    return cells
  }

  private func samples(_ change: (Int) throws -> Void) throws -> Double {
    let samples = try (0..<Self.changeCount).map { number in try time { try change(number) } }
    return Measurement(samples: samples).median
  }

  private func follow(_ root: String) throws -> LineProgram {
    let program = try LineProgram(
      "/usr/bin/env", ["inotifywait", "-m", "-r", "--format", "%w%f", "-e", "create,moved_to", root],
      mergesErrors: true)
    while try program.line() != "Watches established." {}
    return program
  }
}

// MARK: - Lost events

extension LiveSearches {
  private var losses: [Cell] {
    var cells = [
      cell("lost/ours", "MetadataQuery", Group.lost) { [self] in
        let root = try fresh()
        let child = try LineProgram(QueryChild.path, [QueryChild.argument])
        _ = try child.ask("follow \(root)")
        let duration = try lose(root, child.identifier) {
          let answer = try child.ask("current").split(separator: " ").compactMap { Int($0) }
          let expected = [settings.lostFileCount, settings.lostFileCount, 0, settings.isTiny ? 0 : 1]
          if answer != expected { throw BenchmarkFailure("\(answer) instead of \(expected) after lost events") }
        }
        try FileManager.default.removeItem(atPath: root)
        return duration
      }
    ]
    if watchman != nil {
      cells.append(
        cell("lost/watchman", "watchman, files since then", Group.lost, isOurs: false) { [self] in
          let root = try fresh()
          let server = try Watchman(in: URL(filePath: directory).deletingLastPathComponent().path)
          defer { server.end() }
          try server.ask("[\"watch\",\"\(root)\"]")
          try server.query(root, "\"suffix\":\"nothing\"")
          let duration = try lose(root, server.identifier) { try server.query(root, "\"expression\":[\"type\",\"f\"]") }
          try FileManager.default.removeItem(atPath: root)
          return duration
        })
    }
    return cells
  }

  /// Makes more files while a process is stopped than the kernel keeps events for.
  ///
  /// - Returns: The time from its continuation until it has recorded them.
  private func lose(_ root: String, _ process: Int32, _ ask: () throws -> Void) throws -> Double {
    kill(process, SIGSTOP)
    for file in 0..<settings.lostFileCount { try FileForest.write("\(root)/f\(file)") }
    return try time {
      kill(process, SIGCONT)
      try ask()
    }
  }
}

// MARK: - Renamed directories

extension LiveSearches {
  private var renames: [Cell] {
    let count = settings.renamedFileCount
    let none = MetadataPredicate.fileName.hasSuffix(".nothing") || .fileName.hasPrefix("renamed")
    var cells = [
      cell("renamed/ours", "MetadataQuery, \(count) results, after rename(2)", Group.renamed) { [self] in
        try rename(count, .constant(true)).ours
      },
      cell("renamed/kernel", "rename(2) itself, meanwhile", Group.renamed, isOurs: false) { [self] in
        try rename(count, .constant(true)).kernel
      },
      cell("renamed/others", "the directory is the only result, after rename(2)", Group.renamed) { [self] in
        try rename(count, none, times: Self.changeCount).ours
      },
      cell("renamed/others/kernel", "rename(2) itself, meanwhile", Group.renamed, isOurs: false) { [self] in
        try rename(count, none, times: Self.changeCount).kernel
      },
      cell("renamed/tenth", "the same, \(count / 10) files, after rename(2)", Group.renamed) { [self] in
        try rename(count / 10, none, times: Self.changeCount).ours
      },
      cell("renamed/tenth/kernel", "rename(2) itself, meanwhile", Group.renamed, isOurs: false) { [self] in
        try rename(count / 10, none, times: Self.changeCount).kernel
      },
    ]
    if watchman != nil {
      cells.append(
        cell("renamed/watchman", "watchman, \(count) files since then, with rename(2)", Group.renamed, isOurs: false) {
          [self] in
          let root = try tree(count)
          let server = try Watchman(in: URL(filePath: directory).deletingLastPathComponent().path)
          defer { server.end() }
          try server.ask("[\"watch\",\"\(root)\"]")
          try server.query(root, "\"suffix\":\"nothing\"")
          return try time {
            Glibc.rename("\(root)/d", "\(root)/renamed")
            try server.query(root, "\"expression\":[\"type\",\"f\"]")
          }
        })
    }
    return cells
  }

  private func tree(_ count: Int) throws -> String {
    let root = try fresh()
    try FileManager.default.createDirectory(atPath: "\(root)/d", withIntermediateDirectories: true)
    for file in 0..<count { try FileForest.write("\(root)/d/f\(file)") }
    return root
  }

  /// Renames a directory to and fro, and gives the medians of the time in rename(2), and of the time from its return to the batch.
  ///
  /// The first one right after a search takes longer, and the longer the more files have just been made and read; so does rename(2) alone.
  private func rename(
    _ count: Int, _ predicate: MetadataPredicate, times: Int = 1
  ) throws -> (kernel: Double, ours: Double) {
    let root = try tree(count)
    let query = try MetadataQuery(predicate, in: [URL(filePath: root)], batching: .immediate)
    try query.start()
    defer { query.stop() }
    return try blocking {
      var changes = query.changes.makeAsyncIterator()
      while let change = await changes.next(), !change.finishesGathering {}
      var kernel: [Double] = []
      var ours: [Double] = []
      for round in 0..<times {
        let names = round.isMultiple(of: 2) ? ("d", "renamed") : ("renamed", "d")
        let start = monotonicNanoseconds()
        Glibc.rename("\(root)/\(names.0)", "\(root)/\(names.1)")
        let end = monotonicNanoseconds()
        guard await changes.next() != nil else { throw BenchmarkFailure("the query has ended") }
        kernel.append(Double(end - start))
        ours.append(Double(monotonicNanoseconds() - end))
        _ = try await query.waitUntilCurrent()
      }
      return (Measurement(samples: kernel).median, Measurement(samples: ours).median)
    }
  }
}

// MARK: - Nested directories

extension LiveSearches {
  /// The least share of files that are found in directories that were made right before them.
  func nestedRounds(_ laboratory: Laboratory) throws -> (ours: Double, peer: Double?) {
    var ours = 1.0
    var peer = hasInotifywait ? 1.0 : nil
    for round in 1...settings.nestedRoundCount {
      laboratory.progress("nested directories, round \(round) of \(settings.nestedRoundCount)")
      ours = min(ours, try nestedByUs())
      if let least = peer { peer = min(least, try nestedByInotifywait()) }
    }
    return (ours, peer)
  }

  private func makeNested(_ root: String) throws {
    for number in 0..<settings.nestedCount {
      for directory in ["\(root)/\(number)", "\(root)/\(number)/a", "\(root)/\(number)/a/b", "\(root)/\(number)/a/b/c"]
      {
        mkdir(directory, 0o755)
      }
      try FileForest.write("\(root)/\(number)/a/b/c/f")
    }
  }

  /// Counts the files that batches add, not those that are there in the end.
  private func nestedByUs() throws -> Double {
    let root = try fresh()
    let query = try MetadataQuery(.fileName == "f", in: [URL(filePath: root)], batching: .immediate)
    try query.start()
    _ = try blocking { try await query.waitUntilCurrent() }
    let began = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let count = Guard(0)
    Task.detached {
      var changes = query.changes.makeAsyncIterator()
      while let change = await changes.next() {
        count.withLock { $0 += change.added.count - change.removed.count }
        if change.finishesGathering { began.signal() }
      }
      ended.signal()
    }
    began.wait()
    try makeNested(root)
    _ = try blocking { try await query.waitUntilCurrent() }
    query.stop()
    ended.wait()
    return Double(count.withLock { $0 }) / Double(settings.nestedCount)
  }

  private func nestedByInotifywait() throws -> Double {
    let root = try fresh()
    let program = try follow(root)
    try makeNested(root)
    // The last reported file.
    usleep(300_000)
    try FileForest.write("\(root)/end")
    var count = 0
    while true {
      let line = try program.line()
      if line == "\(root)/end" { break }
      if line.hasSuffix("/f") { count += 1 }
    }
    return Double(count) / Double(settings.nestedCount)
  }
}

// MARK: - Changes since a cursor

extension LiveSearches {
  private var catchUps: [Cell] {
    let count = settings.renamedFileCount
    return [
      cell("since/ours", "changes(since:), \(count) results", Group.since) { [self] in try catchUp(count) },
      cell("since/tenth", "the same, \(count / 10) results", Group.since) { [self] in try catchUp(count / 10) },
    ]
  }

  private func catchUp(_ count: Int) throws -> Double {
    let root = try tree(count)
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: root)], batching: .immediate)
    try query.start()
    defer { query.stop() }
    return try blocking {
      _ = try await query.waitUntilCurrent()
      var samples: [Double] = []
      for round in 0..<Self.changeCount {
        guard let cursor = query.cursor else { throw BenchmarkFailure("the query isn't started") }
        for file in 0..<10 { try FileForest.write("\(root)/d/new\(round).\(file)") }
        _ = try await query.waitUntilCurrent()
        let start = monotonicNanoseconds()
        guard case .changes(let change, _)? = query.changes(since: cursor), change.added.count == 10 else {
          throw BenchmarkFailure("ten files haven't been told")
        }
        samples.append(Double(monotonicNanoseconds() - start))
      }
      return Measurement(samples: samples).median
    }
  }
}
