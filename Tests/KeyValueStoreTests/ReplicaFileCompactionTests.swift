import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// A process writes its journal anew, and another one uses the new journal before the first one has it open.
///
///     first     renames ···· syncs the directory ···· opens the new file, locks it
///     second                   [ appends ]
@Suite("A journal that's written anew while another process writes", .blocking)
struct ReplicaFileCompactionTests {
  private static func file(
    in sandbox: StoreSandbox, _ files: any FileSystem = HostFileSystem(), from lengthMin: Int = 500
  ) throws(KeyValueStoreError) -> ReplicaFile {
    try ReplicaFile.opened(in: SystemPath(sandbox.path), files: files, compactingFrom: lengthMin) { ReplicaCore($0) }
  }

  private static func write(_ key: String, _ value: StoredValue) -> ReplicaInput {
    .write([KeyWrite(key, value)], isForced: false)
  }

  /// Runs something once when the directory of the journal is brought to the disk, and fails writes to the journal with "no space".
  private static func door(
    _ sandbox: StoreSandbox, refusing refusals: Guarded<[Int32]>, _ other: @escaping @Sendable () throws -> Void
  ) -> (ScriptedFileSystem, isArmed: Guarded<Bool>) {
    let isArmed = Guarded(false)
    let directory = SystemPath(sandbox.path)
    let door = ScriptedFileSystem { call in
      if call.call == .write, call.openedPath == directory.appending("journal") {
        return refusals.withLock { $0.isEmpty ? .proceed : .fail($0.removeFirst()) }
      }
      guard call.call == .synchronize, call.openedPath == directory else { return .proceed }
      let isFirst = isArmed.withLock { isArmed in
        defer { isArmed = false }
        return isArmed
      }
      if isFirst { #expect(throws: Never.self) { try other() } }
      return .proceed
    }
    return (door, isArmed)
  }

  @Test(
    "CK-23: A process that appends right after a journal was written anew loses nothing, nor does the one that wrote it",
    arguments: [1, 100_000])
  func appendBehind(lengthMin: Int) throws {
    let sandbox = try StoreSandbox()
    let (door, isArmed) = Self.door(sandbox, refusing: Guarded([])) {
      var other = try Self.file(in: sandbox, from: lengthMin)
      _ = try other.append(at: 2) { (_) in Self.write("theirs", .integer(2)) }
    }
    var first = try Self.file(in: sandbox, door)
    isArmed.withLock { $0 = true }
    _ = try first.append(at: 1) { (_) in Self.write("mine", .data(Array(repeating: 1, count: 600))) }
    #expect(!isArmed.withLock { $0 })
    #expect(first.core["theirs"] == .integer(2))
    #expect(first.takeChanges().flatMap(\.items).map(\.key) == ["theirs"])
    // Also when it writes, and when it writes the journal anew the next time.
    for number in 0..<40 {
      _ = try first.append(at: 3) { (_) in Self.write("\(number)", .data(Array(repeating: 1, count: 100))) }
    }
    let keys = Set(["mine", "theirs"] + (0..<40).map(String.init))
    #expect(Set(first.core.values.keys) == keys)
    #expect(try Set(Self.file(in: sandbox).core.values.keys) == keys)
  }

  @Test(
    "CK-23: On a full disk, a process that makes room neither cuts off what another one has appended nor overlooks it")
  func appendBehindFullDisk() throws {
    let sandbox = try StoreSandbox()
    let refusals = Guarded<[Int32]>([])
    let (door, isArmed) = Self.door(sandbox, refusing: refusals) {
      var other = try Self.file(in: sandbox, from: 100_000)
      _ = try other.append(at: 2) { (_) in Self.write("theirs", .integer(2)) }
    }
    var first = try Self.file(in: sandbox, door, from: 100_000)
    _ = try first.append(at: 1) { (_) in Self.write("mine", .integer(1)) }
    // Both tries fail.
    isArmed.withLock { $0 = true }
    refusals.withLock { $0 = [28, 28] }
    let refusal = code { () throws(KeyValueStoreError) in
      _ = try first.append(at: 3) { (_) in Self.write("late", .integer(3)) }
    }
    #expect(refusal == .noSpace && !isArmed.withLock { $0 })
    #expect(try Self.file(in: sandbox).core.values == ["mine": .integer(1), "theirs": .integer(2)])
    // The second one doesn't, and its event is made of what's there by then.
    try first.catchUp()
    isArmed.withLock { $0 = true }
    refusals.withLock { $0 = [28] }
    let seen = Guarded<[StoredValue?]>([])
    _ = try first.append(at: 4) { (core) in
      seen.withLock { $0.append(core["theirs"]) }
      return Self.write("sum", .integer(4))
    }
    #expect(seen.withLock { $0 } == [.integer(2), .integer(2)])
    let all: [String: StoredValue] = ["mine": .integer(1), "theirs": .integer(2), "sum": .integer(4)]
    #expect(first.core.values == all)
    #expect(try Self.file(in: sandbox).core.values == all)
  }
}
