import Foundation
import KeyValueReplicas
import SystemInterface
import SystemThreads
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("Values that move to an account at a sign-in", .blocking)
struct SigningInTests {
  /// The values in the journal of an account.
  private static func values(of account: String?, in sandbox: StoreSandbox) throws -> [String: StoredValue] {
    var configuration = sandbox.configuration()
    configuration.account = account
    return try sandbox.store("s", configuration).dictionary
  }

  private static func file(
    _ account: String, in sandbox: StoreSandbox, _ files: any FileSystem = HostFileSystem(),
    patience: Duration = .seconds(30)
  ) throws(KeyValueStoreError) -> ReplicaFile {
    let directory = SystemPath(sandbox.path + "/" + account + "/s")
    try translating { () throws(SystemError) in try DataHome.ensureDirectory(directory) }
    return try ReplicaFile.opened(in: directory, files: files, patience: patience) { ReplicaCore($0) }
  }

  private static func write(_ key: String, _ value: Int64) -> ReplicaInput {
    .write([KeyWrite(key, .integer(value))], isForced: false)
  }

  // first   [ moves -local to ann |···| ]
  // second            w··············[ signs in ]
  @Test("CK-11: Two threads that sign in at once neither erase values nor move them twice", arguments: ["ann", "bob"])
  func atOnce(second: String) throws {
    let sandbox = try StoreSandbox()
    let (writeCount, opened, hasBegun) = (Guarded(0), ThreadEvent(), Guarded(false))
    let door = ScriptedFileSystem { call in
      let path = call.openedPath?.description ?? call.paths.first?.description ?? ""
      if call.call == .open, path.hasSuffix("/\(second)/s/journal"), hasBegun.withLock({ $0 }) { opened.signal() }
      guard call.call == .write, path.hasSuffix("/ann/s/journal") else { return .proceed }
      // The first write is the head of the journal.
      let count = writeCount.withLock { count in
        count += 1
        return count
      }
      if count == 2 {
        hasBegun.withLock { $0 = true }
        // It never comes where the second one waits for the first one, as it has to.
        _ = opened.wait(until: MonotonicTime.host().advanced(by: .milliseconds(300)))
      }
      return .proceed
    }
    let store = try sandbox.store(files: door)
    try store.set(.integer(1), for: "k")
    let (started, ended) = (ThreadEvent(), ThreadEvent())
    Thread.detachNewThread {
      while !hasBegun.withLock({ $0 }) { HostThread.yield() }
      started.signal()
      try? store.signIn(as: second)
      ended.signal()
    }
    try store.signIn(as: "ann")
    _ = started.wait(until: .distantFuture)
    _ = ended.wait(until: .distantFuture)
    #expect(store.account == second)
    #expect(try Self.values(of: "ann", in: sandbox) == ["k": .integer(1)])
    #expect(store.dictionary == (second == "ann" ? ["k": .integer(1)] : [:]))
    if second != "ann" { #expect(try Self.values(of: second, in: sandbox).isEmpty) }
  }

  @Test(
    "CK-12: A value that the account has stays at a sign-in, and the other one is among the losses",
    arguments: [false, true])
  func accountWins(isShared: Bool) async throws {
    let sandbox = try StoreSandbox()
    let server = MemoryServer()
    var configuration = sandbox.configuration()
    configuration.account = "ann"
    configuration.uploadInterval = .zero
    if isShared {
      configuration.sharing = StoreSharing { (identity, _) in
        MemoryStorage(server: server, replica: identity.replica)
      }
    }
    let store = try sandbox.store("s", configuration)
    try store.set(.string("dark"), for: "theme")
    try store.set(.integer(1), for: "equal")
    if isShared { try await store.flush() }
    try store.signIn(as: nil)
    try store.set(.string("light"), for: "theme")
    try store.set(.integer(1), for: "equal")
    try store.set(.integer(7), for: "new")
    try store.signIn(as: "ann")
    let expected: [String: StoredValue] = ["theme": .string("dark"), "equal": .integer(1), "new": .integer(7)]
    #expect(store.dictionary == expected)
    #expect(store.losses.map(\.key) == ["theme"] && store.losses.map(\.value) == [.string("light")])
    if isShared {
      try await store.flush()
      #expect(server.state.withLock { $0.items["theme"]?.value } == .string("dark"))
    }
    #expect(try Self.values(of: "ann", in: sandbox) == expected)
    #expect(try Self.values(of: nil, in: sandbox).isEmpty)
    try store.signIn(as: nil)
    try store.set(.string("light"), for: "theme")
    try store.signIn(as: "ann", isForced: true)
    #expect(store["theme"] == .string("light"))
  }

  @Test("CK-12, CK-23: A process that writes while values move to an account waits, and its value isn't removed")
  func writeMeanwhile() throws {
    let sandbox = try StoreSandbox()
    var local = try Self.file("-local", in: sandbox)
    _ = try local.append(at: 1) { (_) in Self.write("k", 1) }
    let isArmed = Guarded(false)
    let refusals = Guarded<[KeyValueStoreError.Code?]>([])
    let door = ScriptedFileSystem { call in
      guard call.call == .write, isArmed.withLock({ $0 }) else { return .proceed }
      let refusal = code { () throws(KeyValueStoreError) in
        var other = try Self.file("-local", in: sandbox, patience: .milliseconds(1))
        _ = try other.append(at: 2) { (_) in Self.write("k", 2) }
      }
      refusals.withLock { $0.append(refusal) }
      return .proceed
    }
    var ann = try Self.file("ann", in: sandbox, door)
    isArmed.withLock { $0 = true }
    try local.transferAll(to: &ann, at: 3, isForced: false)
    isArmed.withLock { $0 = false }
    #expect(refusals.withLock { $0 } == [.busy])
    #expect(ann.core.values == ["k": .integer(1)])
    var other = try Self.file("-local", in: sandbox)
    #expect(other.core.values.isEmpty)
    _ = try other.append(at: 4) { (_) in Self.write("k", 2) }
    try local.catchUp()
    #expect(local.core.values == ["k": .integer(2)])
  }

  @Test(
    "CK-13: Values and their directories are on the disk at the account before they're removed where they were")
  func durableBeforeRemoval() throws {
    let sandbox = try StoreSandbox()
    let door = ScriptedFileSystem { _ in .proceed }
    var local = try Self.file("-local", in: sandbox, door)
    // More than go into one event.
    for number in 0..<150 { _ = try local.append(at: 1) { (_) in Self.write("\(number)", 1) } }
    var ann = try Self.file("ann", in: sandbox, door)
    let count = door.log.count
    try local.transferAll(to: &ann, at: 2, isForced: false)
    let calls = door.log.dropFirst(count).compactMap { call -> String? in
      guard let path = call.openedPath?.description, [.write, .synchronize].contains(call.call) else { return nil }
      return "\(call.call == .write ? "write" : "sync") \(path.dropFirst(sandbox.path.count))"
    }
    #expect(
      calls == [
        "write /ann/s/journal", "write /ann/s/journal", "sync /ann/s/journal", "sync /ann/s", "sync /ann", "sync ",
        "write /-local/s/journal", "write /-local/s/journal",
      ])
    #expect(ann.core.values.count == 150 && local.core.values.isEmpty)
  }

  @Test("CK-13: Values that can't be brought to the disk at the account stay where they were as well")
  func undurable() throws {
    let sandbox = try StoreSandbox()
    let isArmed = Guarded(false)
    let door = ScriptedFileSystem { call in
      call.call == .synchronize && isArmed.withLock { $0 } ? .fail(EIO) : .proceed
    }
    var local = try Self.file("-local", in: sandbox)
    _ = try local.append(at: 1) { (_) in Self.write("k", 1) }
    var ann = try Self.file("ann", in: sandbox, door)
    isArmed.withLock { $0 = true }
    #expect(throws: KeyValueStoreError.self) { try local.transferAll(to: &ann, at: 2, isForced: false) }
    #expect(local.core.values == ["k": .integer(1)])
    isArmed.withLock { $0 = false }
    try local.transferAll(to: &ann, at: 3, isForced: false)
    #expect(local.core.values.isEmpty && ann.core.values == ["k": .integer(1)] && ann.core.losses.isEmpty)
  }
}
