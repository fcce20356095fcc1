internal import CSystemShims
internal import Glibc

/// A file that one process at a time holds, to be the one that does something.
///
/// The lock is an open file description lock, see fcntl(2) F_OFD_SETLK: the kernel releases it when the process ends,
/// however it ends. It belongs to the ``HeldLock``, not to the process, so two holders in one process exclude each other
/// too, and closing another descriptor of the file doesn't release it.
///
/// The file has the sticky bit, by which programs that clean up temporary directories leave it alone: XDG Base
/// Directory Specification, `XDG_RUNTIME_DIR`.
package struct LockFile: Hashable, Sendable {
  /// The absolute path of the file.
  package let path: SystemPath

  /// Names a lock, without opening the file.
  ///
  /// - Parameter path: The absolute path of the file, in a directory that only this user may write to.
  package init(_ path: SystemPath) {
    self.path = path
  }

  /// Takes the lock if it is free, making the file if it isn't there.
  ///
  /// - Returns: The lock; `nil` when another holder has it.
  /// - Throws: ELOOP for a symbolic link, EINVAL for something else that isn't a file, EPERM for another user's file, ESTALE
  ///   when the file is replaced over and over; any other error of open(2), fstat(2), fchmod(2) and fcntl(2).
  package func tryLock() throws(SystemError) -> HeldLock? {
    try takeLock(waits: false)
  }

  /// Takes the lock, blocking the calling thread until it is free; makes the file if it isn't there.
  ///
  /// The kernel doesn't detect a deadlock, not even of a thread that holds the lock already.
  ///
  /// - Returns: The lock.
  /// - Throws: As ``tryLock()``.
  package func lock() throws(SystemError) -> HeldLock {
    guard let held = try takeLock(waits: true) else {
      throw SystemError(call: "fcntl(2)", paths: [path], errno: EAGAIN)
    }
    return held
  }

  /// Takes the lock together with others that can't write the file, if nobody has it for himself.
  ///
  /// For a file that can't be made or written, because of its permissions or on a volume that's read-only.
  ///
  /// - Returns: The lock; `nil` when a holder excludes others.
  /// - Throws: ENOENT when the file isn't there; otherwise as ``tryLock()``.
  package func tryShare() throws(SystemError) -> HeldLock? {
    let (descriptor, identity) = try open(flags: [])
    do {
      try descriptor.checked("fcntl(2)", path) { shim_lock_shared($0) }
    } catch let error where error.isOne(of: EAGAIN, EACCES) {
      return nil
    }
    return HeldLock(descriptor, path: path, identity)
  }

  /// How often the file may be replaced between opening and locking it.
  private static let replacementCountMax = 100

  private func takeLock(waits: Bool) throws(SystemError) -> HeldLock? {
    for _ in 0..<Self.replacementCountMax {
      let (descriptor, identity) = try open(flags: [.create, .readWrite])
      do {
        try descriptor.checked("fcntl(2)", path) { shim_lock_exclusively($0, waits) }
      } catch let error where !waits && error.isOne(of: EAGAIN, EACCES) {
        return nil
      }
      // A process that finds the name now must find the file we have locked.
      let present = try HostFileSystem().statusIfPresent(of: path, at: .workingDirectory)
      if present?.identity == identity { return HeldLock(descriptor, path: path, identity) }
    }
    throw SystemError(
      call: "fcntl(2)", paths: [path], errno: ESTALE,
      advice: "A program replaces or removes the file all the time. Find that program, and stop it.")
  }

  /// For this user alone, and not for programs that clean up.
  private static let mode: UInt32 = 0o1600

  private func open(flags: OpenFlags) throws(SystemError) -> (OwnedDescriptor, FileIdentity) {
    let files = HostFileSystem()
    do {
      let number = try files.open(
        path, at: .workingDirectory, flags: flags.union([.noFollow, .nonBlocking]), mode: Self.mode)
      let descriptor = OwnedDescriptor(number.rawValue)
      let status = try files.status(of: number)
      try check(status)
      if flags.contains(.readWrite), status.mode != Self.mode { try files.setMode(of: number, to: Self.mode) }
      return (descriptor, status.identity)
    } catch {
      var error = error
      error.paths = [path]
      if error.errno == ELOOP { error.advice = "A symbolic link has the name of the lock file. Remove it." }
      throw error
    }
  }

  private func check(_ status: FileStatus) throws(SystemError) {
    if status.kind != .regular {
      throw SystemError(
        call: "openat(2)", errno: EINVAL, advice: "The lock has to be a regular file. Remove that item.")
    }
    if status.owner != HostUser.effectiveUserID {
      throw SystemError(
        call: "openat(2)", errno: EPERM,
        advice: "The lock file belongs to user \(status.owner), not to \(HostUser.effectiveUserID). "
          + "Have it removed by its owner or an administrator.")
    }
  }
}

