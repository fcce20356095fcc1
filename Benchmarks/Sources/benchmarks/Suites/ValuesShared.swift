import EtcdClient
import EtcdKeyValues
import Foundation
import Glibc
import KeyValueReplicas
import KeyValueStore

extension Suite {
  static let valuesShared = Suite(
    name: "values/shared", rows: "values/shared", summary: "values that two devices share at etcd (T-92, T-93)"
  ) { laboratory, report in
    guard ShellCommand.isInstalled("etcd") else {
      report.absent.append("etcd: there's no such program; Debian's package is etcd-server")
      return
    }
    let field = try SharedField(laboratory)
    defer { field.remove() }
    report.results += try laboratory.measure(field.cells)
    report.targets += targets(report)
    report.counters.append(
      CounterLine(
        "values/shared/uploads", "uploads of 1,000 values set of 10 keys, of as many as the budget allows",
        value: field.uploadShare, limit: 1))
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    let ours = report.median("values/shared/arrival")
    let raw = report.median("values/shared/arrival/etcd")
    return [
      TargetLine(
        "T-92", "a value set until another device has it, in times of a put until its watch has it",
        ratio: ours.flatMap { ours in raw.map { ours / $0 } }, target: 2, higherIsBetter: false),
      TargetLine(
        "T-93",
        "1,000 values set of 10 keys until another device has the last, in times of 1,000 puts until a watch has the last",
        ratio: report.median("values/shared/thousand").flatMap { ours in
          report.median("values/shared/thousand/etcd").map { ours / $0 }
        }, target: 1, higherIsBetter: false),
    ]
  }
}

/// Two devices at one server.
///
/// `@unchecked Sendable`: one cell is measured at a time, and only that uses the variables.
private final class SharedField: @unchecked Sendable {
  private static let uploadCountMax = 5

  private let directory: String
  private let server: LineProgram
  private let client: EtcdClient
  private let a: KeyValueStore
  private let b: KeyValueStore
  private let limited: KeyValueStore
  private let isTiny: Bool
  private var number: Int64 = 0
  /// The most uploads of a thousand values, of those that are allowed.
  private(set) var uploadShare = 0.0

  init(_ laboratory: Laboratory) throws {
    isTiny = laboratory.settings.isTiny
    directory = "\(laboratory.tree.root)/shared-values"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let ports = (try Self.freePort(), try Self.freePort())
    let url = "http://127.0.0.1:\(ports.0)"
    server = try LineProgram(
      "/usr/bin/env",
      [
        "etcd", "--data-dir", directory + "/etcd", "--listen-client-urls", url, "--advertise-client-urls", url,
        "--listen-peer-urls", "http://127.0.0.1:\(ports.1)", "--log-level", "error",
      ])
    var configuration = EtcdClient.Configuration(endpoints: [EtcdEndpoint(url)])
    configuration.attemptCountMax = 10_000
    let client = try EtcdClient(configuration)
    self.client = client
    try LoopExecutor.perform { _ = try await client.get("ready") }
    func device(_ home: String, _ store: String, _ interval: Duration) throws -> KeyValueStore {
      var configuration = KeyValueStore.Configuration()
      configuration.directory = "\(laboratory.tree.root)/shared-values/\(home)"
      configuration.account = "a"
      configuration.sharing = .etcd(client)
      configuration.uploadInterval = interval
      configuration.uploadCountMax = Self.uploadCountMax
      return try KeyValueStore(store, configuration)
    }
    (a, b) = (try device("a", "s", .zero), try device("b", "s", .zero))
    limited = try device("c", "s", .milliseconds(100))
  }

  func remove() {
    server.kill()
    try? FileManager.default.removeItem(atPath: directory)
  }

  private static func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
      }
    }
    guard descriptor >= 0, result == 0 else { throw BenchmarkFailure("no port is free on loopback") }
    return UInt16(bigEndian: address.sin_port)
  }

  var cells: [Cell] { arrival + thousand }

  private func cell(
    _ id: String, _ subject: String, _ group: String, isOurs: Bool = true, unit: String,
    _ body: @escaping @Sendable () throws -> Double
  ) -> Cell {
    Cell(id: "values/shared/\(id)", subject: subject, group: group, unit: unit, isOurs: isOurs) { _ in
      Attempt(value: try body(), disturbance: 0)
    }
  }

  private func next() -> Int64 {
    number += 1
    return number
  }

  private var arrival: [Cell] {
    let group = "a value on another device"
    let count = isTiny ? 2 : 100
    return [
      cell("arrival", "KeyValueStore: set until the change", group, unit: "µs") { [self] in
        let numbers = (0..<count).map { _ in next() }
        return try LoopExecutor.perform { [a, b] in
          var changes = b.changes.makeAsyncIterator()
          let start = monotonicNanoseconds()
          for number in numbers {
            try a.set(.integer(number), for: "k")
            while b["k"] != .integer(number) { _ = await changes.next() }
          }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(count)
        }
      },
      cell("arrival/etcd", "EtcdClient: put until the watch", group, isOurs: false, unit: "µs") { [self] in
        try LoopExecutor.perform { [client] in
          var batches = client.watch(.key("raw")).makeAsyncIterator()
          // The watch begins with the first batch.
          try await client.put("raw", "0")
          let first = try await client.range(.key("raw")).keyValues.first?.modRevision ?? 0
          while let batch = try await batches.next(), batch.revision < first {}
          let start = monotonicNanoseconds()
          for number in 0..<count {
            try await client.put("raw", EtcdBytes("\(number)"))
            _ = try await batches.next()
          }
          return Double(monotonicNanoseconds() - start) / 1e3 / Double(count)
        }
      },
    ]
  }

  private var thousand: [Cell] {
    let group = "1,000 values of 10 keys"
    let count = isTiny ? 20 : 1_000
    return [
      cell("thousand", "KeyValueStore: set until the last is there, five uploads and ten a second", group, unit: "ms") {
        [self] in
        let numbers = (0..<count).map { _ in next() }
        let before = try revision()
        let (elapsed, after) = try LoopExecutor.perform { [b, limited, client] in
          var changes = b.changes.makeAsyncIterator()
          let start = monotonicNanoseconds()
          for (index, number) in numbers.enumerated() { try limited.set(.integer(number), for: "key \(index % 10)") }
          try await limited.flush()
          while b["key \((numbers.count - 1) % 10)"] != numbers.last.map(StoredValue.integer) {
            _ = await changes.next()
          }
          let elapsed = Double(monotonicNanoseconds() - start) / 1e6
          return (elapsed, try await client.range(.key("ready")).revision)
        }
        let allowed = Double(Self.uploadCountMax) + elapsed / 100 + 1
        uploadShare = max(uploadShare, Double(after - before) / allowed)
        return elapsed
      },
      cell("thousand/etcd", "EtcdClient: put, until a watch has the last", group, isOurs: false, unit: "ms") { [self] in
        try LoopExecutor.perform { [client] in
          var batches = client.watch(.prefix("thousand/")).makeAsyncIterator()
          let start = monotonicNanoseconds()
          var last: Int64 = 0
          for number in 0..<count {
            last = try await client.put(EtcdBytes("thousand/\(number % 10)"), EtcdBytes("\(number)"))
          }
          while let batch = try await batches.next(), batch.revision < last {}
          return Double(monotonicNanoseconds() - start) / 1e6
        }
      },
    ]
  }

  private func revision() throws -> Int64 {
    try LoopExecutor.perform { [client] in try await client.range(.key("ready")).revision }
  }
}
