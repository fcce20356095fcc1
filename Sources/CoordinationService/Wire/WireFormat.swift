/// The form of frames as bytes between two processes of one machine.
///
/// A frame is its length, and as many bytes of payload. Every value has exactly one spelling, and nothing in the payload
/// announces the next value: both sides have the same version, see `Hello.currentVersion`.
///
/// | value | bytes |
/// | --- | --- |
/// | length of a frame | 4, little endian; without these 4 |
/// | integer | its fixed width, little endian, two's complement |
/// | number of an access, a presenter … | 8 |
/// | number of a message | 16: the epoch, and the number in it |
/// | count of things, bits of options | 8; option sets as wide as their raw value |
/// | `Bool` | 1: 0 or 1 |
/// | case of an enum | 1: its tag, then the values of the case |
/// | text | length in 4, then valid UTF-8 |
/// | path | length in 2, then its bytes; canonical |
/// | optional | 1: 0, or 1 and then the value |
/// | list | count in 4, then the elements |
/// | set of texts | as a list in strictly ascending order |
/// | struct | its fields in the order of declaration |
///
/// Two things must never change, so that processes of different versions can refuse each other: `ClientFrame.hello` has
/// the tag 1 and begins with the version, and `ServerFrame.refused` has the tag 2 and is a refusal and a text.
///
/// A writer keeps to the limits that a reader checks: everything that could be encoded can be decoded.
package enum WireFormat {
  /// How long the payload of a frame may be.
  package static let frameByteCountMax = 16 << 20

  /// How many elements a list may have.
  package static let listCountMax = 100_000

  /// How long a text may be: a name, or an explanation for people.
  ///
  /// So the name of one process fits into a frame that carries it to others.
  package static let textByteCountMax = Int(UInt16.max)

  /// How long a path may be.
  package static let pathByteCountMax = Int(UInt16.max)

  /// All numbers that a process gives to its accesses, presenters and purposes are smaller.
  ///
  /// The service distinguishes its clients' numbers by the bits above.
  package static let ownNumberLimit: UInt64 = 1 << 40

  /// The bytes before the payload.
  static let headerByteCount = 4

  /// How many bytes the payload of a frame has.
  ///
  /// - Parameter frame: The frame for the other side.
  /// - Returns: The count.
  /// - Throws: `WireError` when the frame is beyond one of the limits.
  package static func byteCount(of frame: some WireValue) throws(WireError) -> Int {
    var bytes: [UInt8] = []
    try append(frame, to: &bytes)
    return bytes.count - headerByteCount
  }

  /// Appends a whole frame to the bytes to be sent.
  ///
  /// - Parameters:
  ///   - frame: The frame for the other side.
  ///   - bytes: Where the frame goes. After an error it is as it was before.
  /// - Throws: `WireError` when the frame is beyond one of the limits; no reader would accept it.
  package static func append(_ frame: some WireValue, to bytes: inout [UInt8]) throws(WireError) {
    let start = bytes.count
    var writer = WireWriter(takingOver: &bytes)
    writer.append(integer: UInt32(0))
    frame.encode(into: &writer)
    let failure = writer.finishFrame()
    bytes = writer.takeBytes()
    guard let failure else { return }
    bytes.removeSubrange(start...)
    throw failure
  }
}
