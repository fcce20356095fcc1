import BenchmarkShims
import Glibc

/// Decides between the kernel's ways to watch directories: the cost of the setup of each directory, and the cost for
/// programs that are watched.
extension Suite {
  static let queryWatches = Suite(
    name: "query/watches", summary: "inotify and fanotify's marks for processes without privileges"
  ) { laboratory, report in
    let forest = try FileForest.create(
      at: "\(laboratory.tree.root)/w", fileCount: laboratory.settings.isTiny ? 1000 : 100_000, hasContents: false)
    defer { forest.remove() }
    for (kind, name) in [(BENCH_WATCHER_INOTIFY, "inotify"), (BENCH_WATCHER_FANOTIFY, "fanotify")] {
      do {
        report.results += try laboratory.measure([.watching(forest, kind, name), .changing(forest, kind, name)])
      } catch let error as BenchmarkFailure { report.absent.append("\(name): \(error)") }
    }
    report.results += try laboratory.measure([.changing(forest, BENCH_WATCHER_NONE, "nobody")])
  }
}

extension Cell {
  fileprivate static func watching(_ forest: FileForest, _ kind: Int, _ name: String) -> Cell {
    .microseconds("mark/\(name)", "\(name), for each directory", "to watch directories") {
      var paths = forest.leaves.map { UnsafePointer(strdup($0)) }
      defer { for path in paths { free(UnsafeMutablePointer(mutating: path)) } }
      var nanoseconds = 0.0
      try check(bench_watch_all(CInt(kind), &paths, Int64(paths.count), &nanoseconds))
      return nanoseconds / Double(paths.count)
    }
  }

  fileprivate static func changing(_ forest: FileForest, _ kind: Int, _ name: String) -> Cell {
    let rounds = 20_000
    return .microseconds("change/\(name)", "watched by \(name)", "to create, close and remove a file") {
      var nanoseconds = 0.0
      try check(bench_change_watched(CInt(kind), forest.leaves[0], Int64(rounds), &nanoseconds))
      return nanoseconds / Double(rounds)
    }
  }

  private static func microseconds(
    _ id: String, _ subject: String, _ group: String, nanoseconds: @escaping @Sendable () throws -> Double
  ) -> Cell {
    Cell(id: "query/watches/\(id)", subject: subject, group: group, unit: "µs", isOurs: false) { _ in
      Attempt(value: try nanoseconds() / 1000, disturbance: 0)
    }
  }

  private static func check(_ error: CInt) throws {
    if error != 0 { throw BenchmarkFailure(String(cString: strerror(error))) }
  }
}
