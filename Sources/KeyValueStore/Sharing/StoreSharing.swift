package import KeyValueReplicas
package import SystemInterface

/// The place through which a store's devices reach each other.
public struct StoreSharing: Sendable {
  /// Makes the connection for a replica, when it's known.
  ///
  /// Waits are those of the store's clock.
  let makeStorage: @Sendable (StoreIdentity, any CoordinationClock) throws(SharedStorageFailure) -> any SharedStorage

  /// Creates a place.
  ///
  /// - Parameter makeStorage: Makes the connection for one replica.
  package init(
    making makeStorage:
      @escaping @Sendable (StoreIdentity, any CoordinationClock) throws(SharedStorageFailure)
      -> any SharedStorage
  ) {
    self.makeStorage = makeStorage
  }

  /// The connection for one replica.
  package func storage(
    for identity: StoreIdentity, _ clock: any CoordinationClock
  ) throws(SharedStorageFailure) -> any SharedStorage {
    try makeStorage(identity, clock)
  }
}

/// The replica that is to be connected.
package struct StoreIdentity: Hashable, Sendable {
  /// The account's name; `nil` for stores of this device.
  package var account: String?
  /// The store's name.
  package var store: String
  /// The copy on this device.
  package var replica: ReplicaID
  /// How much all devices together may keep.
  package var limits: StoreLimits

  package init(account: String?, store: String, replica: ReplicaID, limits: StoreLimits) {
    self.account = account
    self.store = store
    self.replica = replica
    self.limits = limits
  }
}
