import Glibc

/// A file that a program has mapped for writing, as databases have theirs.
///
/// The first store to a page that's clean changes the times of the file. Later ones change nothing but the bytes until the kernel has written
/// the page back, and no watch reports any of them (mmap(2), inotify(7)). Tests make the page dirty at once.
package final class MappedFile: @unchecked Sendable {
  // The pointer is constant, and tests store from one thread at a time.
  private let bytes: UnsafeMutableRawPointer
  private let count: Int

  /// Maps a whole file, which isn't empty, and stores its first byte again.
  ///
  /// - Parameter path: The file.
  package init?(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    if descriptor < 0 { return nil }
    defer { close(descriptor) }
    count = Int(lseek(descriptor, 0, SEEK_END))
    guard count > 0, let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      start != MAP_FAILED
    else { return nil }
    bytes = start
    bytes.storeBytes(of: bytes.load(as: UInt8.self), as: UInt8.self)
  }

  deinit { munmap(bytes, count) }

  /// Stores a text over the beginning of the file, whose size it doesn't change.
  ///
  /// - Parameter text: The text, cut off at the end of the file.
  package func store(_ text: String) {
    for (offset, byte) in text.utf8.prefix(count).enumerated() {
      bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
  }
}
