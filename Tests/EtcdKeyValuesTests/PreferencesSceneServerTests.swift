import EtcdClient
import EtcdKeyValues
import EtcdTestSupport
import Foundation
import FoundationCompatibility
import KeyValueReplicas
import KeyValueStore
import TestSupport
import Testing

/// One of the user's devices, as a process of its own sees it.
private enum Device {
  /// Makes a home with the configuration file.
  static func make(_ home: String, _ endpoint: String) throws {
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    let text = "# One account on all devices.\naccount = ann\netcd = \(endpoint)\n"
    try text.write(toFile: home + "/key-values.conf", atomically: true, encoding: .utf8)
  }

  /// Lets the process be on that device, before it uses any store.
  static func enter(_ home: String) {
    setenv("XDG_DATA_HOME", home, 1)
    setenv("XDG_CONFIG_HOME", home, 1)
  }

  /// The notifications of the default store, from now on.
  static func notifications() -> AsyncStream<(reason: Int, keys: [String])> {
    let (stream, continuation) = AsyncStream<(reason: Int, keys: [String])>.makeStream()
    _ = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: NSUbiquitousKeyValueStore.default,
      queue: nil
    ) { notification in
      let info = notification.userInfo
      continuation.yield(
        (
          info?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int ?? -1,
          info?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String] ?? []
        ))
    }
    return stream
  }

  /// Waits until the place that devices share has everything.
  static func flush() async throws {
    let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
    try await KeyValueStore(name, StoreSettings.userConfiguration()).flush()
  }
}

/// Apple's sample of preferences: a colour that's picked on one device appears on the others.
@Suite(
  "Preferences of two devices at a real server", .blocking, .serialized, .timeLimit(.minutes(3)),
  .enabled(if: EtcdCluster.isInstalled, "there's no program 'etcd'; Debian's package is 'etcd-server'"))
struct PreferencesSceneServerTests {
  @Test(
    "CK-09, CK-10, CK-12: A colour arrives with its reason and key, and what was written without a server meets later")
  func colour() async throws {
    let cluster = try EtcdCluster(count: 1)
    let place = FileManager.default.temporaryDirectory.appending(path: "PreferencesScene.\(UUID().uuidString)").path
    defer { removeSurely(place) }
    let (a, b) = (place + "/a", place + "/b")
    let endpoint = cluster.endpoints[0].url
    for home in [a, b] { try Device.make(home, endpoint) }
    await pick(a, b)
    cluster.kill(0)
    await writeAlone(a, "fromA")
    await writeAlone(b, "fromB")
    try cluster.start(0)
    await meet(a, "fromA")
    await meet(b, "fromA")
    await meet(a, "fromB")
  }

  /// One picks a colour, the other one is notified and answers.
  private func pick(_ a: String, _ b: String) async {
    async let picking: Void = expectSuccess(of: a)
    async let answering: Void = expectAnswer(of: b)
    _ = await (picking, answering)
  }

  private func expectSuccess(of home: String) async {
    await #expect(processExitsWith: .success) { [home = home as String] in
      Device.enter(home)
      let notifications = Device.notifications()
      NSUbiquitousKeyValueStore.default.set("red", forKey: "colour")
      #expect(NSUbiquitousKeyValueStore.default.synchronize())
      for await notification in notifications where notification.keys.contains("answer") {
        #expect(notification.reason == NSUbiquitousKeyValueStoreServerChange && notification.keys == ["answer"])
        break
      }
      #expect(NSUbiquitousKeyValueStore.default.bool(forKey: "answer"))
    }
  }

  private func expectAnswer(of home: String) async {
    await #expect(processExitsWith: .success) { [home = home as String] in
      Device.enter(home)
      for await notification in Device.notifications() where notification.keys.contains("colour") {
        #expect(notification.keys == ["colour"])
        #expect(
          [NSUbiquitousKeyValueStoreServerChange, NSUbiquitousKeyValueStoreInitialSyncChange]
            .contains(notification.reason))
        break
      }
      #expect(NSUbiquitousKeyValueStore.default.string(forKey: "colour") == "red")
      NSUbiquitousKeyValueStore.default.set(true, forKey: "answer")
      try await Device.flush()
    }
  }

  private func writeAlone(_ home: String, _ key: String) async {
    await #expect(processExitsWith: .success) { [home = home as String, key = key as String] in
      Device.enter(home)
      NSUbiquitousKeyValueStore.default.set(key, forKey: key)
      #expect(NSUbiquitousKeyValueStore.default.string(forKey: key) == key)
    }
  }

  /// The device uploads its writes, and waits for a key.
  private func meet(_ home: String, _ key: String) async {
    await #expect(processExitsWith: .success) { [home = home as String, key = key as String] in
      Device.enter(home)
      let notifications = Device.notifications()
      let store = NSUbiquitousKeyValueStore.default
      try await Device.flush()
      if store.string(forKey: key) == nil {
        for await _ in notifications where store.string(forKey: key) != nil { break }
      }
      #expect(store.string(forKey: "colour") == "red" && store.bool(forKey: "answer"))
    }
  }
}
