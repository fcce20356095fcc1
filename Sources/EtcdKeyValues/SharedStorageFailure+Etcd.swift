package import EtcdClient
package import KeyValueReplicas

extension SharedStorageFailure {
  /// The failure of a call to etcd.
  package init(_ error: EtcdError) {
    let kind: Kind =
      switch error.code {
      case .compacted: .gap
      case .futureRevision: .gap
      // Somebody has to lift it: an endpoint of another cluster is among those of the client.
      case .differentCluster: .denied
      case .permissionDenied, .wrongPassword, .tokenRefused, .authenticationMismatch, .notTrusted: .denied
      case .noSpace, .tooLarge: .full
      default: .unreachable
      }
    self.init(kind, "etcd: \(error)")
  }

  /// The failure to read a key's bytes.
  init(_ flaw: SharedRecord.Flaw, _ key: EtcdBytes) {
    switch flaw {
    case .damaged:
      self.init(.damaged, "the key '\(key)' at etcd isn't one of a key-value store; remove it, or use another store")
    case .newerFormat:
      self.init(
        .newerFormat, "a newer version of this package has written the key '\(key)' at etcd; update this program")
    }
  }
}
