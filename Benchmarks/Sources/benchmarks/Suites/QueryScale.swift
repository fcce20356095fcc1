import FileMetadata
import Foundation
import MetadataPredicates

extension Suite {
  static let queryScale = Suite(
    name: "query/scale", summary: "a million files: time, memory, a hundred changes (T-49, T-50)"
  ) { laboratory, report in
    let settings = laboratory.settings
    laboratory.progress("making \(settings.manyFileCount) files")
    let many = try FileForest.create(
      at: "\(laboratory.tree.root)/many", fileCount: settings.manyFileCount, hasContents: false)
    defer { many.remove() }
    let few = try FileForest.create(
      at: "\(laboratory.tree.root)/few", fileCount: settings.manyFileCount / 5, hasContents: false)
    defer { few.remove() }
    let group = "a larger tree, for each file"
    report.results += try laboratory.measure([
      gathering("many", many, group), gathering("few", few, group), changes(in: many),
    ])
    report.targets += try targets(report, many)
  }

  /// How many nanoseconds the first search takes for each file.
  private static func gathering(_ id: String, _ forest: FileForest, _ group: String) -> Cell {
    let count = forest.leaves.count * FileForest.directorySize
    return Cell(
      id: "query/scale/\(id)", subject: "\(count) files gathered and live", group: group, unit: "ns", isOurs: true
    ) {
      _ in
      // An index of its own, even if that of the experiment before hasn't ended yet.
      let query = try MetadataQuery(
        .constant(true), in: [URL(filePath: forest.root)], options: ScopeOptions(watchCountMax: 10_000_000))
      defer { query.stop() }
      let duration = try time {
        try query.start()
        _ = try blocking { try await query.waitUntilCurrent() }
      }
      return Attempt(value: duration / Double(count), disturbance: 0)
    }
  }

  private static let changeCount = 100

  /// From the last of some changes until one batch reports all of them, in results that are sorted by name.
  private static func changes(in forest: FileForest) -> Cell {
    let id = "query/scale/changes"
    let subject = "\(changeCount) changes in all results, sorted by name"
    return .experiment(id, subject, "changes in many results", isOurs: true) {
      let query = try MetadataQuery(
        .constant(true), in: [URL(filePath: forest.root)], sortedBy: [.init("kMDItemFSName")], batching: .immediate)
      try query.start()
      defer { query.stop() }
      _ = try blocking { try await query.waitUntilCurrent() }
      query.pause()
      for number in 0..<changeCount {
        let leaf = forest.leaves[number * forest.leaves.count / changeCount]
        try FileForest.write("\(leaf)/new\(UInt32.random(in: 0 ... .max))")
      }
      // Everything is in the index; the batch is yet to be made.
      _ = try blocking { try await query.waitUntilCurrent() }
      let before = query.results.count
      return try time {
        query.resume()
        let after = try blocking { try await query.waitUntilCurrent() }
        if after.count != before + changeCount { throw BenchmarkFailure("\(before) results and then \(after.count)") }
      }
    }
  }

  private static func targets(_ report: Report, _ many: FileForest) throws -> [TargetLine] {
    let child = try LineProgram(QueryChild.path, [QueryChild.argument])
    let bytes = Double(try child.ask("index \(many.root)")) ?? .nan
    return [
      TargetLine(
        "T-49", "\(changeCount) changes in the sorted results, one batch", ratio: report.median("query/scale/changes"),
        target: 5, higherIsBetter: false, unit: " ms"),
      TargetLine(
        "T-50 memory", "memory for \(many.leaves.count * FileForest.directorySize) files", ratio: bytes / 1_048_576,
        target: 120, higherIsBetter: false, unit: " MiB"),
      TargetLine(
        "T-50 time", "time for each file, in times of a fifth of the files",
        ratio: report.speed("query/scale/few", comparedWith: "query/scale/many"), target: 1.3, higherIsBetter: false),
    ]
  }
}
