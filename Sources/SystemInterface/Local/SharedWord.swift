internal import Glibc

/// A word of memory that can become the first one of a file, for other processes to change.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the word | itself: whoever reads and writes it does so atomically | other processes write it whenever they like |
///
/// Reading it costs nothing more than reading memory. The address stays the same.
package final class SharedWord: Sendable {
  /// Where the word is, aligned to a page.
  package let address: Int
  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  /// Creates a word that's zero and that only this process sees.
  package init() {
    let page = unsafe mmap(nil, Self.pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let page = unsafe page, unsafe page != MAP_FAILED else {
      preconditionFailure("there's no page of memory left")
    }
    address = Int(bitPattern: page)
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), Self.pageSize) }

  /// Makes the word that of a file which this process holds; a file that it was before it is no more.
  ///
  /// Nobody may shorten the file as long as it is mapped.
  ///
  /// - Parameters:
  ///   - lock: Holds the file.
  ///   - value: What the word is from the moment on at which it's that of the file.
  /// - Throws: ENOSPC when the file system is full; any other error of pwrite(2) and mmap(2). The word then is as before.
  package func attach(to lock: HeldLock, initially value: UInt64) throws(SystemError) {
    try lock.map(at: address, length: Self.pageSize, initially: value)
  }
}

extension LockFile {
  /// Sets the first word of a file that another process holds, and that it may have attached a ``SharedWord`` to.
  ///
  /// - Parameter value: The new value.
  /// - Throws: ENOENT when the file isn't there; any other error of open(2) and pwrite(2).
  package func setSharedWord(to value: UInt64) throws(SystemError) {
    let files = HostFileSystem()
    let number = try files.open(path, at: .workingDirectory, flags: [.readWrite, .noFollow, .nonBlocking], mode: 0)
    let descriptor = OwnedDescriptor(number.rawValue)
    // The processor's own order of bytes: it's memory of the other process.
    var value = value
    try descriptor.checked("pwrite(2)", path) { unsafe pwrite($0, &value, 8, 0) }
  }
}
