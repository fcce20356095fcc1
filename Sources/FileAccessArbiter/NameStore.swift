/// The name of one node: short ones lie in it, the end of a long one in blocks of a ``NameStore``.
///
/// | name          | `low`                          | `high`, bytes 0 to 6 | `high`, byte 7 |
/// | ------------- | ------------------------------ | -------------------- | -------------- |
/// | to 15 bytes   | bytes 0 to 7                   | bytes 8 to 14        | their number   |
/// | longer        | first block, number of bytes   | bytes 0 to 6         | 255            |
struct NodeName: Equatable, Sendable {
  fileprivate let low: UInt64
  fileprivate let high: UInt64

  fileprivate static let shortCountMax = 15
  /// How much of a long name lies in the node.
  fileprivate static let headSize = 7
  fileprivate static let headMask: UInt64 = 1 << 56 - 1

  /// The empty name.
  init() { (low, high) = (0, 0) }

  @inline(__always)
  fileprivate init(short bytes: RawSpan) {
    low = bytes.word(at: 0)
    high = bytes.word(at: 8) | UInt64(bytes.byteCount) << 56
  }

  fileprivate init(long bytes: RawSpan, block: Int32) {
    low = UInt64(UInt32(bitPattern: block)) | UInt64(UInt32(bytes.byteCount)) << 32
    high = bytes.word(at: 0) & NodeName.headMask | 255 << 56
  }

  fileprivate var isLong: Bool { high >> 56 == 255 }
  /// Of a long name.
  fileprivate var block: Int32 { Int32(truncatingIfNeeded: low) }

  /// How many bytes it has.
  var count: Int { isLong ? Int(low >> 32) : Int(high >> 56) }
}

/// The ends of long names.
///
/// Bytes are kept and compared eight at a time, the last ones filled up with zeros. What looks equal then and has the same
/// length is equal.
struct NameStore: Sendable {
  private struct Block: Sendable {
    var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    var next: Int32 = -1

    static let size = 24
  }

  private var blocks = Slab<Block>()

  /// How many blocks there are.
  var blockCount: Int { blocks.count }

  var reservedByteCount: Int { blocks.reservedByteCount }

  mutating func insert(_ bytes: RawSpan) -> NodeName {
    if bytes.byteCount <= NodeName.shortCountMax { return NodeName(short: bytes) }
    var block: Int32 = -1
    // From the end, so that each block knows the next one.
    var offset =
      NodeName.headSize + Block.size * ((bytes.byteCount - NodeName.headSize + Block.size - 1) / Block.size)
    while offset > NodeName.headSize {
      offset -= Block.size
      let words = (bytes.word(at: offset), bytes.word(at: offset + 8), bytes.word(at: offset + 16))
      block = blocks.insert(Block(words: words, next: block))
    }
    return NodeName(long: bytes, block: block)
  }

  mutating func remove(_ name: NodeName) {
    if !name.isLong { return }
    var block = name.block
    while block != -1 {
      let next = blocks[block].next
      blocks.remove(block)
      block = next
    }
  }

  @inline(__always)
  func isEqual(_ name: NodeName, _ bytes: RawSpan) -> Bool {
    if bytes.byteCount <= NodeName.shortCountMax { return name == NodeName(short: bytes) }
    return isEqual(long: name, bytes)
  }

  private func isEqual(long name: NodeName, _ bytes: RawSpan) -> Bool {
    if !name.isLong || name != NodeName(long: bytes, block: name.block) { return false }
    var block = name.block
    var offset = NodeName.headSize
    while block != -1 {
      let words = blocks[block].words
      if words != (bytes.word(at: offset), bytes.word(at: offset + 8), bytes.word(at: offset + 16)) { return false }
      offset += Block.size
      block = blocks[block].next
    }
    return true
  }

  /// Writes a name's bytes from `start` on, where there has to be room for ``NodeName/count`` of them.
  func write(_ name: NodeName, to start: UnsafeMutableRawPointer) {
    var position = unsafe start
    let end = unsafe start + name.count
    func write(_ word: UInt64, _ size: Int = 8) {
      var word = word
      let count = unsafe min(size, end - position)
      if count == 8 {
        unsafe position.storeBytes(of: word.littleEndian, as: UInt64.self)
      } else {
        for offset in 0..<max(count, 0) {
          unsafe position.storeBytes(of: UInt8(truncatingIfNeeded: word), toByteOffset: offset, as: UInt8.self)
          word >>= 8
        }
      }
      unsafe position += max(count, 0)
    }
    if !name.isLong {
      write(name.low)
      return write(name.high)
    }
    write(name.high, NodeName.headSize)
    var block = name.block
    while block != -1 {
      let words = blocks[block].words
      write(words.0)
      write(words.1)
      write(words.2)
      block = blocks[block].next
    }
  }
}

extension RawSpan {
  /// Eight bytes from `offset` on, the first one lowest; zeros stand for what lies behind the end.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    if offset &+ 8 <= byteCount {
      return UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    var index = byteCount
    while index > offset {
      index &-= 1
      word = word << 8 | UInt64(unsafe unsafeLoad(fromUncheckedByteOffset: index, as: UInt8.self))
    }
    return word
  }
}
