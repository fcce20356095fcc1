internal import CoordinationService
internal import SystemInterface

/// One process in the service; only the service's thread uses it.
final class ServiceConnection {
  let stream: LocalStream
  var decoder = FrameDecoder<ClientFrame>()
  var awaited = ReadinessPoller.Readiness.readable
  /// Nothing more is taken from it; it's closed when the rest has been written.
  var isClosing = false
  /// Encoded, and not written yet.
  private var outbox: [UInt8] = []
  private var writtenCount = 0

  init(_ stream: LocalStream) { self.stream = stream }

  /// How many bytes wait until it reads.
  var unreadCount: Int { outbox.count - writtenCount }

  func append(_ frame: ServerFrame) throws(WireError) { try WireFormat.append(frame, to: &outbox) }

  /// - Returns: Whether everything has been written, or can't be.
  func write() -> Bool {
    while writtenCount < outbox.count {
      let count = unsafe outbox.withUnsafeBytes { bytes in
        (try? unsafe stream.write(UnsafeRawBufferPointer(rebasing: bytes[writtenCount...]))) ?? -1
      }
      // A broken connection is noticed when it's read to its end.
      if count < 0 { break }
      if count == 0 {
        dropWritten()
        return false
      }
      writtenCount += count
    }
    outbox.removeAll(keepingCapacity: outbox.capacity < 1 << 16)
    writtenCount = 0
    return true
  }

  private func dropWritten() {
    guard writtenCount > 1 << 20 else { return }
    outbox.removeSubrange(..<writtenCount)
    writtenCount = 0
  }
}
