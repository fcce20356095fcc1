import FoundationEssentials

/// A limit of the system, and how much of it is comfortable.
struct SystemLimit {
  let name: String
  let comfortable: Int
  let advice: String

  /// Each process that takes part is one connection of whichever process serves.
  static let openFiles = SystemLimit(
    name: "open files of a process", comfortable: 256, advice: "raise it with 'ulimit -n', up to its hard limit")

  /// The library watches directories on the way to files, to notice when a path leads elsewhere.
  static let inotify = [
    SystemLimit(
      name: "max_user_instances", comfortable: 64,
      advice: "sysctl fs.inotify.max_user_instances=128; each process that coordinates takes up to three"),
    SystemLimit(
      name: "max_user_watches", comfortable: 8192,
      advice: "sysctl fs.inotify.max_user_watches=65536; each directory on the path to a file takes one"),
    SystemLimit(
      name: "max_queued_events", comfortable: 1024, advice: "sysctl fs.inotify.max_queued_events=16384"),
  ]

  /// The kernel's value; `nil` when it doesn't have the limit.
  var value: Int? {
    let text = try? String(contentsOfFile: "/proc/sys/fs/inotify/\(name)", encoding: .utf8)
    return text.flatMap { Int($0.prefix { $0.isNumber }) }
  }

  /// A low limit makes things slow or fail under load, so it's a note and not a fault.
  func check(_ value: Int?, _ report: HealthReport) {
    guard let value else {
      return report.note("\(name): unknown", advice: "nothing, unless accesses by URL are slow: inotify is missing")
    }
    if value < comfortable {
      report.note("\(name): \(value), which is low", advice: advice)
    } else {
      report.good("\(name): \(value)")
    }
  }
}
