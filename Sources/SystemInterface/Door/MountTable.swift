internal import CSystemShims
internal import Glibc

/// The mounts, as this process sees them; see proc_pid_mountinfo(5).
///
/// Reports changes with EPOLLPRI and EPOLLERR, also mounts over a directory, which inotify(7) doesn't report. Each
/// change is reported once, to the first that checks: to the poller or to ``takeChange()``.
package final class MountTable: DescriptorOwner {
  /// A place where something is mounted.
  package struct Mount: Hashable, Sendable {
    /// Differs between any two mounts that there are at the same time.
    package let number: Int
    package let path: SystemPath
    /// The type of the file system, such as `ext4` or `fuse.sshfs`.
    package let type: String
    /// Whether it's on a block device of this machine; without one, it's in memory, another machine's, made of others, or of btrfs.
    package let hasBlockDevice: Bool
  }

  /// For a ``ReadinessPoller``, awaiting `.exceptional`.
  package let descriptor: OwnedDescriptor

  /// Opens the table.
  ///
  /// - Throws: An error of open(2).
  package init() throws(SystemError) {
    descriptor = OwnedDescriptor(
      try checkedCall("open(2)", Self.path) { unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) })
  }

  private static let path = SystemPath("/proc/self/mountinfo")

  /// Whether something was mounted or unmounted since the last call.
  package func takeChange() -> Bool {
    let result = try? descriptor.checked("poll(2)", Self.path) { shim_mounts_changed($0) }
    return result == 1
  }

  /// All mounts, those that hide others behind them; none if the table can't be read.
  package static var mounts: [Mount] { mounts(in: (try? HostFileSystem().contents(of: path)) ?? []) }

  /// Reads the text of a table; lines that aren't a table's are left out.
  package static func mounts(in text: some Collection<UInt8>) -> [Mount] {
    Array(text).split(separator: UInt8(ascii: "\n")).compactMap(Mount.init)
  }
}

extension MountTable.Mount {
  /// Reads a line: the number comes first, the device third, the path fifth, and the type behind a hyphen, before which fields may come that later
  /// kernels have.
  fileprivate init?(_ line: ArraySlice<UInt8>) {
    let fields = line.split(separator: UInt8(ascii: " "))
    guard fields.count > 5, let number = Int(String(decoding: fields[0], as: UTF8.self)),
      let hyphen = fields[5...].firstIndex(of: [UInt8(ascii: "-")]), hyphen + 1 < fields.count
    else { return nil }
    self.number = number
    // The major number is zero for those that have no device.
    hasBlockDevice = !fields[2].starts(with: "0:".utf8)
    path = SystemPath(mountField: fields[4])
    type = String(decoding: fields[hyphen + 1], as: UTF8.self)
  }
}

extension SystemPath {
  /// Reads a path in a table of mounts, where blanks and the like are written as a backslash and three octal digits.
  fileprivate init(mountField field: ArraySlice<UInt8>) {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    self.init(bytes: bytes)
  }
}
