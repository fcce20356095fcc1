// Feeds arbitrary bytes to the decoders of both directions, see `.ci/fuzz`. No target of the package.
import CoordinationService

/// Called by libFuzzer with each input that it makes up.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrameDecoder(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  check(ClientFrame.self, bytes)
  check(ServerFrame.self, bytes)
  // As one frame of the right length: otherwise few inputs get beyond the length.
  let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
  check(ClientFrame.self, length + bytes)
  check(ServerFrame.self, length + bytes)
  return 0
}

/// A decoded frame has the bytes that it was decoded from, in pieces of any size.
private func check<Frame: WireValue & Equatable>(_ type: Frame.Type, _ bytes: [UInt8]) {
  var decoder = FrameDecoder<Frame>()
  // The first byte decides how large the pieces are.
  let pieceSize = 1 + Int(bytes.first ?? 0)
  var rest = bytes[...]
  do {
    while !rest.isEmpty {
      let piece = rest.prefix(pieceSize)
      rest = rest.dropFirst(pieceSize)
      decoder.append(piece.span.bytes)
      while let frame = try decoder.next() { checkSpelling(of: frame) }
    }
  } catch {
    precondition(decoder.pendingByteCount == 0, "a decoder that has failed keeps nothing")
  }
}

/// Decoding a frame that was just encoded must not fail: an error ends the process, as a difference does.
private func checkSpelling<Frame: WireValue & Equatable>(of frame: Frame) {
  var bytes: [UInt8] = []
  var decoder = FrameDecoder<Frame>()
  var decoded: Frame?
  do throws(WireError) {
    try WireFormat.append(frame, to: &bytes)
    decoder.append(bytes.span.bytes)
    decoded = try decoder.next()
  } catch {
    preconditionFailure("\(frame) was decoded, and can't be encoded and decoded again: \(error)")
  }
  precondition(decoded == frame, "\(frame) became \(String(describing: decoded))")
  precondition(decoder.pendingByteCount == 0, "\(frame) has more bytes than it needs")
}
