package import ContentHashing
package import SystemInterface

/// The result of an item's conflicts, recorded in one step with its file.
package struct ConflictResolution: Equatable, Sendable {
  /// The contents that the file gets; `nil` if it stays as it is.
  ///
  /// As long as it has others, nothing is resolved.
  package var result: ContentHash?
  /// The versions that are marked as resolved.
  package var resolved: [VersionID]
  /// Those of them that are removed.
  package var removed: [VersionID]
  /// In nanoseconds since 1970.
  package var time: Int64

  package init(result: ContentHash?, resolved: [VersionID], removed: [VersionID], time: Int64) {
    self.result = result
    self.resolved = resolved
    self.removed = removed
    self.time = time
  }
}

extension ConflictResolution {
  var record: StoreRecord {
    var record = StoreRecord()
    if let result { record.add("result", result) }
    record.add("time", time)
    for id in resolved { record.add("resolved", id) }
    for id in removed { record.add("removed", id) }
    return record
  }

  init?(_ record: StoreRecord) {
    guard let time: Int64 = record.number(of: "time") else { return nil }
    let ids = { (key: String) in
      record.values(of: key).compactMap { VersionID(String(decoding: $0, as: UTF8.self)) }
    }
    self.init(
      result: record.value(of: "result").flatMap { ContentHash(hexadecimal: $0) }, resolved: ids("resolved"),
      removed: ids("removed"), time: time)
  }
}

extension VersionStore {
  /// Resolves conflicts in one step with a change of their file.
  ///
  /// From the moment when the file has the result, every process that looks at the history finds the conflicts resolved, also if this
  /// one ends in the middle. Before that moment, it finds all of them.
  ///
  /// - Parameters:
  ///   - resolution: The versions, and the result. If there's none, `write` has no effect on the file.
  ///   - item: The item.
  ///   - path: Its file, as a canonical path.
  ///   - write: Gives the file the result.
  /// - Throws: The error thrown by `write`, or of a system call.
  package func resolve(
    _ resolution: ConflictResolution, of item: ItemID, at path: SystemPath, _ write: () throws -> Void
  ) throws {
    // A file that stays as it is has the result from the beginning: the other effects of `write` come first.
    if resolution.result == nil { try write() }
    try self.write(resolution.record, to: layout.resolution(of: item))
    do {
      if resolution.result != nil { try write() }
    } catch {
      // It may have the result all the same.
      try? completeResolution(of: item, at: path)
      throw error
    }
    try carryOut(resolution, of: item)
  }

  /// Ends a resolution that a crash has cut off, or drops it if the file didn't get the result.
  func completeResolution(of item: ItemID, at path: SystemPath) throws(VersionStoreError) {
    guard let record = try recordIfIntact(at: layout.resolution(of: item)) else { return }
    if let resolution = ConflictResolution(record) {
      let hash = try resolution.result == nil ? nil : contents(ofItemAt: path)?.hash
      if hash == resolution.result {
        try carryOut(resolution, of: item)
        resolutionIsCompleted?(resolution, item, path)
        return
      }
    }
    try unlink(layout.resolution(of: item))
  }

  /// Done again, it completes what was begun.
  private func carryOut(_ resolution: ConflictResolution, of item: ItemID) throws(VersionStoreError) {
    for id in resolution.resolved where !resolution.removed.contains(id) {
      guard let version = try versionIfPresent(id, of: item), version.resolutionTime == nil else { continue }
      _ = try change(id, of: item) { $0.resolutionTime = resolution.time }
    }
    for id in resolution.removed {
      do throws(VersionStoreError) { try retire(id, of: item) } catch .versionIsGone {}
    }
    try unlink(layout.resolution(of: item))
  }
}
