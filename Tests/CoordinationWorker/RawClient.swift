package import CoordinationService
package import SystemInterface

/// A connection to a service that sends any frames.
package final class RawClient {
  package let stream: LocalStream
  private var decoder = FrameDecoder<ServerFrame>()

  /// Connects and says nothing.
  package init(connectingTo socket: String) throws {
    stream = try LocalStream(connectingTo: LocalAddress(SystemPath(socket)))
  }

  package static func hello(version: UInt32 = Hello.currentVersion, previousEpoch: UInt64 = 0) -> Hello {
    Hello(
      version: version, session: .random(in: 1 ... .max), processIdentifier: HostProcess.processIdentifier,
      processStartTime: 0, processName: "raw client", packageExtensions: [], previousEpoch: previousEpoch)
  }

  /// Writes as much as the service takes at once.
  ///
  /// - Returns: How many bytes it took; fewer when it doesn't read, or has ended the connection.
  package func offer(_ bytes: ArraySlice<UInt8>) -> Int {
    var count = 0
    while count < bytes.count {
      let written = bytes.dropFirst(count).withUnsafeBytes { (try? stream.write($0)) ?? 0 }
      if written == 0 { break }
      count += written
    }
    return count
  }

  /// Writes everything, blocking until the service has read enough.
  ///
  /// - Returns: Whether it could; not when the service has ended the connection.
  @discardableResult
  package func write(_ bytes: [UInt8]) throws -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard try stream.waitWritable(until: nil), let count = rest.withUnsafeBytes({ try? stream.write($0) }) else {
        return false
      }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult
  package func tell(_ frames: ClientFrame...) throws -> Bool { try write(Self.bytes(of: frames)) }

  package static func bytes(of frames: [ClientFrame]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for frame in frames { try WireFormat.append(frame, to: &bytes) }
    return bytes
  }

  /// The next frame of the service, blocking until it comes; `nil` when it has ended the connection.
  package func next() throws -> ServerFrame? {
    while true {
      if let frame = try decoder.next() { return frame }
      _ = try stream.waitReadable(until: nil)
      let result = try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
        let result = try stream.read(into: buffer)
        if case .bytes(let count) = result { decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes) }
        return result
      }
      if result == .end { return nil }
    }
  }

  /// All frames of the service before it ends the connection.
  package func rest() throws -> [ServerFrame] {
    var frames: [ServerFrame] = []
    while let frame = try next() { frames.append(frame) }
    return frames
  }
}
