/// The name of one node: short ones lie in it, the end of a long one in blocks of a ``NameStore``.
struct NodeName: Sendable {
  fileprivate var head: (UInt64, UInt64) = (0, 0)
  fileprivate var block: Int32 = -1
  fileprivate(set) var count: Int32 = 0

  fileprivate static let headSize = 16

  init() {}
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

  mutating func insert(_ bytes: RawSpan) -> NodeName {
    var name = NodeName()
    name.count = Int32(bytes.byteCount)
    name.head = (bytes.word(at: 0), bytes.word(at: 8))
    // From the end, so that each block knows the next one.
    var offset =
      NodeName.headSize + Block.size * ((max(bytes.byteCount - NodeName.headSize, 0) + Block.size - 1) / Block.size)
    while offset > NodeName.headSize {
      offset -= Block.size
      let words = (bytes.word(at: offset), bytes.word(at: offset + 8), bytes.word(at: offset + 16))
      name.block = blocks.insert(Block(words: words, next: name.block))
    }
    return name
  }

  mutating func remove(_ name: NodeName) {
    var block = name.block
    while block != -1 {
      let next = blocks[block].next
      blocks.remove(block)
      block = next
    }
  }

  func isEqual(_ name: NodeName, _ bytes: RawSpan) -> Bool {
    guard Int(name.count) == bytes.byteCount, name.head.0 == bytes.word(at: 0), name.head.1 == bytes.word(at: 8) else {
      return false
    }
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

  /// Writes a name over the bytes from `start` on.
  func write(_ name: NodeName, to bytes: inout [UInt8], at start: Int) {
    var position = start
    let end = start + Int(name.count)
    func write(_ word: UInt64) {
      var word = word
      let limit = min(position + 8, end)
      while position < limit {
        bytes[position] = UInt8(truncatingIfNeeded: word)
        word >>= 8
        position += 1
      }
    }
    write(name.head.0)
    write(name.head.1)
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
