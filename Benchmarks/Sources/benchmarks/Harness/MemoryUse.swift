import BenchmarkShims
import Glibc

/// How much memory the process has, as the kernel and as malloc see it.
struct MemoryUse: Sendable {
  /// Private memory that isn't backed by a file, in bytes: the machine can't use it for anything else.
  let anonymous: Double
  /// Memory that malloc has handed out, in bytes.
  let allocated: Double

  /// The memory in use now, after free memory has been given back.
  static func now() -> MemoryUse {
    bench_malloc_trim()
    let line = (readSmallFile("/proc/self/smaps_rollup") ?? "").split(separator: "\n")
      .first { $0.hasPrefix("Anonymous:") }
    let kilobytes = line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }
    return MemoryUse(anonymous: (kilobytes ?? .nan) * 1024, allocated: Double(bench_malloc_in_use()))
  }

  /// How much more memory the process had at most while `body` ran than right before; see proc_pid_clear_refs(5).
  ///
  /// - Parameter body: The code to observe.
  /// - Returns: The number of bytes, in steps of a page and at least one; other threads' memory counts, too.
  /// - Throws: The error of `body`, or a failure where the kernel doesn't tell.
  static func peakGrowth(_ body: () throws -> Void) throws -> Double {
    bench_malloc_trim()
    let clearing = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    defer { close(clearing) }
    guard unsafe write(clearing, "5", 1) == 1, let before = status("VmRSS:") else {
      throw BenchmarkFailure("the kernel doesn't reset the peak of the memory: errno \(errno)")
    }
    try body()
    return max((status("VmHWM:") ?? .nan) - before, 4096)
  }

  private static func status(_ key: String) -> Double? {
    let line = (readSmallFile("/proc/self/status") ?? "").split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }.map { $0 * 1024 }
  }
}
