import Foundation
import SystemInterface
import TestSupport

@testable import KeyValueReplicas
@testable import KeyValueStore

/// A temporary shared folder; removed with the last reference.
final class FolderSandbox: Sendable {
  let path: String
  /// So few that some changes make the next file with everything.
  static let compaction = FolderContents.Compaction(interval: 4, keptCount: 2, removalCountMax: 3)

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "FolderStorageTests.\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit { removeSurely(path) }

  var directory: String { path + "/me/s" }

  var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []) }

  static func identity(_ replica: UInt64, _ limits: StoreLimits = StoreLimits()) -> StoreIdentity {
    StoreIdentity(account: "me", store: "s", replica: ReplicaID(rawValue: replica), limits: limits)
  }

  func storage(
    _ replica: UInt64, _ limits: StoreLimits = StoreLimits(), files: any FileSystem = HostFileSystem(),
    compaction: FolderContents.Compaction = FolderContents.Compaction()
  ) throws(SharedStorageFailure) -> FolderStorage {
    try FolderStorage(
      SystemPath(path), for: Self.identity(replica, limits), files: files, compaction: compaction)
  }

  /// The same without tasks.
  func contents(
    _ replica: UInt64, files: any FileSystem = HostFileSystem(),
    compaction: FolderContents.Compaction = FolderSandbox.compaction
  ) -> FolderContents {
    FolderContents(
      FolderFiles(files: files, folder: SystemPath(path), account: "me", store: "s"), ReplicaID(rawValue: replica),
      StoreLimits(), compaction)
  }

  func file(_ revision: Int64) -> String { directory + "/" + FolderName.change(revision).path.description }
}

extension FolderContents {
  /// Uploads values over the keys as they are now.
  @discardableResult
  func write(_ values: [String: StoredValue?], upload id: Int) throws(SharedStorageFailure) -> UploadOutcome {
    let upload = Upload.next(values, over: try readAll(), id: id, of: replica)
    return try self.upload(upload)
  }

  /// All values, by their keys.
  func values() throws(SharedStorageFailure) -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    for item in try readAll().items { values[item.key] = item.value }
    return values
  }
}

extension Upload {
  /// An upload that expects everything as it was read.
  static func next(
    _ values: [String: StoredValue?], over all: SharedBatch, id: Int? = nil,
    of replica: ReplicaID = ReplicaID(rawValue: 1)
  ) -> Upload {
    let id = id ?? (all.acknowledgement?.upload ?? 0) + 1
    let items = values.sorted { $0.key < $1.key }.map { key, value in
      Item(
        key: key, value: value, time: HybridTime(wall: Int64(id), count: 0, replica: replica),
        expectedRevision: all.items.first { $0.key == key }?.revision ?? 0, sequence: id)
    }
    return Upload(id: id, items: items, expectedAcknowledgement: all.acknowledgement?.revision ?? 0)
  }
}

/// The kind of the failure of a call.
func failureKind(_ body: () throws(SharedStorageFailure) -> Void) -> SharedStorageFailure.Kind? {
  do throws(SharedStorageFailure) {
    try body()
    return nil
  } catch { return error.kind }
}
