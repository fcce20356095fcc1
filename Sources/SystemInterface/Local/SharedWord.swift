internal import Glibc
internal import Synchronization

/// A word of memory that can become the first one of a file, for other processes to change.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the word | itself: all threads and processes read and write it atomically | other processes write it at any time |
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

  deinit {
    PagesOfParent.remove(address)
    unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), Self.pageSize)
  }

  /// Makes the word that of a file which this process holds; it's no longer that of any file before.
  ///
  /// No process may shorten the file as long as it is mapped. In a child of fork(2) the word is one of the child's own,
  /// with this value.
  ///
  /// - Parameters:
  ///   - lock: Holds the file.
  ///   - value: The value of the word from the moment on at which it's that of the file.
  /// - Throws: ENOSPC when the file system is full; any other error of pwrite(2) and mmap(2). The word then is as before.
  package func attach(to lock: HeldLock, initially value: UInt64) throws(SystemError) {
    PagesOfParent.insert(address, Self.pageSize, valueInChild: value)
    try lock.map(at: address, length: Self.pageSize, initially: value)
  }
}

/// Pages of files that a child of fork(2) doesn't share: a mapped file stays open, and locked by the parent, as long as the child has it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | each address | itself | the child may do nothing that takes a lock |
/// | the rest | written before the first address | the child reads it |
private enum PagesOfParent {
  /// One for each domain of several processes; children share further ones.
  private static let countMax = 1024
  nonisolated(unsafe) private static let addresses: UnsafeMutablePointer<Atomic<Int>>? = unsafe makeAddresses()
  private static let pageSize = Atomic<Int>(0)
  private static let valueInChild = Atomic<UInt64>(0)

  /// Never freed.
  private static func makeAddresses() -> UnsafeMutablePointer<Atomic<Int>>? {
    let byteCount = countMax * MemoryLayout<Int>.size
    let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED, pthread_atfork(nil, nil, replaceAll) == 0 else {
      return nil
    }
    return unsafe memory.bindMemory(to: Atomic<Int>.self, capacity: countMax)
  }

  static func insert(_ address: Int, _ size: Int, valueInChild value: UInt64) {
    guard let addresses = unsafe addresses else { return }
    pageSize.store(size, ordering: .relaxed)
    valueInChild.store(value, ordering: .releasing)
    for index in 0..<countMax where unsafe addresses[index].load(ordering: .relaxed) == address { return }
    for index in 0..<countMax {
      let result = unsafe addresses[index].compareExchange(
        expected: 0, desired: address, ordering: .acquiringAndReleasing)
      if result.exchanged { return }
    }
  }

  static func remove(_ address: Int) {
    guard let addresses = unsafe addresses else { return }
    for index in 0..<countMax {
      let result = unsafe addresses[index].compareExchange(
        expected: address, desired: 0, ordering: .acquiringAndReleasing)
      if result.exchanged { return }
    }
  }

  /// In the child, whose other threads are gone: only system calls.
  private static let replaceAll: @convention(c) () -> Void = {
    guard let addresses = unsafe addresses else { return }
    for index in 0..<countMax {
      let address = unsafe addresses[index].load(ordering: .relaxed)
      guard address != 0 else { continue }
      let page = unsafe mmap(
        UnsafeMutableRawPointer(bitPattern: address), pageSize.load(ordering: .relaxed), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
      if let page = unsafe page, unsafe page != MAP_FAILED {
        unsafe page.storeBytes(of: valueInChild.load(ordering: .relaxed), as: UInt64.self)
      }
    }
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
