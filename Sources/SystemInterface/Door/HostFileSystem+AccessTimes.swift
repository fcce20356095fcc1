internal import CSystemShims
internal import Glibc

extension HostFileSystem {
  /// ST_NOATIME of statvfs(3), which glibc declares under `_GNU_SOURCE` only.
  private static let noAccessTimes: UInt = 1 << 10

  /// When the contents of a file were last read, in nanoseconds since 1970.
  ///
  /// With the usual mount option `relatime`, that's the first time since the last change, and the first time of a day.
  ///
  /// - Parameter path: The file; a symbolic link is inspected itself.
  /// - Returns: The time; `nil` where that isn't kept, as with the mount option `noatime`, and for anything but regular files.
  /// - Throws: Errors of lstat(2) and statvfs(3).
  /// - Note: mount(8).
  package func accessTime(of path: SystemPath) throws(SystemError) -> Int64? {
    var status = stat()
    try checked(.status, [path]) { unsafe path.withCString { unsafe lstat($0, &status) } }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    var volume = statvfs()
    try checked(.status, [path]) { unsafe path.withCString { unsafe statvfs($0, &volume) } }
    if volume.f_flag & Self.noAccessTimes != 0 { return nil }
    let time = status.st_atim
    let (scaled, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? nil : scaled + Int64(time.tv_nsec)
  }
}
