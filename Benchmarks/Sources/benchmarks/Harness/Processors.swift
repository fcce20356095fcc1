import BenchmarkShims
import Foundation
import Glibc

/// The processors this process may use.
struct Processors: Sendable {
  let numbers: [Int32]

  var count: Int { numbers.count }

  static func allowed() -> Processors {
    var numbers = [Int32](repeating: 0, count: 1024)
    let count = min(Int(bench_allowed_cpus(&numbers, Int32(numbers.count))), numbers.count)
    return Processors(numbers: count > 0 ? Array(numbers[..<count]) : [0])
  }

  /// Asks for the highest priority until the program ends, which usually takes privileges.
  ///
  /// Without it a busy machine shows up as noise, and is reported as that.
  func claimPriority() {
    // The scheduler first divides time among sessions, and only then among the processes of one (sched(7)). The session
    // goes on afterwards, so its former priority is restored.
    if AutogroupPriority.set("-20") { atexit { Processors.returnPriority() } }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -20)
  }

  /// Restores the session's priority; for callers that end the program without exit(3).
  static func returnPriority() { AutogroupPriority.set("0") }

  /// Pins the calling thread, as thread `thread` of a run.
  func pin(thread: Int) { bench_pin_thread(0, numbers[thread % count]) }

  /// Pins all threads of this process, and those that they start from now on, away from the first thread of a run.
  ///
  /// Messages between two processors take several times as long as those between two processes that share one, and the
  /// scheduler moves processes together and apart as it likes: this decides which of the two is measured.
  func keepProcessAway() {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    for thread in threads.compactMap({ Int32($0) }) { bench_pin_thread(thread, numbers[count - 1]) }
  }
}

/// The priority of the session's processes among those of other sessions.
private enum AutogroupPriority {
  /// Safe in signal handlers.
  @discardableResult
  static func set(_ value: StaticString) -> Bool {
    let group = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC)
    if group < 0 { return false }
    defer { close(group) }
    return write(group, value.utf8Start, value.utf8CodeUnitCount) > 0
  }
}
