internal import KeyValueReplicas
public import Observation
internal import SystemInterface

/// A value of a store that views observe, with a copy on this device for the time without an account.
///
/// ```swift
/// @Observable final class Settings {
///   @ObservationIgnored @StorePreference(StoreKey("theme", default: "light"), in: store) var theme: String
/// }
/// settings.theme = "dark"
/// withObservationTracking { show(settings.theme) } onChange: { update() }
/// ```
///
/// It's a property wrapper that is observable itself, and so a type that it's in needn't be: the property isn't stored in the type, which is why
/// `@Observable` has to ignore it. `$theme` is the preference, with its failure. Without a property, use ``value``.
///
/// The value is that of the store. Where the store has none because another account's values have taken its place, it's the last one that
/// this device had: see ``KeyValueStore/signIn(as:isForced:)``. A value that was removed, here or on another device, is gone from the copy too.
///
/// Any thread may read and set it. Observers are told of each change, on the thread that makes it or takes it in.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `failure` | its lock | neither a setter nor the initial value of a property can throw |
///
/// - Note: KV-13.
@propertyWrapper
public final class StorePreference<Value: Codable & Sendable>: Observable, Sendable {
  /// The key in the store.
  public let key: StoreKey<Value>
  private let store: KeyValueStore
  /// The last values of this device; `nil` if they can't be opened.
  private let copies: KeyValueStore?
  private let registrar = ObservationRegistrar()
  private let failure = Guarded<KeyValueStoreError?>(nil)
  private let following = Guarded<Task<Void, Never>?>(nil)

  /// A value of a store.
  ///
  /// - Parameters:
  ///   - key: The key, with the value where there's none.
  ///   - store: The store. The copies are in one beside it; ``lastFailure`` says so if that can't be opened, and there are no copies then.
  public init(_ key: StoreKey<Value>, in store: KeyValueStore) {
    self.key = key
    self.store = store
    var configuration = store.configuration
    (configuration.account, configuration.sharing) = (nil, nil)
    do throws(KeyValueStoreError) {
      copies = try KeyValueStore("copies of \(store.name)", configuration)
    } catch {
      copies = nil
      failure.withLock { $0 = error }
    }
    let changes = store.changes
    // Without a value, the copy is what another account's values have left.
    if let value = store[key.name] { keep(value) }
    let task = Task { [weak self] in
      for await change in changes { self?.take(change) }
    }
    following.withLock { $0 = task }
  }

  deinit { following.withLock { $0?.cancel() } }

  /// The value; setting it writes to the store.
  ///
  /// Setting doesn't throw: ``lastFailure`` says why a value wasn't taken, and the former one stays.
  public var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      if store[key.name] != nil { return store[key] }
      return copies?[key] ?? key.defaultValue
    }
    set {
      let error = registrar.withMutation(of: self, keyPath: \.value) { () -> KeyValueStoreError? in
        do throws(KeyValueStoreError) {
          try store.set(newValue, for: key)
          keep(store[key.name])
          return nil
        } catch { return error }
      }
      failure.withLock { $0 = error }
    }
  }

  /// The same as ``value``: the value of a property with this wrapper.
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
  }

  /// The preference of a property with this wrapper.
  public var projectedValue: StorePreference { self }

  /// The reason why the last value that was set wasn't taken, or why there are no copies.
  public var lastFailure: KeyValueStoreError? { failure.withLock { $0 } }

  private func take(_ change: StoreChange) {
    guard let item = change.items.first(where: { $0.key == key.name }), item.old != item.new else { return }
    registrar.withMutation(of: self, keyPath: \.value) {
      // A value that can't be opened is there, and no reason to forget the copy.
      let isOpened = store.engine.openingFailure(of: key.name) == nil
      if item.new != nil || change.reason != .accountChange && isOpened { keep(item.new) }
    }
  }

  /// A copy that can't be written is one that's missing later, and no reason to refuse the value now.
  private func keep(_ value: StoredValue?) {
    if let copies, copies[key.name] != value { try? copies.set(value, for: key.name) }
  }
}
