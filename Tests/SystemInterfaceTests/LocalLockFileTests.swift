import Foundation
import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("A lock file has one holder, in this process or another")
struct LocalLockFileTests {
  private func lockFile(_ sandbox: Sandbox) -> LockFile {
    LockFile(sandbox.path("lock"))
  }

  @Test("Two holders exclude each other even in one process, and closing another descriptor changes nothing")
  func exclusion() async throws {
    try await withTemporaryDirectory { sandbox in
      let held = try #require(try lockFile(sandbox).tryLock())
      #expect(try lockFile(sandbox).tryLock() == nil)
      // The older kind of lock is gone when the process closes any descriptor of the file.
      #expect(try sandbox.text("lock") == "")
      #expect(try lockFile(sandbox).tryLock() == nil)
      held.release()
      #expect(try lockFile(sandbox).tryLock() != nil)
    }
  }

  @Test("The last reference releases the lock, and the file stays, for the user alone")
  func releaseByLastReference() async throws {
    try await withTemporaryDirectory { sandbox in
      var held: HeldLock? = try lockFile(sandbox).lock()
      #expect(try held?.readCounter() == 0)
      #expect(try lockFile(sandbox).tryLock() == nil)
      held = nil
      #expect(try lockFile(sandbox).tryLock() != nil)
      #expect(try sandbox.status("lock")?.mode == 0o1600)
      #expect(try sandbox.names() == ["lock"])
    }
  }

