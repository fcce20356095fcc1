/// Finds frames in a stream of bytes that comes in pieces of any size.
///
/// It keeps the bytes of an unfinished frame and no more, whatever length that frame claims to have. After an error the
/// beginning of the next frame can't be found: the decoder throws the same error ever after.
package struct FrameDecoder<Frame: WireValue> {
  /// The bytes from the first frame that wasn't returned on; before it, frames that were.
  private var buffer: [UInt8] = []
  /// How many bytes of the buffer are done with.
  private var start = 0
  private var failure: WireError?

  package init() {}

  /// How many bytes wait for the rest of their frame, or to be asked for.
  package var pendingByteCount: Int { buffer.count - start }

  /// The next bytes of the stream.
  ///
  /// - Complexity: O(length of `bytes`), amortised.
  package mutating func append(_ bytes: RawSpan) {
    if failure != nil { return }
    dropReturnedFrames()
    unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
  }

  /// The next frame, or `nil` until more has arrived.
  ///
  /// - Returns: The frame, or `nil` when it has not arrived as a whole.
  /// - Throws: `WireError` when the bytes are no frame.
  /// - Complexity: O(length of the frame).
  package mutating func next() throws(WireError) -> Frame? {
    if let failure { throw failure }
    do throws(WireError) {
      return try decodeNext()
    } catch {
      failure = error
      buffer = []
      start = 0
      throw error
    }
  }

  private mutating func decodeNext() throws(WireError) -> Frame? {
    guard pendingByteCount >= WireFormat.headerByteCount else { return nil }
    // Any bytes are a length.
    let length = unsafe buffer.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self)
    let byteCount = Int(UInt32(littleEndian: length))
    guard byteCount <= WireFormat.frameByteCountMax else {
      let limit = WireFormat.frameByteCountMax
      throw WireError(.frameTooLong, at: 0, "the frame claims to have \(byteCount) bytes, and \(limit) is the limit")
    }
    let end = start + WireFormat.headerByteCount + byteCount
    guard end <= buffer.count else { return nil }
    var reader = WireReader(buffer, frameFrom: start, to: end)
    let frame = try Frame(from: &reader)
    try reader.finish()
    start = end
    return frame
  }

  /// Makes room at the end of the buffer.
  ///
  /// Moves no more bytes than have been returned since it last did.
  private mutating func dropReturnedFrames() {
    if start == buffer.count {
      // One long frame is no reason to keep as much memory for a connection from then on.
      buffer.removeAll(keepingCapacity: buffer.capacity <= FrameDecoder.keptByteCountMax)
      start = 0
    } else if start > buffer.count / 2 {
      buffer.removeSubrange(..<start)
      start = 0
    }
  }

  private static var keptByteCountMax: Int { 256 << 10 }
}
