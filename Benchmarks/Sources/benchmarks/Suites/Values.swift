import Foundation
import Glibc
import KeyValueReplicas
import KeyValueStore
import Synchronization

extension Suite {
  static let values = Suite(name: "values", summary: "keys and values that programs share (T-90, T-91)") {
    laboratory, report in
    let field = try ValueField(laboratory)
    defer { field.remove() }
    report.results += try laboratory.measure(field.cells)
    report.targets += targets(report)
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func ratio(_ id: String, to other: String) -> Double? {
      report.median("values/\(id)").flatMap { value in report.median("values/\(other)").map { value / $0 } }
    }
    return [
      TargetLine(
        "T-90", "a value read, in times of a dictionary behind a mutex", ratio: ratio("get", to: "get/dictionary"),
        target: 2, higherIsBetter: false),
      TargetLine(
        "T-90 defaults", "values read by UserDefaults meanwhile", ratio: ratio("get/defaults", to: "get"), target: 5,
        higherIsBetter: true, unit: " of one"),
      TargetLine(
        "T-90 set", "a value set, in times of UserDefaults", ratio: ratio("set", to: "set/defaults"), target: 1,
        higherIsBetter: false),
      TargetLine(
        "T-91", "a value set and brought to the disk, in times of fsync(2) after a write",
        ratio: ratio("durable", to: "fsync"),
        target: 2, higherIsBetter: false),
    ]
  }
}

/// The stores of the suite.
///
/// `@unchecked Sendable`: one cell is measured at a time, and only that uses the number.
private final class ValueField: @unchecked Sendable {
  private static let keyCount = 100

  private let directory: String
  private let store: KeyValueStore
  private let dictionary = Mutex<[String: StoredValue]>([:])
  private let defaults: UserDefaults
  private let defaultsName = "file-coordination-benchmarks-\(UUID().uuidString)"
  private let keys = (0..<keyCount).map { "org.example.setting.\($0)" }
  private let isTiny: Bool
  private var number: Int64 = 0

  init(_ laboratory: Laboratory) throws {
    isTiny = laboratory.settings.isTiny
    directory = "\(laboratory.tree.root)/values"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var configuration = KeyValueStore.Configuration()
    configuration.directory = directory + "/stores"
    store = try KeyValueStore("benchmark", configuration)
    guard let defaults = UserDefaults(suiteName: defaultsName) else { throw CocoaError(.fileReadUnknown) }
    self.defaults = defaults
    for key in keys {
      try store.set(.integer(1), for: key)
      dictionary.withLock { $0[key] = .integer(1) }
      defaults.set(1, forKey: key)
    }
  }

  func remove() {
    defaults.removePersistentDomain(forName: defaultsName)
    try? FileManager.default.removeItem(atPath: directory)
  }

  var cells: [Cell] { reading + writing + durable }

  private func cell(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool = true, unit: String = "ns", count: Int,
    _ body: @escaping @Sendable (Int) throws -> Void
  ) -> Cell {
    let count = isTiny ? max(1, count / 100) : count
    let divisor = unit == "ns" ? 1.0 : 1e3
    return Cell(id: "values/\(id)", subject: subject, group: group, unit: unit, isOurs: isOurs) { _ in
      let start = monotonicNanoseconds()
      try body(count)
      return Attempt(value: Double(monotonicNanoseconds() - start) / divisor / Double(count), disturbance: 0)
    }
  }

  private var reading: [Cell] {
    let (group, count) = ("a value read, of 100 keys", 100_000)
    return [
      cell("get", "KeyValueStore: subscript", group, count: count) { [self] count in
        var found = 0
        for index in 0..<count where store[keys[index % keys.count]] != nil { found += 1 }
        precondition(found == count)
      },
      cell("get/dictionary", "a dictionary behind a Mutex", group, isOurs: false, count: count) { [self] count in
        var found = 0
        for index in 0..<count {
          let key = keys[index % keys.count]
          if dictionary.withLock({ $0[key] }) != nil { found += 1 }
        }
        precondition(found == count)
      },
      cell("get/defaults", "UserDefaults: object(forKey:)", group, isOurs: false, count: count) { [self] count in
        var found = 0
        for index in 0..<count where defaults.object(forKey: keys[index % keys.count]) != nil { found += 1 }
        precondition(found == count)
      },
    ]
  }

  private var writing: [Cell] {
    let (group, count) = ("a value set, of 100 keys", 10_000)
    return [
      cell("set", "KeyValueStore: in the file when it returns", group, count: count) { [self] count in
        for index in 0..<count { try store.set(.integer(next()), for: keys[index % keys.count]) }
      },
      cell("set/defaults", "UserDefaults: in memory", group, isOurs: false, count: count) { [self] count in
        for index in 0..<count { defaults.set(Int(next()), forKey: keys[index % keys.count]) }
      },
    ]
  }

  private func next() -> Int64 {
    number += 1
    return number
  }

  private var durable: [Cell] {
    let group = "values on the disk"
    return [
      cell("durable", "KeyValueStore: set and synchronize", group, unit: "µs", count: 20) { [self] count in
        let value = next()
        try LoopExecutor.perform { [store, keys] in
          for index in 0..<count {
            try store.set(.integer(value), for: keys[index % keys.count])
            try await store.synchronize()
          }
        }
      },
      cell("durable/thousand", "1,000 tasks that do so at once", group, unit: "µs", count: 1) { [self] count in
        let value = next()
        let taskCount = isTiny ? 10 : 1_000
        try LoopExecutor.perform { [store, keys] in
          for _ in 0..<count {
            try await withThrowingTaskGroup(of: Void.self) { group in
              for index in 0..<taskCount {
                group.addTask {
                  try store.set(.integer(value), for: keys[index % keys.count])
                  try await store.synchronize()
                }
              }
              try await group.waitForAll()
            }
          }
        }
      },
      cell("fsync", "write(2) and fsync(2)", group, isOurs: false, unit: "µs", count: 20) { [directory] count in
        let descriptor = open(directory + "/plain", O_CREAT | O_WRONLY | O_APPEND, 0o600)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 7, count: 80)
        for _ in 0..<count {
          guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw CocoaError(.fileWriteUnknown)
          }
        }
      },
    ]
  }
}