  @Test("A released lock is free although a child that another thread is about to start still has its descriptor")
  func releaseBesideChildren() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.path("lock")
      let held = try #require(try lockFile(sandbox).tryLock())
      // A copy of the descriptor, as a child has between fork(2) and execve(2).
      let number = try #require((3..<getdtablesize()).first { leads($0, to: path) })
      let copy = dup(number)
      defer { close(copy) }
      held.release()
      #expect(leads(copy, to: path))
      #expect(try lockFile(sandbox).tryLock() != nil)
    }
  }

  @Test("Readers share a lock that they can't write, and exclude the others; without the file there's none to share")
  func sharing() async throws {
    try await withTemporaryDirectory { sandbox in
      let file = lockFile(sandbox)
      #expect(throws: SystemError.self) { try file.tryShare() }
      #expect(try sandbox.names() == [])
      let owner = try #require(try file.tryLock())
      #expect(try file.tryShare() == nil)
      owner.release()
      try HostFileSystem().withDescriptor(sandbox.path("lock"), flags: []) { (lock) throws(SystemError) in
        try HostFileSystem().setMode(of: lock, to: 0o400)
      }
      let readers = [try #require(try file.tryShare()), try #require(try file.tryShare())]
      #expect(try sandbox.status("lock")?.mode == 0o400)
      #expect(try file.tryLock() == nil)
      for reader in readers { reader.release() }
      #expect(try file.tryLock() != nil)
    }
  }

  private func leads(_ number: Int32, to path: SystemPath) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == "\(path)"
  }

  @Test("The lock is free when the process that holds it is killed")
  func releaseByDeath() async throws {
    try await withTemporaryDirectory { sandbox in
      // The child has the lock with the open file description: the lock belongs to that.
      let path = sandbox.path("lock")
      let number = try sandbox.files.open(path, at: .workingDirectory, flags: [.create, .readWrite], mode: 0o600)
      try #require(lockDescription(number.rawValue) == 0)
      let child = try ChildProcess("sleep", ["600"], descriptor: number.rawValue)
      try sandbox.files.close(number)
      #expect(try lockFile(sandbox).tryLock() == nil)
      child.kill()
      // A child that another test starts at that moment has the description too, until it runs its program.
      try lockFile(sandbox).lock().release()
    }
  }

  @Test("A file that was replaced while somebody waited for its lock is locked in its new form")
  func replacement() async throws {
    try await withTemporaryDirectory { sandbox in
      let first = try lockFile(sandbox).lock()
      _ = try first.bumpCounter()
      #expect(first.hasItsName)
      try sandbox.files.unlink(sandbox.path("lock"), at: .workingDirectory, .file)
      #expect(!first.hasItsName)
      let second = try #require(try lockFile(sandbox).tryLock())
      #expect(second.hasItsName && !first.hasItsName)
      #expect(try second.readCounter() == 0)
      #expect(try first.readCounter() == 1)
      #expect(try lockFile(sandbox).tryLock() == nil)
    }
  }

  @Test("An item that isn't a file of the user's is refused", arguments: ["link", "dangling", "fifo", "directory"])
  func refusals(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("target", "")
      try sandbox.link("link", to: "target")
      try sandbox.link("dangling", to: "new")
      try sandbox.makeDirectory("directory")
      try #require(mkfifo(sandbox.path("fifo").description, 0o600) == 0)
      let errors = ["link": ELOOP, "dangling": ELOOP, "fifo": EINVAL, "directory": EISDIR]
      let error = #expect(throws: SystemError.self) { try LockFile(sandbox.path(name)).tryLock() }
      #expect(error?.errno == errors[name])
      #expect(error?.paths == [sandbox.path(name)])
      #expect(try sandbox.status("new") == nil)
    }
  }

  @Test("Another user's file is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
  func foreignOwner() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("lock", "")
      try sandbox.files.setOwner(of: sandbox.path("lock"), at: .workingDirectory, to: 65534, group: 65534)
      let error = #expect(throws: SystemError.self) { try lockFile(sandbox).tryLock() }
      #expect(error?.errno == EPERM)
      #expect(error?.advice?.contains("65534") == true)
    }
  }

  @Test("A file that others could lock is closed to them")
  func loosePermissions() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("lock", "")
      #expect(try lockFile(sandbox).tryLock() != nil)
      #expect(try sandbox.status("lock")?.mode == 0o1600)
    }
  }

  @Test("The counter goes on where the last holder stopped")
  func counter() async throws {
    try await withTemporaryDirectory { sandbox in
      for expected in UInt64(1)...3 {
        let held = try lockFile(sandbox).lock()
        #expect(try held.readCounter() == expected - 1)
        #expect(try held.bumpCounter() == expected)
        #expect(try held.readCounter() == expected)
        held.release()
        #expect(throws: SystemError(call: "pread(2)", paths: [sandbox.path("lock")], errno: EBADF)) {
          try held.readCounter()
        }
      }
      #expect(try sandbox.files.contents(of: sandbox.path("lock")) == [3, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test("The counter is at least what is asked for, and more if it was more before")
  func counterFloor() async throws {
    try await withTemporaryDirectory { sandbox in
      let held = try lockFile(sandbox).lock()
      #expect(try held.bumpCounter(atLeast: 1_000) == 1_000)
      #expect(try held.bumpCounter(atLeast: 1_000) == 1_001)
      #expect(try held.bumpCounter(atLeast: 7) == 1_002)
      #expect(try held.readCounter() == 1_002)
    }
  }

  @Test(
    "A file with less than eight bytes counts as 0, more don't matter, and after the largest number comes 0",
    arguments: [
      ("", 0), ("abc", 0), ("\u{1}\u{2}\0\0\0\0\0\0", 0x201), ("\u{1}\0\0\0\0\0\0\u{10}tail", 0x1000_0000_0000_0001),
    ] as [(String, UInt64)])
  func storedCounter(text: String, value: UInt64) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("lock", text)
      let held = try lockFile(sandbox).lock()
      #expect(try held.readCounter() == value)
      #expect(try held.bumpCounter() == value + 1)
    }
  }

  @Test("A counter at its largest number starts again")
  func counterOverflow() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.files.withDescriptor(
        sandbox.path("lock"), flags: [.create, .writeOnly], mode: 0o600
      ) { (file) throws(SystemError) in
        try sandbox.files.writeAll([UInt8](repeating: 0xFF, count: 8), to: file)
      }
      let held = try lockFile(sandbox).lock()
      #expect(try held.readCounter() == .max)
      #expect(try held.bumpCounter() == 0)
    }
  }
}

/// Takes the kind of lock that ``LockFile`` takes on a descriptor that can be passed on.
private func lockDescription(_ descriptor: Int32) -> Int32 {
  var lock = flock()
  lock.l_type = Int16(F_WRLCK)
  lock.l_whence = Int16(SEEK_SET)
  return fcntl(descriptor, 37 /* F_OFD_SETLK */, &lock)
}
