internal import Glibc

/// One `struct inotify_event`, see inotify(7).
package struct InotifyRecord: Hashable, Sendable {
  /// The number of the watch; -1 for an overflow.
  package let watch: Int32
  /// The kind of event, and flags.
  package let mask: UInt32
  /// Ties the two halves of a rename together; otherwise 0.
  package let cookie: UInt32
  /// The name in the watched directory; empty for the watched item itself.
  package let name: [UInt8]

  func has(_ flag: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: flag) != 0 }

  private static let headerByteCount = 16
  /// Of a queue in which records were lost.
  static let overflow = InotifyRecord(watch: -1, mask: UInt32(IN_Q_OVERFLOW), cookie: 0, name: [])

  /// Reads a batch, and calls `body` for each record in it.
  ///
  /// A queue that can't be read counts as one in which everything is lost.
  ///
  /// - Returns: How many bytes were read; 0 when there are none.
  static func takeBatch(of expected: Int, from descriptor: Int32, _ body: (InotifyRecord) -> Void) -> Int {
    // A buffer too small for one event would be refused; a large one costs more to clear than to read.
    var buffer = [UInt8](repeating: 0, count: min(max(expected, 4096), 65536))
    var count = 0
    repeat {
      count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    } while count < 0 && Glibc.errno == EINTR
    if count < 0 {
      if Glibc.errno != EAGAIN { body(.overflow) }
      return 0
    }
    unsafe buffer.withUnsafeBytes { unsafe parse(UnsafeRawBufferPointer(rebasing: $0[..<count]), body) }
    return count
  }

  /// Watch, mask, cookie, length (4 bytes each), name padded with NULs.
  private static func parse(_ bytes: UnsafeRawBufferPointer, _ body: (InotifyRecord) -> Void) {
    var offset = 0
    while offset + headerByteCount <= bytes.count {
      let length = Int(unsafe bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
      let nameStart = offset + headerByteCount
      let name = unsafe bytes[nameStart..<(nameStart + length)]
      body(
        InotifyRecord(
          watch: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self),
          mask: unsafe bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self),
          cookie: unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt32.self),
          name: unsafe Array(name.prefix { $0 != 0 })))
      offset = nameStart + length
    }
  }
}

extension InotifyRecord {
  /// Events were lost.
  package var isOverflow: Bool { has(IN_Q_OVERFLOW) }
  /// The last that is heard of the watch.
  package var isEnd: Bool { has(IN_IGNORED) }
  /// The item that the name stands for is a directory.
  package var isDirectory: Bool { has(IN_ISDIR) }
  /// The name is new.
  package var isCreation: Bool { has(IN_CREATE) }
  /// The name is gone.
  package var isRemoval: Bool { has(IN_DELETE) }
  /// The name is gone, and stands elsewhere.
  package var isDeparture: Bool { has(IN_MOVED_FROM) }
  /// The name stands for an item from elsewhere.
  package var isArrival: Bool { has(IN_MOVED_TO) }
  /// Contents or attributes may be others.
  package var isChange: Bool { has(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB) }
  /// The watched item itself was moved.
  package var isOwnMove: Bool { has(IN_MOVE_SELF) }
}
