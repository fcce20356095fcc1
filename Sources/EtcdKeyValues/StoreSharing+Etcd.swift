public import EtcdClient
internal import KeyValueReplicas
public import KeyValueStore

extension StoreSharing {
  /// A cluster of etcd, in which each account and store has a prefix of its own.
  ///
  /// All devices of an account need the same cluster. Everybody who may read those keys there can read the values.
  ///
  /// - Parameter client: The client; its limits of time are those of each upload.
  /// - Returns: The place.
  /// - Note: Rules CK-09 to CK-24, CE-07 to CE-10.
  public static func etcd(_ client: EtcdClient) -> StoreSharing {
    StoreSharing { (identity, _) throws(SharedStorageFailure) in
      guard let account = identity.account else {
        throw SharedStorageFailure(.denied, "values without an account aren't shared; sign in first")
      }
      return EtcdStorage(
        client: client, account: account, store: identity.store, replica: identity.replica, limits: identity.limits)
    }
  }
}
