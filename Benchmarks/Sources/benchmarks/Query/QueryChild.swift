import FileMetadata
import Foundation
import Glibc
import MetadataPredicates

/// Another process of the suite `query`: this program, started again, that carries out the lines of its standard input.
///
/// | line | action | answer |
/// | --- | --- | --- |
/// | `index ROOT` | follows everything there, with no results | by how many bytes that made the process larger |
/// | `follow ROOT` | follows everything there, and reads all batches | `following` |
/// | `current` | waits until all earlier changes are recorded | how many results, added, others; how often events were lost |
final class QueryChild: @unchecked Sendable {
  static let argument = "query-child"

  private var query: MetadataQuery?
  private let counts = Guard((results: 0, added: 0, others: 0))

  static func run() throws -> Int32 {
    let child = QueryChild()
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      print(try child.perform(words[0], words.count > 1 ? words[1] : ""))
      fflush(nil)
    }
    return 0
  }

  private func perform(_ verb: String, _ path: String) throws -> String {
    switch verb {
    case "index":
      let before = MemoryUse.now()
      let query = try MetadataQuery(.fileName == "nothing is called that", in: [URL(filePath: path)])
      try query.start()
      _ = try blocking { try await query.waitUntilCurrent() }
      self.query = query
      return "\(Int(MemoryUse.now().anonymous - before.anonymous))"
    case "follow":
      let query = try MetadataQuery(.constant(true), in: [URL(filePath: path)], batching: .immediate)
      try query.start()
      _ = try blocking { try await query.waitUntilCurrent() }
      read(query)
      self.query = query
      return "following"
    case "current":
      guard let query else { throw BenchmarkFailure("nothing is followed") }
      let results = try blocking { try await query.waitUntilCurrent() }
      // The reader gets the same batch on another thread.
      for _ in 0..<10_000 where counts.withLock({ $0.results }) != results.count { usleep(100) }
      let (_, added, others) = counts.withLock { $0 }
      return "\(results.count) \(added) \(others) \(query.health.overflowCount)"
    default: throw BenchmarkFailure("a child doesn't know '\(verb)'")
    }
  }

  private func read(_ query: MetadataQuery) {
    let began = DispatchSemaphore(value: 0)
    Task.detached { [counts] in
      var changes = query.changes.makeAsyncIterator()
      while let change = await changes.next() {
        if change.finishesGathering {
          began.signal()
          continue
        }
        counts.withLock {
          $0.results = change.results.count
          $0.added += change.added.count
          $0.others += change.removed.count + change.changed.count { !$0.new.isDirectory }
        }
      }
    }
    began.wait()
  }
}

/// A value under a lock.
final class Guard<Value>: @unchecked Sendable {
  private var value: Value
  private let lock = NSLock()

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}

/// Does something on a task, while the calling thread waits.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
  let done = DispatchSemaphore(value: 0)
  let outcome = Guard<Swift.Result<Result, any Error>?>(nil)
  Task.detached {
    do {
      let result = try await body()
      outcome.withLock { $0 = .success(result) }
    } catch {
      outcome.withLock { $0 = .failure(error) }
    }
    done.signal()
  }
  done.wait()
  guard let result = outcome.withLock({ $0 }) else { throw BenchmarkFailure("a task has ended without a result") }
  return try result.get()
}
