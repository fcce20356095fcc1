internal import FileAccessArbiter
internal import SystemInterface

/// The announcement of a move that one verb makes.
///
/// A move to another volume is announced while both places have the item. If the process were killed between the removal of the original and the
/// announcement, nobody would know where the item is: presenters can't find it by its number there. A move that replaces an item is announced
/// afterwards: if it was refused, those of that item would be taken to the place of the original.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `made` | its lock | the move is made on a thread for blocking work, and the verb goes on in its task |
final class MoveAnnouncement: Sendable {
  private let access: GrantedAccess
  private let (old, new): (ItemPath, ItemPath)
  private let made = Guarded(false)

  init(_ access: GrantedAccess, from index: Int, to destination: Int) {
    self.access = access
    (old, new) = (access.waiter.path(of: index), access.waiter.path(of: destination))
  }

  /// Announces the move unless that's done.
  func make() async throws(FileCoordinationError) {
    if isMade { return }
    try await access.host.withoutBlocking { [self] () throws(FileCoordinationError) in
      try access.announceMove(from: old, to: new)
    }
  }

  /// The blocking twin.
  func make() throws(FileCoordinationError) {
    if !isMade { try access.announceMove(from: old, to: new) }
  }

  private var isMade: Bool { made.withLock { $0 } }

  /// Announces the move, or takes that back, while a move to another volume is under way.
  ///
  /// Blocks for a round trip to the service. An announcement that fails is made again after the move, which reports the error.
  func note(_ step: MoveAcrossStep) {
    switch step {
    case .isCopied:
      if (try? access.announceMove(from: old, to: new)) != nil { made.withLock { $0 = true } }
    case .isRefused:
      if isMade { try? access.announceMove(from: new, to: old) }
    }
  }
}

extension FileAccess {
  /// The announcement that the item takes the place of another item of this access.
  ///
  /// That place is known, so the file system, which may be failing right now, isn't asked.
  func moveAnnouncement(to destination: borrowing FileAccess) -> MoveAnnouncement {
    MoveAnnouncement(access, from: index, to: destination.index)
  }
}
