import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// A temporary directory for stores; removed with the last reference.
final class StoreSandbox: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "KeyValueStoreTests.\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { removeSurely(path) }

  func configuration(_ home: String = "home") -> KeyValueStore.Configuration {
    var configuration = KeyValueStore.Configuration()
    configuration.directory = path + "/" + home
    return configuration
  }

  func store(
    _ name: String = "s", _ configuration: KeyValueStore.Configuration? = nil,
    files: any FileSystem = HostFileSystem(), watching means: StoreWatch.Means = StoreWatch.Means()
  ) throws(KeyValueStoreError) -> KeyValueStore {
    try KeyValueStore(
      name, configuration ?? self.configuration(), files: files, now: { HostWallClock.now }, watching: means)
  }

  /// The path of a store's journal.
  func journal(_ name: String = "s", home: String = "home") -> String { "\(path)/\(home)/-local/\(name)/journal" }

  func bytes(_ file: String) throws -> [UInt8] { try HostFileSystem().contents(of: SystemPath(file)) }
}

/// The code of the error that a call throws.
func code(_ body: () throws(KeyValueStoreError) -> Void) -> KeyValueStoreError.Code? {
  do throws(KeyValueStoreError) {
    try body()
    return nil
  } catch { return error.code }
}

extension KeyValueStore {
  /// Waits until it has values, for at most a minute.
  func wait(for values: [String: StoredValue]) async {
    let wakeUp = WakeUp()
    engine.add(wakeUp)
    let end = HostClock.shared.now.advanced(by: .seconds(60))
    while dictionary != values, HostClock.shared.now < end {
      await wakeUp.wait(until: end, HostClock.shared)
    }
    #expect(dictionary == values, "\(status)")
  }
}
