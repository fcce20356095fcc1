internal import CoordinationService
internal import FileAccessArbiter

// The limits of one message between processes. They're checked before it's sent: a message that is too long is an error
// of the call, and nothing else suffers from it.

extension ArbiterHost {
  /// How long a request may be: its names may get longer while it waits, and it's sent to another service then.
  private static let requestByteCountMax = WireFormat.frameByteCountMax / 2
  /// Requests of so many items are short enough, because the system takes no longer paths.
  private static let shortItemCount = 1024
  /// How long the names of all packages may be together.
  private static let packageByteCountMax = 32 << 10

  func checkLength(of request: AccessRequest) throws(FileCoordinationError) {
    if decidesAlone || request.items.count <= Self.shortItemCount { return }
    let count = (try? WireFormat.byteCount(of: ClientFrame.event(.accessRequested(AccessID(1), request)))) ?? .max
    if count > Self.requestByteCountMax { throw .requestTooLong(request.items.count) }
  }

  func checkLength(of attributes: Set<String>?) throws(FileCoordinationError) {
    guard !decidesAlone, let attributes else { return }
    let counts = attributes.map(\.utf8.count)
    if counts.contains(where: { $0 > WireFormat.textByteCountMax })
      || counts.reduce(0, +) > ServiceCore.attributeByteCountMax || counts.count > WireFormat.listCountMax
    {
      throw .attributesTooLong(attributes.count)
    }
  }

  func checkLength(ofPurpose name: String) throws(FileCoordinationError) {
    if !decidesAlone, name.utf8.count > WireFormat.textByteCountMax {
      throw .invalidPurpose("a purpose identifier must not have more than \(WireFormat.textByteCountMax) bytes.")
    }
  }

  /// The meeting ground, unless the names of the domain's packages are too long to be sent.
  static func checkLength(ofPackageExtensions extensions: Set<String>, _ ground: MeetingGround) -> MeetingGround {
    // Each has its length as well.
    if extensions.reduce(0, { $0 + $1.utf8.count + 4 }) <= packageByteCountMax { return ground }
    return .nowhere(because: .packagesTooLong(extensions.count, packageByteCountMax))
  }
}

extension String {
  /// For people of other processes: as much of it as fits.
  var fittingFrame: String { fitting(WireFormat.textByteCountMax) }
}