extension SystemPath {
  /// Whether it's the name of a file that's kept open; yes when that can't be found out.
  func isName(of identity: FileIdentity) -> Bool {
    do {
      return try HostFileSystem().statusIfPresent(of: self, at: .workingDirectory)?.identity == identity
    } catch {
      return true
    }
  }
}

/// A lock on a file, held until it is released or its last reference is gone.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `descriptor` | itself, see ``OwnedDescriptor`` | ``release()`` may come while another thread uses the counter |
/// | the counter in the file | the lock; threads of the holder take turns | a read and a write aren't one step |
package final class HeldLock: Sendable {
  private let descriptor: OwnedDescriptor
  private let path: SystemPath
  /// The number isn't reused as long as the file is open.
  private let identity: FileIdentity

  fileprivate init(_ descriptor: OwnedDescriptor, path: SystemPath, _ identity: FileIdentity) {
    self.descriptor = descriptor
    self.path = path
    self.identity = identity
  }

  /// Whether the file still has its name: if it was removed, others can take the lock of a new one.
  ///
  /// When that can't be determined the answer is yes.
  package var hasItsName: Bool { path.isName(of: identity) }

  deinit {
    release()
  }

  /// Releases the lock; later calls fail with EBADF.
  ///
  /// In a forked child it does nothing: the lock is the parent's.
  package func release() {
    // Closing isn't enough: between fork(2) and execve(2) a child of another thread has the descriptor, too.
    descriptor.withOwnNumber { _ = shim_unlock($0) }
    descriptor.close()
  }

  /// Lets a page of memory show the beginning of the file.
  ///
  /// - Parameters:
  ///   - address: The page; its former contents are replaced.
  ///   - length: How long it is.
  ///   - value: The value of its first word, in the processor's order of bytes.
  /// - Throws: EBADF after ``release()``; ENOSPC and any other error of pwrite(2) and mmap(2).
  func map(at address: Int, length: Int, initially value: UInt64) throws(SystemError) {
    // Written, not only made longer: a page for which the file system has no room would be a signal at the first use.
    var value = value
    let count = try descriptor.checked("pwrite(2)", path) { unsafe pwrite($0, &value, 8, 0) }
    if count != 8 { throw SystemError(call: "pwrite(2)", paths: [path], errno: ENOSPC) }
    try descriptor.checked("mmap(2)", path) { number in
      let page = unsafe mmap(
        UnsafeMutableRawPointer(bitPattern: address), length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, number, 0)
      return unsafe page == MAP_FAILED ? -1 : 0
    }
  }

  /// Reads the number in the file: the last result of ``bumpCounter(atLeast:)``, by any process.
  ///
  /// - Returns: The first eight bytes, least significant first; 0 when the file has less.
  /// - Throws: EBADF after ``release()``; any error of pread(2).
  package func readCounter() throws(SystemError) -> UInt64 {
    var stored: UInt64 = 0
    let count = try descriptor.checked("pread(2)", path) { unsafe pread($0, &stored, 8, 0) }
    return count == 8 ? UInt64(littleEndian: stored) : 0
  }

  /// Makes the number in the file a greater one.
  ///
  /// The new number outlives the process, but isn't forced to the disk: after a crash of the whole computer it may be
  /// an older one.
  ///
  /// - Parameter floor: The least that it may be: the time, for example, so that it grows also if the file was removed.
  /// - Returns: The new number. After the largest comes `floor`.
  /// - Throws: EBADF after ``release()``; ENOSPC and any other error of pread(2) and pwrite(2).
  package func bumpCounter(atLeast floor: UInt64 = 0) throws(SystemError) -> UInt64 {
    // A file may hold any number, so overflow isn't a mistake of ours.
    let value = max(try readCounter() &+ 1, floor)
    var stored = value.littleEndian
    let count = try descriptor.checked("pwrite(2)", path) { unsafe pwrite($0, &stored, 8, 0) }
    if count != 8 { throw SystemError(call: "pwrite(2)", paths: [path], errno: ENOSPC) }
    return value
  }
}
