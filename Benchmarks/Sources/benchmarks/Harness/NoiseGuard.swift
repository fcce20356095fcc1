import BenchmarkShims
import Glibc

// Did others use the processors during the measurement? Two answers: threads that have a processor each read how long
// the kernel let them wait for it; more threads than processors wait for each other, so there the busy time of the
// machine that isn't ours counts.

/// How long the calling thread has been ready to run and did not, according to the scheduler.
struct SchedulerWait: Sendable {
  private static let path = "/proc/thread-self/schedstat"

  /// Nanoseconds since the thread began; `nil` where the kernel keeps no such record.
  static func ofCallingThread() -> UInt64? {
    guard let text = readSmallFile(path) else { return nil }
    let fields = text.split(separator: " ")
    return fields.count >= 2 ? UInt64(fields[1]) : nil
  }
}

/// How busy the machine has been, we and others.
struct MachineLoad: Sendable {
  private let busyNanoseconds: UInt64
  private let stolenNanoseconds: UInt64
  private let ownNanoseconds: UInt64

  /// The present values of the kernel's counters; `nil` where there are none.
  static func now() -> MachineLoad? {
    guard let line = readSmallFile("/proc/stat")?.split(separator: "\n").first else { return nil }
    // cpu user nice system idle iowait irq softirq steal
    let ticks = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
    guard ticks.count >= 8 else { return nil }
    let nanosecondsPerTick = 1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK)))
    let busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]
    return MachineLoad(
      busyNanoseconds: busy * nanosecondsPerTick, stolenNanoseconds: ticks[7] * nanosecondsPerTick,
      ownNanoseconds: bench_process_cpu_time())
  }

  /// Processor time that others took since an earlier moment, in nanoseconds.
  ///
  /// The kernel counts whole ticks on each processor, so that a few of them mean nothing.
  func takenByOthers(since earlier: MachineLoad, processors: Int) -> UInt64 {
    let busy = busyNanoseconds - earlier.busyNanoseconds
    let own = ownNanoseconds - earlier.ownNanoseconds
    let stolen = stolenNanoseconds - earlier.stolenNanoseconds
    let granularity = 1_000_000_000 / UInt64(sysconf(Int32(_SC_CLK_TCK))) * UInt64(processors)
    let foreign = busy + stolen
    return foreign > own + granularity ? foreign - own - granularity : 0
  }
}

/// The contents of a file of a few kilobytes that the kernel makes up; `nil` if it can't be read.
func readSmallFile(_ path: String) -> String? {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 65_536)
  let count = read(descriptor, &bytes, bytes.count)
  return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
}
