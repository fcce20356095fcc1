import ContentHashing
import Foundation
import Synchronization
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// A temporary directory with a store beside the files of which it has versions.
struct StoreSandbox: Sendable {
  let root: SystemPath
  /// Those of its stores.
  var limits = VersionStoreLimits()
  let files = HostFileSystem()

  static let attributes = VersionAttributes(deviceName: "desk", deviceID: "d1", author: "me")

  /// The store, used through a door of the test's.
  ///
  /// Of the processes that used it, those are alive that are named.
  func store(_ door: (any FileSystem)? = nil, at time: Int64 = 1_000, alive: Set<String> = []) throws -> VersionStore {
    try VersionStore(
      at: root.appending("store"), files: door ?? DyingDoor.hurried(), worker: "1-2", limits: limits,
      isAlive: { alive.contains($0) }, time: { time })
  }

  /// Does the next process's work on a store that an earlier one has left: its own tasks are done as well.
  func settle(_ item: ItemID) throws {
    let store = try store()
    try store.recover()
    try store.completeMoves(of: item)
    #expect(try store.performTasks() == [])
  }

  /// The texts of an item's versions, each as it was kept.
  func texts(_ item: ItemID) throws -> [String] {
    let store = try store()
    return try store.versions(of: item).map { version in
      try store.verify(version)
      return version.isPackage ? "package \(version.size)" : try text(store.path(of: version))
    }
  }

  func path(_ name: String) -> SystemPath { root.appending("files").appending(name) }

  @discardableResult
  func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws -> SystemPath {
    let path = path(name)
    try FileManager.default.createDirectory(atPath: path.parent.description, withIntermediateDirectories: true)
    try files.withDescriptor(path, flags: [.create, .truncate, .writeOnly], mode: 0o600) { (file) throws(SystemError) in
      try files.writeAll(Array(text.utf8), to: file)
      try files.setMode(of: file, to: mode)
    }
    return path
  }

  /// Writes a file in a directory that the store makes for it.
  func lend(_ text: String, mode: UInt32 = 0o644) throws -> SystemPath {
    let path = try store().makeTemporaryDirectory().appending("draft")
    try files.withDescriptor(path, flags: [.create, .writeOnly], mode: 0o600) { (file) throws(SystemError) in
      try files.writeAll(Array(text.utf8), to: file)
      try files.setMode(of: file, to: mode)
    }
    return path
  }

  func text(_ path: SystemPath) throws -> String { String(decoding: try files.contents(of: path), as: UTF8.self) }

  /// The files in it that this process has open.
  func openFiles() throws -> [String] {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    let paths = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    return paths.filter { $0.hasPrefix(root.description) }
  }

  /// Everything below a directory: names, permissions, texts, and how many names a file has.
  func tree(_ name: String) throws -> [String] {
    let top = root.appending(name).description
    let names = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
    return try names.sorted().map { name in
      let path = SystemPath(top).appending(name)
      let status = try files.status(of: path, at: .workingDirectory, links: .noFollow)
      let text = status.kind == .regular ? try text(path) : "\(status.kind)"
      return "\(name) \(String(status.mode, radix: 8)) \(status.kind == .regular ? status.linkCount : 0) \(text)"
    }
  }
}

/// The calls at which something goes wrong: all of them in a long run, and every fourth in a normal one, the first and the last too.
func explored(_ callCount: Int) -> [Int] {
  (1...callCount).filter { Budget.isLong || $0 % 4 == 0 || $0 == 1 || $0 == callCount }
}

/// Every file becomes a version before it's hashed.
let hashingLater = VersionStoreLimits(sizeHashedAtOnceMax: -1)

func withStore<Result>(
  _ limits: VersionStoreLimits = VersionStoreLimits(), _ body: (StoreSandbox) async throws -> Result
) async throws -> Result {
  // Thousands of directories come and go, which is faster where nothing is written to a disk.
  let memory = "/dev/shm"
  let place = FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
  let root = "\(place)/VersionStoreTests.\(UUID())"
  try FileManager.default.createDirectory(atPath: root + "/files", withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: root) }
  return try await body(StoreSandbox(root: SystemPath(root), limits: limits))
}

/// Doors that don't wait for the disk: no power fails here, and a wait takes longer than everything else.
enum DyingDoor {
  /// Lets something else happen before a call.
  static func interrupted(atCall number: Int, by body: @escaping @Sendable () -> Void) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.number == number { body() }
      return hurry(call)
    }
  }

  /// Ends the process, as far as the disk can tell, at a call: that call and all later ones aren't made.
  ///
  /// The function sees each call that's made, before that.
  static func dying(
    atCall number: Int, _ look: @escaping @Sendable (ScriptedCall) -> Void = { _ in }
  ) -> ScriptedFileSystem {
    ScriptedFileSystem { call in
      if call.number >= number { return call.call == .close ? .proceed : .fail(5) }
      look(call)
      return hurry(call)
    }
  }

  /// Ends it right after a call.
  static func dying(after isLast: @escaping @Sendable (ScriptedCall) -> Bool) -> ScriptedFileSystem {
    let isOver = Guarded(false)
    return ScriptedFileSystem { call in
      isOver.withLock { isOver in
        if isOver { return call.call == .close ? .proceed : .fail(5) }
        isOver = isLast(call)
        return hurry(call)
      }
    }
  }

  /// Fails one call for lack of room.
  static func failing(atCall number: Int) -> ScriptedFileSystem {
    ScriptedFileSystem { $0.number == number ? .fail(28) : hurry($0) }
  }

  static func hurried() -> ScriptedFileSystem { ScriptedFileSystem(script: hurry) }

  @Sendable static func hurry(_ call: ScriptedCall) -> ScriptedAction {
    call.call == .synchronize ? .skip : .proceed
  }

  /// How many calls an operation makes.
  static func callCount(_ body: (any FileSystem) throws -> Void) throws -> Int {
    let door = hurried()
    try body(door)
    return door.log.count
  }
}
