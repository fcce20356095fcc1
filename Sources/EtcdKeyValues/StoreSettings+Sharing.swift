internal import EtcdClient
internal import HTTPTransport
internal import KeyValueReplicas
public import KeyValueStore
internal import SystemInterface

extension StoreSettings {
  /// The configuration that the user's file asks for; that of values of this device where there's none.
  ///
  /// - Returns: The configuration, with the account and the place that devices share.
  /// - Throws: ``KeyValueStoreError`` with the code `invalidConfiguration`, or the failure of a system call.
  public static func userConfiguration() throws(KeyValueStoreError) -> KeyValueStore.Configuration {
    guard let settings = try load() else { return KeyValueStore.Configuration() }
    return try settings.configuration()
  }

  /// The configuration that these settings ask for.
  ///
  /// - Returns: The configuration, with the account and the place that devices share.
  /// - Throws: ``KeyValueStoreError`` with the code `invalidConfiguration`, or the failure of a system call.
  public func configuration() throws(KeyValueStoreError) -> KeyValueStore.Configuration {
    var configuration = KeyValueStore.Configuration()
    configuration.account = account
    if let folder { configuration.sharing = .folder(folder) }
    if !servers.isEmpty { configuration.sharing = try etcd() }
    return configuration
  }

  /// The client isn't made before it's needed: a program whose system has no libcurl has its values nevertheless, and the status of the
  /// store says what's missing.
  private func etcd() throws(KeyValueStoreError) -> StoreSharing {
    let wantsTLS = authority != nil || certificate != nil || key != nil
    if wantsTLS, let plain = servers.first(where: { !$0.lowercased().hasPrefix("https://") }) {
      throw KeyValueStoreError(
        .invalidConfiguration,
        "the server '\(plain)' isn't asked through TLS, for which there are files: begin its address with https://")
    }
    var client = EtcdClient.Configuration(endpoints: servers.map { EtcdEndpoint($0) }, user: user)
    if let passwordFile { client.password = try Self.password(in: passwordFile) }
    let options = CurlTransport.Options(
      certificateAuthorityPath: authority, certificatePath: certificate, keyPath: key)
    let configuration = client
    return StoreSharing { (identity, clock) throws(SharedStorageFailure) in
      let client: EtcdClient
      do throws(EtcdError) { client = try EtcdClient(configuration, options: options) } catch {
        throw SharedStorageFailure(error)
      }
      return try StoreSharing.etcd(client).storage(for: identity, clock)
    }
  }

  private static func password(in file: String) throws(KeyValueStoreError) -> String {
    let path = SystemPath(file)
    do throws(SystemError) {
      let (bytes, status) = try HostFileSystem().contentsAndStatus(of: path, countMax: 4096)
      if status.mode & 0o077 != 0 {
        throw SystemError(
          call: "openat(2)", paths: [path], errno: SystemError.Number.permissionDenied.rawValue,
          advice: "Others may read the password. Take their permissions back: chmod 600.")
      }
      return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    } catch { throw KeyValueStoreError(.invalidConfiguration, "the password can't be read: \(error)") }
  }
}
