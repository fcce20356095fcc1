import Foundation
import KeyValueReplicas
import Observation
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("Values of a store that views observe", .blocking)
struct StorePreferenceTests {
  private static let theme = StoreKey("theme", default: "light")

  /// Waits until an observer is told, after `change`.
  private func observe(_ preference: StorePreference<String>, _ change: () throws -> Void) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = preference.value
    } onChange: {
      continuation.yield()
    }
    try change()
    var iterator = stream.makeAsyncIterator()
    await iterator.next()
  }

  @Test("Observers are told of values that are set here and by others")
  func observation() async throws {
    let sandbox = try StoreSandbox()
    let (store, other) = (try sandbox.store(), try sandbox.store())
    let preference = StorePreference(Self.theme, in: store)
    #expect(preference.value == "light")
    try await observe(preference) { preference.value = "dark" }
    #expect(preference.value == "dark" && store[Self.theme] == "dark")
    let changes = store.changes
    try await observe(preference) { try other.set("blue", for: Self.theme) }
    var iterator = changes.makeAsyncIterator()
    _ = await iterator.next()
    #expect(preference.value == "blue")
  }

  @Test("KV-13: Without the account, the device has the last value still; a removed one is gone")
  func copies() async throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    configuration.account = "ann"
    let store = try sandbox.store("s", configuration)
    let preference = StorePreference(Self.theme, in: store)
    preference.value = "dark"
    try store.signIn(as: nil)
    #expect(store["theme"] == nil && preference.value == "dark")
    #expect(StorePreference(Self.theme, in: store).value == "dark")
    try store.signIn(as: "ann")
    let other = try sandbox.store("s", configuration)
    try await observe(preference) { try other.remove("theme") }
    // Its copy is removed before the observer's next look at it.
    while try sandbox.store("copies of s")["theme"] != nil { await Task.yield() }
    #expect(preference.value == "light")
  }

  @Observable final class Settings {
    @ObservationIgnored @StorePreference var theme: String
    init(_ store: KeyValueStore) { _theme = StorePreference(StorePreferenceTests.theme, in: store) }
  }

  @Test("A property of an observable class is a value of a store")
  func wrapper() async throws {
    let sandbox = try StoreSandbox()
    let (store, other) = (try sandbox.store(), try sandbox.store())
    let settings = Settings(store)
    settings.theme = "dark"
    #expect(store[Self.theme] == "dark" && settings.theme == "dark" && settings.$theme.lastFailure == nil)
    try await observe(settings.$theme) { try other.set("blue", for: Self.theme) }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = settings.theme
    } onChange: {
      continuation.yield()
    }
    settings.theme = "red"
    var iterator = stream.makeAsyncIterator()
    await iterator.next()
    #expect(store[Self.theme] == "red")
  }

  @Test("Where the copies can't be opened, the values of the store are there, and the reason")
  func withoutCopies() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    // A file is where the directory of the copies belongs.
    let directory = URL(filePath: sandbox.journal("copies of \(store.name)")).deletingLastPathComponent()
    try Data("?".utf8).write(to: directory)
    @StorePreference(Self.theme, in: store) var theme: String
    #expect($theme.lastFailure != nil && theme == "light")
    theme = "dark"
    #expect($theme.lastFailure == nil && store[Self.theme] == "dark")
  }

  @Test("A value that the store doesn't take leaves the former one, and the reason")
  func refusal() throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    configuration.limits.byteCountMax = 10
    let preference = StorePreference(Self.theme, in: try sandbox.store("s", configuration))
    preference.value = String(repeating: "x", count: 11)
    #expect(preference.lastFailure?.code == .tooManyBytes && preference.value == "light")
    preference.value = "dark"
    #expect(preference.lastFailure == nil && preference.value == "dark")
  }
}
