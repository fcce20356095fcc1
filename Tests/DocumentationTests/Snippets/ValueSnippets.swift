import EtcdClient
import EtcdKeyValues
import Foundation
import KeyValueReplicas
import KeyValueStore
import Observation
import Testing

// snippet: values-preference
@Observable final class Settings {
  @ObservationIgnored @StorePreference var theme: String

  init(_ store: KeyValueStore) {
    _theme = StorePreference(StoreKey("theme", default: "light"), in: store)
  }
}
// end

private let theme = StoreKey("theme", default: "light")

@Suite("Snippets about values")
struct ValueSnippets {
  private static func configuration(_ place: Place) -> KeyValueStore.Configuration {
    var configuration = KeyValueStore.Configuration()
    configuration.directory = place.url.resolvingSymlinksInPath().path + "/stores"
    return configuration
  }

  /// Compiled and not run: it would use the stores of the user.
  static func readme() throws -> String {
    // snippet: readme-values
    let store = try KeyValueStore("org.example.Editor")
    try store.set("dark", for: theme)
    let present = store[theme]
    // end
    return present
  }

  /// Compiled and not run: the server is outside of the tests.
  static func sharing() throws -> [KeyValueStore] {
    // snippet: values-sharing
    let fromFile = try KeyValueStore("org.example.Editor", StoreSettings.userConfiguration())

    var configuration = KeyValueStore.Configuration()
    configuration.account = "ann"
    configuration.sharing = .etcd(try EtcdClient(.init(endpoints: [EtcdEndpoint("http://server:2379")])))
    let own = try KeyValueStore("org.example.Editor", configuration)
    // end
    return [fromFile, own]
  }

  @Test("Keys with types, and several of them together")
  func keys() throws {
    let place = try Place()
    let configuration = Self.configuration(place)
    // snippet: values-keys
    let theme = StoreKey("theme", default: "light")
    let launches = StoreKey("launches", default: 0, mergedBy: .counter)

    let store = try KeyValueStore("org.example.Editor", configuration)
    try store.set("dark", for: theme)
    try store.set(store[launches] + 1, for: launches)
    try store.transaction { (values) throws(KeyValueStoreError) in
      values["window.width"] = .integer(800)
      values["window.height"] = .integer(600)
    }
    // end
    #expect(store[theme] == "dark" && store[launches] == 1 && store.dictionary.count == 4)
  }

  @Test("A property of a class that views observe")
  func preference() throws {
    let place = try Place()
    let store = try KeyValueStore("org.example.Editor", Self.configuration(place))
    let settings = Settings(store)
    settings.theme = "dark"
    #expect(store[theme] == "dark")
  }

  @Test("Changes by others")
  func changes() async throws {
    let place = try Place()
    let configuration = Self.configuration(place)
    let store = try KeyValueStore("org.example.Editor", configuration)
    let other = try KeyValueStore("org.example.Editor", configuration)
    let changes = store.changes
    try other.set(.string("dark"), for: "theme")
    var heard: [String] = []
    // snippet: values-changes
    for await change in changes {
      for item in change.items { heard.append("\(change.reason): \(item.key)") }
      if change.reason != .initialSync { break }
    }
    // end
    #expect(heard == ["otherProcess: theme"])
  }
}
