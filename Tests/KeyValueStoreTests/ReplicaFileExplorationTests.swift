import Foundation
import KeyValueReplicas
import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// The real file, and processes that end at each call or at a drawn one, beside a plain dictionary.
@Suite("The journal of a store and processes that end", .blocking)
struct ReplicaFileExplorationTests {
  /// A process as far as the disk can tell: from a call on none is made.
  private static func dying(atCall number: Int) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.number < number { return call.call == .synchronize ? .skip : .proceed }
      return call.call == .close ? .proceed : .fail(5)
    }
  }

  private static func file(_ directory: SystemPath, _ files: any FileSystem) throws(KeyValueStoreError) -> ReplicaFile {
    // So short that it's written anew after some writes.
    try ReplicaFile.opened(in: directory, files: files, compactingFrom: 700) { ReplicaCore($0) }
  }

  private static func write(_ key: String, _ value: StoredValue?) -> ReplicaInput {
    .write([KeyWrite(key, value)], isForced: false)
  }

  @Test(
    "CK-24: A process may end at any call: all acknowledged writes are there, and the last one whole or not at all")
  func eachCall() throws {
    let sandbox = try StoreSandbox()
    let keys = (0..<12).map { "key \($0)" }
    var number = 1
    var endedCount = 0
    while true {
      let directory = SystemPath(sandbox.path + "/\(number)")
      try HostFileSystem().makeDirectory(directory, at: .workingDirectory, mode: 0o700)
      var acknowledged: [String: StoredValue] = [:]
      var last: (key: String, value: StoredValue)?
      let door = Self.dying(atCall: number)
      do throws(KeyValueStoreError) {
        var file = try Self.file(directory, door)
        for (index, key) in keys.enumerated() {
          let value = StoredValue.string(String(repeating: "v", count: index * 10))
          last = (key, value)
          _ = try file.append(at: Int64(index)) { (_) in Self.write(key, value) }
          acknowledged[key] = value
          last = nil
        }
      } catch { endedCount += 1 }
      let next = try Self.file(directory, HostFileSystem())
      var allowed = [acknowledged]
      if let last { allowed.append(acknowledged.merging([last.key: last.value]) { $1 }) }
      #expect(allowed.contains(next.core.values), "call \(number)")
      if door.log.count < number { break }
      number += 1
    }
    // After the last write, a call that fails makes nothing undone.
    #expect(endedCount > 40, "\(endedCount) of \(number - 1)")
  }

  @Test(
    "CK-24: Several processes that write, end and come back have all acknowledged writes, and equal values",
    arguments: Budget.seeds(normal: 60, long: 800, complete: 3_000))
  func random(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let sandbox = try StoreSandbox()
    let directory = SystemPath(sandbox.path)
    var expected: [String: StoredValue] = [:]
    let names = ["a", "b", "c", "d"]
    var members: [Member] = []
    for _ in 0..<3 { members.append(Member(try Self.file(directory, HostFileSystem()))) }
    for step in 0..<60 {
      let index = random.below(members.count)
      let member = members[index]
      switch random.below(12) {
      case 0..<7:
        let key = random.pick(names)
        let value = random.chance(1, in: 5) ? nil : StoredValue.data(Array(repeating: 1, count: random.below(120)))
        #expect(try member.write(key, value, at: Int64(step)) == expected[key])
        expected[key] = value
      case 7, 8:
        try member.catchUp()
        #expect(member.values == expected, "step \(step)")
      case 9:
        // It ends at a call of a write.
        let (last, written) = Self.die(in: directory, atCall: 1 + random.below(30), at: step, key: random.pick(names))
        for (key, value) in written { expected[key] = value }
        guard let last else { continue }
        // The last one may be there.
        try member.catchUp()
        if member.values[last.key] == last.value { expected[last.key] = last.value }
      case 10: members[index] = Member(try Self.file(directory, HostFileSystem()))
      default: #expect(member.heard.filter { $0.reason != .otherProcess }.isEmpty)
      }
    }
    for member in members {
      try member.catchUp()
      #expect(member.values == expected)
      #expect(member.heardValues == expected, "changes lead to the values")
    }
    #expect(try Self.file(directory, HostFileSystem()).core.values == expected)
  }

  /// A process that writes until it ends.
  ///
  /// - Returns: The write at which it ended, and what was acknowledged before.
  private static func die(
    in directory: SystemPath, atCall number: Int, at step: Int, key: String
  ) -> (last: (key: String, value: StoredValue)?, written: [String: StoredValue]) {
    var written: [String: StoredValue] = [:]
    guard let process = try? Member(file(directory, dying(atCall: number))) else { return (nil, written) }
    for count in 0..<4 {
      let value = StoredValue.integer(Int64(step * 10 + count))
      do throws(KeyValueStoreError) {
        _ = try process.write(key, value, at: Int64(step))
        written[key] = value
      } catch { return ((key, value), written) }
    }
    return (nil, written)
  }

  /// A process that lives, with what it has heard and written.
  private final class Member {
    private var file: ReplicaFile
    private(set) var heard: [StoreChange] = []
    private(set) var heardValues: [String: StoredValue]

    init(_ file: consuming ReplicaFile) {
      heardValues = file.core.values
      self.file = file
    }

    var values: [String: StoredValue] { file.core.values }

    /// - Returns: The value before.
    func write(_ key: String, _ value: StoredValue?, at now: Int64) throws(KeyValueStoreError) -> StoredValue? {
      var before: StoredValue?
      _ = try file.append(at: now) { (core) in
        before = core[key]
        return ReplicaFileExplorationTests.write(key, value)
      }
      hear(file.takeChanges())
      heardValues[key] = value
      return before
    }

    func catchUp() throws(KeyValueStoreError) {
      try file.catchUp()
      hear(file.takeChanges())
    }

    private func hear(_ changes: [StoreChange]) {
      heard += changes
      for change in changes {
        for item in change.items {
          #expect(heardValues[item.key] == item.old, "\(item)")
          heardValues[item.key] = item.new
        }
      }
    }
  }
}
