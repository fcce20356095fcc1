// Public for the other targets of this package alone, which get specialized code for it; no product offers it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// The name of one node: short ones lie in it, the end of a long one in blocks of a ``NodeNameStore``.
///
/// | name          | `low`                          | `high`, bytes 0 to 6 | `high`, byte 7 |
/// | ------------- | ------------------------------ | -------------------- | -------------- |
/// | to 15 bytes   | bytes 0 to 7                   | bytes 8 to 14        | their number   |
/// | longer        | first block, number of bytes   | bytes 0 to 6         | 255            |
public struct NodeName: Equatable, Sendable {
  @usableFromInline let low: UInt64
  @usableFromInline let high: UInt64

  @inlinable public static var shortCountMax: Int { 15 }
  /// How much of a long name lies in the node.
  @inlinable public static var headSize: Int { 7 }
  @inlinable public static var headMask: UInt64 { 1 << 56 - 1 }

  /// The empty name.
  @inlinable public init() { (low, high) = (0, 0) }

  @inline(__always)
  @inlinable public init(short bytes: RawSpan) {
    low = bytes.word(at: 0)
    high = bytes.word(at: 8) | UInt64(bytes.byteCount) << 56
  }

  @inlinable public init(long bytes: RawSpan, block: Int32) {
    low = UInt64(UInt32(bitPattern: block)) | UInt64(UInt32(bytes.byteCount)) << 32
    high = bytes.word(at: 0) & NodeName.headMask | 255 << 56
  }

  @inlinable public var isLong: Bool { high >> 56 == 255 }
  /// Of a long name.
  @inlinable public var block: Int32 { Int32(truncatingIfNeeded: low) }

  /// How many bytes it has.
  @inlinable public var count: Int { isLong ? Int(low >> 32) : Int(high >> 56) }
}

/// The ends of long names.
///
/// Bytes are kept and compared eight at a time, the last ones filled up with zeros. Two names of equal length with equal
/// words are equal.
public struct NodeNameStore: Sendable {
  public struct Block: Sendable {
    @usableFromInline var words: (UInt64, UInt64, UInt64)
    @usableFromInline var next: Int32

    @inlinable public init(words: (UInt64, UInt64, UInt64), next: Int32) {
      self.words = words
      self.next = next
    }

    @inlinable public static var size: Int { 24 }
  }

  @usableFromInline var blocks = Slab<Block>()

  @inlinable public init() {}

  /// How many blocks there are.
  @inlinable public var blockCount: Int { blocks.count }

  @inlinable public var reservedByteCount: Int { blocks.reservedByteCount }

  @inlinable public mutating func insert(_ bytes: RawSpan) -> NodeName {
    if bytes.byteCount <= NodeName.shortCountMax { return NodeName(short: bytes) }
    var block: Int32 = -1
    // From the end, so that each block has the index of the next one.
    var offset =
      NodeName.headSize + Block.size * ((bytes.byteCount - NodeName.headSize + Block.size - 1) / Block.size)
    while offset > NodeName.headSize {
      offset -= Block.size
      let words = (bytes.word(at: offset), bytes.word(at: offset + 8), bytes.word(at: offset + 16))
      block = blocks.insert(Block(words: words, next: block))
    }
    return NodeName(long: bytes, block: block)
  }

  @inlinable public mutating func remove(_ name: NodeName) {
    if !name.isLong { return }
    var block = name.block
    while block != -1 {
      let next = blocks[block].next
      blocks.remove(block)
      block = next
    }
  }

  @inline(__always)
  @inlinable public func isEqual(_ name: NodeName, _ bytes: RawSpan) -> Bool {
    if bytes.byteCount <= NodeName.shortCountMax { return name == NodeName(short: bytes) }
    return isEqual(long: name, bytes)
  }

  @inlinable public func isEqual(long name: NodeName, _ bytes: RawSpan) -> Bool {
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
  @inlinable public func write(_ name: NodeName, to start: UnsafeMutableRawPointer) {
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
