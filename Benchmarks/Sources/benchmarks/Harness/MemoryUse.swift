import BenchmarkShims

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
}
