package import FoundationEssentials
internal import FileAccessArbiter
internal import SystemInterface

/// Announces moves within one access, for code that can't be handed the access itself.
///
/// Useless once the accessor has returned; its creator ensures that it isn't used afterwards.
package struct MoveAnnouncer: Sendable {
  fileprivate let reference: AccessReference

  private var access: GrantedAccess {
    switch reference {
    case .granted(let access): access
    case .claim(let claim): claim.becomeKnown()
    }
  }

  /// Announces that something has been moved.
  ///
  /// - Parameters:
  ///   - oldURL: Where it was.
  ///   - newURL: Where it is now.
  /// - Throws: ``FileCoordinationError`` with code `.moveNotCovered` when the access covers neither place.
  package func didMove(from oldURL: URL, to newURL: URL) throws(FileCoordinationError) {
    try access.announceMove(from: oldURL, to: newURL)
  }

  /// Declares that one of the items will be moved; does nothing if the URL names none of them.
  ///
  /// - Parameters:
  ///   - oldURL: Where it is.
  ///   - newURL: Where it will be.
  /// - Throws: ``FileCoordinationError`` when a URL can't name a file.
  package func willMove(from oldURL: URL, to newURL: URL) throws(FileCoordinationError) {
    let access = access
    let path = try FileLocation(oldURL, in: access.coordinator.fileSystem).path
    for index in access.items.indices where access.waiter.path(of: index) == path {
      try access.declareMove(of: index, to: newURL)
    }
  }
}

extension FileAccess {
  /// Announces moves within this access.
  package var moveAnnouncer: MoveAnnouncer { MoveAnnouncer(reference: reference) }
}

extension FileAccessSet {
  /// Announces moves within this access.
  package var moveAnnouncer: MoveAnnouncer { MoveAnnouncer(reference: .granted(access)) }
}
