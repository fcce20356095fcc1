internal import ContentHashing
internal import SystemInterface

/// Names this machine for good, also if it gets another host name.
enum DeviceIdentity {
  /// The first 32 hexadecimal digits of a hash of machine-id(5), which must not be shown itself; the host name where there's none.
  static func identifier(hostName: String) -> String {
    let paths = ["/etc/machine-id", "/var/lib/dbus/machine-id"].map { SystemPath($0) }
    let digits = paths.lazy.compactMap { try? HostFileSystem().contents(of: $0) }
      .map { $0.prefix { byte in byte != UInt8(ascii: "\n") } }
      .first { $0.count == 32 }
    guard let digits else { return hostName }
    return String(ContentHash(of: Array("swift-file-coordination/device/".utf8) + digits).description.prefix(32))
  }
}
