internal import SystemInterface

/// The account of a user, and the place that the account's devices share, as a file says it.
///
/// The file is `$XDG_CONFIG_HOME/key-values.conf`, which is `~/.config/key-values.conf` unless the variable is set. Each line has the name of a
/// setting and its value, or is empty or a comment:
///
/// ```
/// # The household's settings.
/// account = ann
/// folder = /srv/household/values
/// ```
///
/// | setting | value |
/// | --- | --- |
/// | `account` | the name of the account; all devices with this name and place have the same values |
/// | `folder` | the absolute path of a directory that the devices share |
/// | `etcd` | the addresses of an etcd cluster's servers, with spaces between them |
/// | `user`, `password-file` | the user of the cluster, and the file with the password, which only its owner may read |
/// | `authority`, `certificate`, `key` | the files for TLS |
public struct StoreSettings: Hashable, Sendable {
  /// The name of the account.
  public var account: String?
  /// The absolute path of a directory that the devices share.
  public var folder: String?
  /// The addresses of an etcd cluster's servers.
  public var servers: [String] = []
  /// The user of the cluster.
  public var user: String?
  /// The absolute path of the file with the password.
  public var passwordFile: String?
  /// The absolute path of the certificate of the authority to trust.
  public var authority: String?
  /// The absolute path of the certificate of this device.
  public var certificate: String?
  /// The absolute path of the certificate's key.
  public var key: String?

  /// Nothing is set.
  public init() {}

  /// Reads settings.
  ///
  /// - Parameters:
  ///   - text: The contents of a file.
  ///   - path: Its path, for errors.
  /// - Throws: ``KeyValueStoreError`` with the code `invalidConfiguration` and the number of the line.
  public init(text: String, path: String) throws(KeyValueStoreError) {
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.trimmingSpaces
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let equal = line.firstIndex(of: "=") else {
        throw Self.error(path, number, "a line needs a name, an equals sign and a value")
      }
      let (name, value) = (line[..<equal].trimmingSpaces, line[line.index(after: equal)...].trimmingSpaces)
      guard try set(String(name), String(value), path, number) else {
        throw Self.error(
          path, number,
          "there's no setting '\(name)'; there are account, folder, etcd, user, password-file, authority, certificate and key"
        )
      }
    }
    if folder != nil && !servers.isEmpty {
      throw KeyValueStoreError(.invalidConfiguration, "'\(path)' has a folder and servers; a store has one place")
    }
    if account == nil && (folder != nil || !servers.isEmpty) {
      throw KeyValueStoreError(.invalidConfiguration, "'\(path)' has no account; add a line 'account = NAME'")
    }
  }

  private mutating func set(
    _ name: String, _ value: String, _ path: String, _ number: Int
  ) throws(KeyValueStoreError) -> Bool {
    func file() throws(KeyValueStoreError) -> String {
      if !value.hasPrefix("/") { throw Self.error(path, number, "'\(value)' must be an absolute path") }
      return value
    }
    switch name {
    case "account": account = value
    case "folder": folder = try file()
    case "etcd": servers = value.split(separator: " ").map(String.init)
    case "user": user = value
    case "password-file": passwordFile = try file()
    case "authority": authority = try file()
    case "certificate": certificate = try file()
    case "key": key = try file()
    default: return false
    }
    return true
  }

  private static func error(_ path: String, _ number: Int, _ text: String) -> KeyValueStoreError {
    KeyValueStoreError(.invalidConfiguration, "\(path), line \(number + 1): \(text)")
  }

  /// The path of the user's file, whether it's there or not; `nil` where the user has no home.
  public static var path: String? {
    let variable = HostEnvironment.value(of: "XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = HostEnvironment.value(of: "HOME").flatMap { $0.hasPrefix("/") ? $0 + "/.config" : nil }
    return (variable ?? home).map { $0 + "/key-values.conf" }
  }

  /// Reads the user's file.
  ///
  /// - Returns: Its settings; `nil` if there's no such file.
  /// - Throws: ``KeyValueStoreError``: `invalidConfiguration`, or the failure of a system call.
  public static func load() throws(KeyValueStoreError) -> StoreSettings? {
    guard let path else { return nil }
    let bytes = try translating { () throws(SystemError) -> [UInt8]? in
      do throws(SystemError) { return try HostFileSystem().contents(of: SystemPath(path)) } catch {
        if error.isAbsence { return nil }
        throw error
      }
    }
    guard let bytes else { return nil }
    return try StoreSettings(text: String(decoding: bytes, as: UTF8.self), path: path)
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
      return ""
    }
    return self[first...last]
  }
}
