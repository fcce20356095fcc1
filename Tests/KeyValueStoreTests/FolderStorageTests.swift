import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("A folder that devices share", .blocking)
struct FolderStorageTests {
  private let sandbox: FolderSandbox

  init() throws { sandbox = try FolderSandbox() }

  @Test("Names are read as they're made, and others are left alone")
  func names() {
    let made: [FolderName] = [
      .change(1), .change(.max), .values(FolderValues(revision: 64, floor: 32)),
      .values(FolderValues(revision: .max, floor: 0)),
    ]
    for name in made { #expect(FolderName(name.path) == name) }
    #expect(made[0].path == SystemPath("change-0000000000000001"))
    for other in [
      "change-1", "change-000000000000000A", "change-ffffffffffffffff", "change-+000000000000001", "change-",
      "values-0000000000000001", "values-0000000000000001-", "values-0000000000000001-0000000000000000-", "README",
      "change-0000000000000001~", ".change-0000000000000001",
    ] { #expect(FolderName(SystemPath(other)) == nil, "\(other)") }
  }

  @Test("Changes of one device are those of another, each with its own acknowledgement")
  func twoDevices() throws {
    let (a, b) = (sandbox.contents(1), sandbox.contents(2))
    #expect(try a.readAll().items.isEmpty && a.readAll().revision == 0)
    #expect(try a.write(["x": .integer(1), "y": .string("é")], upload: 7) == .applied(revision: 1))
    #expect(try b.write(["x": nil], upload: 3) == .applied(revision: 2))
    let (ofA, ofB) = (try a.readAll(), try b.readAll())
    #expect(ofA.items == ofB.items && ofA.items.map(\.key) == ["x", "y"] && ofA.items.map(\.revision) == [2, 1])
    #expect(ofA.items[0].value == nil && ofA.isComplete && ofA.revision == 2)
    #expect(ofA.acknowledgement == Acknowledgement(upload: 7, revision: 1))
    #expect(ofB.acknowledgement == Acknowledgement(upload: 3, revision: 2))
  }

  @Test("Files are for the user alone, and nothing but them is in the folder")
  func privacy() throws {
    try sandbox.contents(1).write(["x": .integer(1)], upload: 1)
    let files = HostFileSystem()
    for (path, mode) in [
      (sandbox.file(1), UInt32(0o600)), (sandbox.directory, 0o700), (sandbox.path + "/me", 0o700),
    ] {
      let status = try files.status(of: SystemPath(path), at: .workingDirectory, links: .noFollow)
      #expect(status.mode == mode, "\(path)")
    }
    #expect(sandbox.names == ["change-0000000000000001"])
  }

  @Test("CE-08: An upload that's sent again is carried out once, and its acknowledgement says so")
  func again() throws {
    // The answer is lost: the directory can't be brought to the disk.
    let directory = SystemPath(sandbox.directory)
    let lossy = ScriptedFileSystem { $0.call == .synchronize && $0.openedPath == directory ? .fail(EIO) : .proceed }
    let other = sandbox.contents(1)
    try other.write(["x": .integer(1)], upload: 1)
    let contents = sandbox.contents(2, files: lossy)
    #expect(try contents.write(["x": .integer(2)], upload: 4) == .unknown)
    #expect(try contents.readAll().acknowledgement == Acknowledgement(upload: 4, revision: 2))
    let all = try contents.readAll()
    let next = Upload.next(["x": .integer(3)], over: all, of: ReplicaID(rawValue: 2))
    #expect(try contents.upload(next) == .unknown)
    #expect(try contents.upload(next) == .outdated)
    #expect(try other.readAll().revision == 3)
  }

  @Test("After some changes one file has everything; devices that were away too long are told of the gap")
  func compaction() throws {
    let (a, b) = (sandbox.contents(1), sandbox.contents(2))
    for number in 1...6 { try a.write(["k\(number)": nil, "x": .integer(Int64(number))], upload: number) }
    let before = try b.readAll()
    for number in 7...11 { try a.write(["k\(number)": nil, "x": .integer(Int64(number))], upload: number) }
    // The second one was made at change 8.
    #expect(
      sandbox.names == [
        "values-0000000000000008-0000000000000006", "change-0000000000000007", "change-0000000000000008",
        "change-0000000000000009", "change-000000000000000a", "change-000000000000000b", "compacting",
      ])
    var identity: FileIdentity?
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try b.next(after: 5, in: &identity) } == .gap)
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try b.next(after: 0, in: &identity) } == .gap)
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try b.next(after: 12, in: &identity) } == .gap)
    for revision in 7...11 as ClosedRange<Int64> {
      #expect(try b.next(after: revision - 1, in: &identity)?.revision == revision)
    }
    #expect(try b.next(after: 11, in: &identity) == nil)
    let (kept, fresh) = (try b.readAll(), try sandbox.contents(3).readAll())
    #expect(before.revision == 6 && kept.revision == 11 && fresh.revision == 11)
    #expect(try b.values() == ["x": .integer(11)] && sandbox.contents(3).values() == ["x": .integer(11)])
    // Three removed keys are kept in such a file, and those after it.
    #expect(fresh.items.filter { $0.value == nil }.map(\.key) == ["k10", "k11", "k6", "k7", "k8", "k9"])
    #expect(try sandbox.contents(1).readAll().acknowledgement == Acknowledgement(upload: 11, revision: 11))
  }

  @Test("CE-07: A change by a process that stood still, whose number was free again, is none", arguments: [0, 1])
  func slowWriter(ownRevision: Int) throws {
    let fast = sandbox.contents(1)
    if ownRevision == 1 { try sandbox.contents(2).write(["mine": .integer(0)], upload: 1) }
    let stood = Guarded(false)
    // Before its file gets its name, others make so many changes that the number isn't kept.
    let door = ScriptedFileSystem { call in
      guard call.call == .link, !stood.withLock({ $0 }) else { return .proceed }
      stood.withLock { $0 = true }
      for number in 1...12 { _ = try? fast.write(["x": .integer(Int64(number))], upload: number) }
      return .proceed
    }
    let slow = sandbox.contents(2, files: door)
    let watcher = sandbox.contents(3)
    let outcome = try slow.write(["mine": .integer(1)], upload: 2)
    let last = Int64(ownRevision + 13)
    #expect(stood.withLock { $0 } && outcome == .applied(revision: last))
    var identity: FileIdentity?
    // There's a file with that number.
    #expect(sandbox.names.contains(FolderName.change(Int64(ownRevision + 1)).path.description))
    #expect(
      failureKind { () throws(SharedStorageFailure) in
        _ = try watcher.next(after: Int64(ownRevision), in: &identity)
      } == .gap)
    for contents in [slow, fast, watcher] {
      #expect(try contents.values() == ["x": .integer(12), "mine": .integer(1)])
      #expect(try contents.readAll().revision == last)
    }
    // It goes with the next file that has everything.
    for number in 13...16 { try fast.write(["x": .integer(Int64(number))], upload: number) }
    #expect(!sandbox.names.contains(FolderName.change(Int64(ownRevision + 1)).path.description))
  }

  @Test("A change that was right, and isn't kept any more when its writer looks, was carried out")
  func slowAfterwards() throws {
    let fast = sandbox.contents(1)
    let stood = Guarded(false)
    let door = ScriptedFileSystem { call in
      guard call.call == .readDirectory, !stood.withLock({ $0 }) else { return .proceed }
      guard FileManager.default.fileExists(atPath: sandbox.file(1)) else { return .proceed }
      stood.withLock { $0 = true }
      for number in 1...12 { _ = try? fast.write(["x": .integer(Int64(number))], upload: number) }
      return .proceed
    }
    let slow = sandbox.contents(2, files: door)
    #expect(try slow.write(["mine": .integer(1)], upload: 1) == .applied(revision: 1))
    #expect(stood.withLock { $0 })
    #expect(try slow.values() == ["x": .integer(12), "mine": .integer(1)])
  }

  private static let spoiled: [(String, SharedStorageFailure.Kind, @Sendable ([UInt8]) -> [UInt8])] = [
    ("cut off", .damaged, { Array($0.dropLast()) }), ("empty", .damaged, { _ in [] }),
    ("zeros", .damaged, { $0.map { _ in 0 } }), ("another byte", .damaged, { $0.dropLast() + [$0[$0.count - 1] ^ 1] }),
    ("another file", .damaged, { _ in Array("<html>".utf8) }),
    ("a newer version", .newerFormat, { Array("kvshare2".utf8) + $0.dropFirst(8) }),
    ("another change", .damaged, { _ in [] }),
  ]

  @Test("Damaged, newer and foreign files are refused, with the name of the file", arguments: 0..<7)
  func spoiled(index: Int) throws {
    let (name, kind, spoil) = Self.spoiled[index]
    let writer = sandbox.contents(1)
    for number in 1...3 { try writer.write(["x": .integer(Int64(number))], upload: number) }
    let bytes = try HostFileSystem().contents(of: SystemPath(sandbox.file(name == "another change" ? 1 : 2)))
    try Data(name == "another change" ? bytes : spoil(bytes)).write(to: URL(filePath: sandbox.file(2)))
    do throws(SharedStorageFailure) {
      _ = try sandbox.contents(2).readAll()
      Issue.record("\(name) was read")
    } catch {
      #expect(error.kind == kind, "\(name)")
      #expect(error.explanation.contains("change-0000000000000002"), "\(error.explanation)")
    }
    // A device that has read it before goes on.
    #expect(try writer.write(["x": .integer(4)], upload: 4) == .applied(revision: 4))
  }

  @Test("A directory, a link or a pipe in the place of a file isn't read")
  func otherKinds() throws {
    for make in [
      { (path: String) in mkdir(path, 0o700) }, { symlink("/etc/passwd", $0) }, { mkfifo($0, 0o600) },
      { symlink("/dev/zero", $0) },
    ] {
      let sandbox = try FolderSandbox()
      try sandbox.contents(1).write(["x": .integer(1)], upload: 1)
      #expect(make(sandbox.file(2)) == 0)
      #expect(failureKind { () throws(SharedStorageFailure) in _ = try sandbox.contents(2).readAll() } == .damaged)
    }
  }

  @Test("A missing change is told, and a missing one that isn't needed isn't")
  func missing() throws {
    let writer = sandbox.contents(1)
    for number in 1...3 { try writer.write(["x": .integer(Int64(number))], upload: number) }
    let reader = sandbox.contents(2)
    #expect(unlink(sandbox.file(2)) == 0)
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try reader.readAll() } == .damaged)
    var identity: FileIdentity?
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try reader.next(after: 1, in: &identity) } == .damaged)
    for number in 4...5 { try writer.write(["x": .integer(Int64(number))], upload: number) }
    #expect(try reader.values() == ["x": .integer(5)])
    #expect(try reader.next(after: 4, in: &identity)?.revision == 5)
  }

  @Test("Files of others in the directory are left alone")
  func foreign() throws {
    let writer = sandbox.contents(1)
    try writer.write(["x": .integer(1)], upload: 1)
    for name in ["README", ".hidden", "change-zzz", "values-1-2", ".change-0000000000000001.abcdefgh.fcsave"] {
      try Data("mine".utf8).write(to: URL(filePath: sandbox.directory + "/" + name))
    }
    for number in 2...12 { try writer.write(["x": .integer(Int64(number))], upload: number) }
    #expect(sandbox.names.isSuperset(of: ["README", ".hidden", "change-zzz", "values-1-2"]))
    // But this is what a process has left that ended.
    #expect(!sandbox.names.contains(".change-0000000000000001.abcdefgh.fcsave"))
    #expect(try sandbox.contents(2).values() == ["x": .integer(12)])
  }

  private static let refusals: [(SystemCall, Int32, SharedStorageFailure.Kind?)] = [
    (.open, ENOENT, .unreachable), (.open, EACCES, .denied), (.open, EIO, .unreachable), (.write, ENOSPC, .full),
    (.write, EDQUOT, .full), (.synchronize, EIO, .unreachable), (.link, EROFS, .denied), (.link, ENOSPC, .full),
    (.link, EIO, nil),
  ]

  @Test("Each failure of the system has its kind, and changes nothing", arguments: 0..<9)
  func refusal(index: Int) throws {
    let (call, code, kind) = Self.refusals[index]
    let healthy = sandbox.contents(1)
    try healthy.write(["x": .integer(1)], upload: 1)
    let all = try healthy.readAll()
    let isArmed = Guarded(false)
    let door = ScriptedFileSystem { $0.call == call && isArmed.withLock { $0 } ? .fail(code) : .proceed }
    let contents = sandbox.contents(1, files: door)
    _ = try contents.readAll()
    isArmed.withLock { $0 = true }
    let upload = Upload.next(["x": .integer(2)], over: all)
    do throws(SharedStorageFailure) {
      #expect(try contents.upload(upload) == .unknown)
      #expect(kind == nil)
    } catch {
      #expect(error.kind == kind)
      #expect(error.explanation.contains(sandbox.directory))
    }
    #expect(try healthy.readAll() == all && sandbox.names == ["change-0000000000000001"])
    isArmed.withLock { $0 = false }
    #expect(try contents.upload(upload) == .applied(revision: 2))
  }

  @Test("Where files can't be without a name, they have a temporary one")
  func namedFiles() throws {
    // linkat(2) of a file without a name fails where /proc isn't there.
    let noProc = ScriptedFileSystem { call in
      call.call == .link && call.paths.first?.description.hasPrefix("/proc/") ?? false ? .fail(ENOENT) : .proceed
    }
    let contents = sandbox.contents(1, files: noProc)
    for number in 1...9 { #expect(try contents.write(["x": .integer(Int64(number))], upload: number) != .unknown) }
    #expect(try sandbox.contents(2).values() == ["x": .integer(9)])
    #expect(sandbox.names.allSatisfy { !$0.hasPrefix(".") })
  }

  @Test("A folder that isn't there is unreachable, and isn't made")
  func noFolder() throws {
    let gone = FolderContents(
      FolderFiles(
        files: HostFileSystem(), folder: SystemPath(sandbox.path + "/gone"), account: "me", store: "s"),
      ReplicaID(rawValue: 1), StoreLimits())
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try gone.readAll() } == .unreachable)
    #expect(!FileManager.default.fileExists(atPath: sandbox.path + "/gone"))
  }

  @Test("A name that no directory can have is refused")
  func invalidNames() {
    for (account, store) in [("..", "s"), ("me", "a/b"), ("me", ""), ("-local", "s")] {
      let identity = StoreIdentity(
        account: account, store: store, replica: ReplicaID(rawValue: 1), limits: StoreLimits())
      let kind = failureKind { () throws(SharedStorageFailure) in _ = try FolderStorage(sandbox.path, for: identity) }
      #expect(kind == .denied)
    }
  }

  @Test("A directory that was replaced is read anew, and its readers are told of a gap")
  func replaced() throws {
    let contents = sandbox.contents(1)
    try contents.write(["x": .integer(1)], upload: 1)
    var identity: FileIdentity?
    #expect(try contents.next(after: 0, in: &identity)?.revision == 1)
    try FileManager.default.moveItem(atPath: sandbox.directory, toPath: sandbox.directory + ".old")
    try sandbox.contents(2).write(["y": .integer(1)], upload: 1)
    #expect(try contents.values() == ["y": .integer(1)])
    #expect(failureKind { () throws(SharedStorageFailure) in _ = try contents.next(after: 0, in: &identity) } == .gap)
  }
}
