import BenchmarkShims

/// The processors this process may use.
struct Processors: Sendable {
  let numbers: [Int32]

  var count: Int { numbers.count }

  static func allowed() -> Processors {
    var numbers = [Int32](repeating: 0, count: 1024)
    let count = min(Int(bench_allowed_cpus(&numbers, Int32(numbers.count))), numbers.count)
    return Processors(numbers: count > 0 ? Array(numbers[..<count]) : [0])
  }

  /// Pins the calling thread, as thread `thread` of a run.
  func pin(thread: Int) { bench_pin_thread(numbers[thread % count]) }
}
