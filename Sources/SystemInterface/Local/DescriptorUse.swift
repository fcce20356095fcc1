/// How many files a process has open, and may have.
package struct DescriptorUse: Hashable, Sendable {
  /// How many it has open.
  package let count: Int
  /// How many it may have open.
  package let countMax: Int

  /// Inspects a process of the same user.
  ///
  /// It's `nil` when the process has ended or belongs to another user.
  ///
  /// - Parameter pid: Its number.
  /// - Note: proc_pid_fd(5) and proc_pid_limits(5).
  package init?(of pid: Int32) {
    let files = HostFileSystem()
    let descriptors = SystemPath("/proc/\(pid)/fd")
    var count = 0
    do throws(SystemError) {
      try files.withDescriptor(descriptors, flags: .directory) { (directory) throws(SystemError) in
        while let entries = try files.readDirectory(directory) { count += entries.count }
      }
    } catch { return nil }
    guard let limits = ProcessStatus.contents("limits", of: pid), let countMax = Self.limit(in: limits) else {
      return nil
    }
    self.count = count
    self.countMax = countMax
  }

  /// The soft limit, the first number of its line.
  static func limit(in limits: [UInt8]) -> Int? {
    let lines = limits.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    guard let line = lines.first(where: { $0.hasPrefix("Max open files") }) else { return nil }
    let words = line.dropFirst("Max open files".count).split(separator: " ")
    return words.first.flatMap { $0 == "unlimited" ? .max : Int($0) }
  }

  /// Whether hardly another one can be opened.
  package var isExhausted: Bool { count >= countMax - 2 }
}
