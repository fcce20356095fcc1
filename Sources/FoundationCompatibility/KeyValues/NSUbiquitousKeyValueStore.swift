#if !canImport(ObjectiveC)
  internal import EtcdKeyValues
  public import Foundation
  internal import KeyValueReplicas
  public import KeyValueStore
  internal import SystemInterface

  /// The key, in a notification's user info, of the reason for a change: an `Int`.
  public let NSUbiquitousKeyValueStoreChangeReasonKey = "NSUbiquitousKeyValueStoreChangeReasonKey"
  /// The key, in a notification's user info, of the changed keys: a `[String]`.
  public let NSUbiquitousKeyValueStoreChangedKeysKey = "NSUbiquitousKeyValueStoreChangedKeysKey"
  /// The reason of a change by another device, or by another process of this user.
  public let NSUbiquitousKeyValueStoreServerChange = 0
  /// The reason of the first values of a new device.
  public let NSUbiquitousKeyValueStoreInitialSyncChange = 1
  /// The reason for a write that had no room.
  public let NSUbiquitousKeyValueStoreQuotaViolationChange = 2
  /// The reason of the values of another account.
  public let NSUbiquitousKeyValueStoreAccountChange = 3

  /// Values with names that the user's devices share.
  ///
  /// On a `KeyValueStore`. Programs that use that one with the same name see the same values. Without the configuration file that
  /// `StoreSettings` describes, values are those of this device.
  ///
  /// Reading takes no system call. A write is in a file when the call returns. A key that's empty or too long, and a value that's no
  /// property list, would be an exception on Apple platforms: they're reported as misuse, see
  /// ``NSFileCoordinator/setMisuseHandler(_:)``, and change nothing. A write that has no room changes nothing, and
  /// ``didChangeExternallyNotification`` says so.
  ///
  /// - Note: Rules KV-1 to KV-14, CK-01 to CK-23.
  open class NSUbiquitousKeyValueStore: NSObject, @unchecked Sendable {
    /// Others have changed values, or a write had no room.
    ///
    /// The object is the store. It's posted on a thread of the library, in the order of the changes, and never for the program's own writes.
    public static let didChangeExternallyNotification = NSNotification.Name(
      "NSUbiquitousKeyValueStoreDidChangeExternallyNotification")

    private static let shared = Guarded<NSUbiquitousKeyValueStore?>(nil)

    /// The store of the program: the one that was given to ``setDefault(_:)``, or else that of the bundle's identifier or the program's
    /// name.
    open class var `default`: NSUbiquitousKeyValueStore {
      if let store = shared.withLock({ $0 }) { return store }
      let made = NSUbiquitousKeyValueStore(opening: programName)
      return shared.withLock { shared in
        if let shared { return shared }
        shared = made
        return made
      }
    }

    private static var programName: String {
      Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    }

    /// Makes a store the ``default`` one.
    ///
    /// - Parameter store: The store, with the place that devices share.
    public static func setDefault(_ store: KeyValueStore) {
      let made = NSUbiquitousKeyValueStore(store)
      shared.withLock { $0 = made }
    }

    private let store: KeyValueStore?
    private let openError: KeyValueStoreError?
    private let listening = Guarded<Task<Void, Never>?>(nil)

    /// A store on a native one.
    ///
    /// - Parameter store: The native store.
    public convenience init(_ store: KeyValueStore) { self.init(store, nil) }

    private init(_ store: KeyValueStore?, _ error: KeyValueStoreError?) {
      (self.store, openError) = (store, error)
      super.init()
      guard let changes = store?.changes else { return }
      let task = Task { [weak self] in
        for await change in changes { self?.post(change) }
      }
      listening.withLock { $0 = task }
    }

    private convenience init(opening name: String) {
      do throws(KeyValueStoreError) {
        self.init(try KeyValueStore(name, try StoreSettings.userConfiguration()), nil)
      } catch {
        self.init(nil, error)
        Misuse.report("the key-value store '\(name)' can't be opened, and keeps nothing: \(error)")
      }
    }

    deinit { listening.withLock { $0?.cancel() } }

    private func post(_ change: StoreChange) {
      let reason =
        switch change.reason {
        case .server, .otherProcess: NSUbiquitousKeyValueStoreServerChange
        case .initialSync: NSUbiquitousKeyValueStoreInitialSyncChange
        case .quotaViolation: NSUbiquitousKeyValueStoreQuotaViolationChange
        case .accountChange: NSUbiquitousKeyValueStoreAccountChange
        }
      NotificationCenter.default.post(
        name: Self.didChangeExternallyNotification, object: self,
        userInfo: [
          NSUbiquitousKeyValueStoreChangeReasonKey: reason,
          NSUbiquitousKeyValueStoreChangedKeysKey: change.items.map(\.key),
        ])
    }

    // MARK: Reading

    /// The value of a key, as a value of Foundation's or Swift's types; `nil` if it has none.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The value.
    open func object(forKey aKey: String) -> Any? { store?[aKey]?.foundation }

    /// The text of a key; `nil` if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The text.
    open func string(forKey aKey: String) -> String? { object(forKey: aKey) as? String }

    /// The array of a key; `nil` if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The array.
    open func array(forKey aKey: String) -> [Any]? { object(forKey: aKey) as? [Any] }

    /// The dictionary of a key; `nil` if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The dictionary.
    open func dictionary(forKey aKey: String) -> [String: Any]? { object(forKey: aKey) as? [String: Any] }

    /// The bytes of a key; `nil` if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The bytes.
    open func data(forKey aKey: String) -> Data? { object(forKey: aKey) as? Data }

    /// The whole number of a key; 0 if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The number; of a fraction, the part before the point.
    open func longLong(forKey aKey: String) -> Int64 {
      switch store?[aKey] {
      case .integer(let value): value
      case .boolean(let value): value ? 1 : 0
      case .real(let value): value.isNaN ? 0 : Int64(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
      default: 0
      }
    }

    /// The number of a key; 0 if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The number.
    open func double(forKey aKey: String) -> Double {
      switch store?[aKey] {
      case .real(let value): value
      case .integer(let value): Double(value)
      case .boolean(let value): value ? 1 : 0
      default: 0
      }
    }

    /// The truth value of a key; `false` if it has none, or another value.
    ///
    /// - Parameter aKey: The key.
    /// - Returns: The value; of a number, whether it isn't zero.
    open func bool(forKey aKey: String) -> Bool {
      switch store?[aKey] {
      case .boolean(let value): value
      case .integer(let value): value != 0
      case .real(let value): value != 0
      default: false
      }
    }

    /// All keys with their values at one moment.
    open var dictionaryRepresentation: [String: Any] { store?.dictionary.mapValues(\.foundation) ?? [:] }

    // MARK: Writing

    /// Sets the value of a key.
    ///
    /// - Parameters:
    ///   - anObject: A property-list value; `nil` removes the key.
    ///   - aKey: The key.
    open func set(_ anObject: Any?, forKey aKey: String) {
      guard let anObject else { return write(nil, aKey) }
      guard let value = StoredValue(foundation: anObject) else {
        return Misuse.report(
          "the value of the key '\(aKey)' is a \(type(of: anObject)), which is no property list: nothing was set")
      }
      write(value, aKey)
    }

    /// Sets the value of a key to a text.
    ///
    /// - Parameters:
    ///   - aString: The text; `nil` removes the key.
    ///   - aKey: The key.
    open func set(_ aString: String?, forKey aKey: String) { write(aString.map(StoredValue.string), aKey) }

    /// Sets the value of a key to bytes.
    ///
    /// - Parameters:
    ///   - aData: The bytes; `nil` removes the key.
    ///   - aKey: The key.
    open func set(_ aData: Data?, forKey aKey: String) { write(aData.map { .data(Array($0)) }, aKey) }

    /// Sets the value of a key to an array.
    ///
    /// - Parameters:
    ///   - anArray: An array of property-list values; `nil` removes the key.
    ///   - aKey: The key.
    open func set(_ anArray: [Any]?, forKey aKey: String) { set(anArray as Any?, forKey: aKey) }

    /// Sets the value of a key to a dictionary.
    ///
    /// - Parameters:
    ///   - aDictionary: A dictionary of property-list values; `nil` removes the key.
    ///   - aKey: The key.
    open func set(_ aDictionary: [String: Any]?, forKey aKey: String) { set(aDictionary as Any?, forKey: aKey) }

    /// Sets the value of a key to a whole number.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - aKey: The key.
    open func set(_ value: Int64, forKey aKey: String) { write(.integer(value), aKey) }

    /// Sets the value of a key to a number.
    ///
    /// - Parameters:
    ///   - value: The number.
    ///   - aKey: The key.
    open func set(_ value: Double, forKey aKey: String) { write(.real(value), aKey) }

    /// Sets the value of a key to a truth value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - aKey: The key.
    open func set(_ value: Bool, forKey aKey: String) { write(.boolean(value), aKey) }

    /// Removes a key.
    ///
    /// - Parameter aKey: The key.
    open func removeObject(forKey aKey: String) { write(nil, aKey) }

    private func write(_ value: StoredValue?, _ key: String) {
      guard let store else { return }
      do throws(KeyValueStoreError) {
        // A key that isn't there may have any name.
        if value == nil { try store.remove(key) } else { try store.set(value, for: key) }
      } catch {
        // Those are told by the notification.
        if error.code != .tooManyKeys && error.code != .tooManyBytes { Misuse.report(error.description) }
      }
    }

    /// Brings the values to the disk.
    ///
    /// It waits for no server. All writes are in a file before, so it's needed only against a loss of power.
    ///
    /// - Returns: `false` if the store can't be opened or brought to the disk.
    /// - Note: Rule CK-14.
    @discardableResult
    open func synchronize() -> Bool { store?.synchronizeBlocking() ?? false }
  }
#endif
