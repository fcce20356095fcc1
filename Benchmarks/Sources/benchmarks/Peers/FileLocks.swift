import BenchmarkShims
import Glibc

/// An open file description of one thread.
struct OpenFile: ~Copyable {
  let descriptor: Int32

  init(_ path: String) throws {
    descriptor = open(path, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { throw PeerFailure("open \(path)", errno) }
  }

  deinit { close(descriptor) }
}

/// flock(2) on a descriptor that is kept open.
struct KeptFileLockWorker: LockWorker, ~Copyable {
  private let file: OpenFile

  init(_ path: String) throws { file = try OpenFile(path) }

  func read(_ body: () -> Void) throws { try lock(LOCK_SH, body) }

  func write(_ body: () -> Void) throws { try lock(LOCK_EX, body) }

  @inline(__always)
  private func lock(_ operation: Int32, _ body: () -> Void) throws {
    try check(flock(file.descriptor, operation), "flock")
    body()
    try check(flock(file.descriptor, LOCK_UN), "flock")
  }
}

/// open(2), flock(2), unlock, close(2): the calls of a program that locks a file by its path.
struct OpenedFileLockWorker: LockWorker, ~Copyable {
  private let path: String

  init(_ path: String) { self.path = path }

  func read(_ body: () -> Void) throws { try lock(LOCK_SH, body) }

  func write(_ body: () -> Void) throws { try lock(LOCK_EX, body) }

  @inline(__always)
  private func lock(_ operation: Int32, _ body: () -> Void) throws {
    let file = try OpenFile(path)
    try check(flock(file.descriptor, operation), "flock")
    body()
    try check(flock(file.descriptor, LOCK_UN), "flock")
  }
}

/// fcntl(2) with `F_OFD_SETLKW` on a descriptor that is kept open.
struct OpenFileDescriptionLockWorker: LockWorker, ~Copyable {
  private let file: OpenFile

  init(_ path: String) throws { file = try OpenFile(path) }

  func read(_ body: () -> Void) throws { try lock(F_RDLCK, body) }

  func write(_ body: () -> Void) throws { try lock(F_WRLCK, body) }

  @inline(__always)
  private func lock(_ type: Int32, _ body: () -> Void) throws {
    try check(bench_ofd_lock(file.descriptor, type), "F_OFD_SETLKW")
    body()
    try check(bench_ofd_lock(file.descriptor, F_UNLCK), "F_OFD_SETLKW")
  }
}
