import BenchmarkShims
import Glibc

/// Something that a thread does and that can be counted exactly.
package enum EventCounter: CaseIterable, Sendable {
  case systemCalls
  case contextSwitches
  case allocations
  case retainsAndReleases

  var id: String {
    switch self {
    case .systemCalls: "system-calls"
    case .contextSwitches: "context-switches"
    case .allocations: "allocations"
    case .retainsAndReleases: "retains-releases"
    }
  }

  var title: String {
    switch self {
    case .systemCalls: "system calls"
    case .contextSwitches: "voluntary context switches"
    case .allocations: "calls of malloc and its relatives"
    case .retainsAndReleases: "retains and releases"
    }
  }

  /// Counts the events of the calling thread while `body` runs.
  ///
  /// - Parameter body: The code to observe.
  /// - Returns: The number of events; `nil` where this machine can't count them.
  /// - Throws: The error of `body`.
  @inline(__always)
  package func count<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> UInt64? {
    guard let start = begin() else { return nil }
    do throws(Failure) { try body() } catch {
      _ = end(start)
      throw error
    }
    return end(start)
  }

  /// - Returns: The present value of the counter, or `nil` where there is none.
  private func begin() -> UInt64? {
    switch self {
    case .systemCalls: bench_system_call_counting_begin() ? 0 : nil
    case .contextSwitches: Self.voluntaryContextSwitches()
    case .allocations: bench_allocation_count()
    case .retainsAndReleases: bench_reference_counting_begin() ? 0 : nil
    }
  }

  private func end(_ start: UInt64) -> UInt64 {
    switch self {
    case .systemCalls: return bench_system_call_counting_end() - start
    case .contextSwitches: return Self.voluntaryContextSwitches() - start
    case .allocations: return bench_allocation_count() - start
    case .retainsAndReleases:
      var retains: UInt64 = 0
      var releases: UInt64 = 0
      bench_reference_counting_end(&retains, &releases)
      return retains + releases - start
    }
  }

  private static func voluntaryContextSwitches() -> UInt64 {
    var voluntary: UInt64 = 0
    var involuntary: UInt64 = 0
    bench_context_switches(&voluntary, &involuntary)
    return voluntary
  }
}

extension EventCounter {
  /// Causes events that the counter must see, to show that a zero means something.
  ///
  /// - Returns: The reason why the counter can't be trusted; `nil` if it saw everything.
  package func failure() -> String? {
    let repetitions = 10
    // The counters' own functions are linked on first use, which may need the kernel.
    _ = count {}
    guard let nothing = count({}) else { return "this kernel, processor or Swift runtime can't count them" }
    if nothing != 0 { return "it counts \(nothing) where nothing happens" }
    let object = Witness()
    let seen = count {
      for _ in 0..<repetitions { provoke(object) }
    }
    let expected = UInt64(self == .retainsAndReleases ? 2 * repetitions : repetitions)
    guard let seen, seen == expected || (self == .contextSwitches && seen > expected) else {
      return "it counts \(seen ?? 0) where \(expected) happen"
    }
    return nil
  }

  private func provoke(_ object: Witness) {
    switch self {
    case .systemCalls: _ = getppid()
    case .contextSwitches: usleep(1)
    case .allocations: keep(Witness())
    case .retainsAndReleases:
      bench_retain_and_release(Unmanaged.passUnretained(object).toOpaque())
    }
  }
}

private final class Witness {}

/// The optimizer can't see that the function does nothing with the object.
@inline(never)
@_optimize(none)
private func keep(_ object: Witness) {}
