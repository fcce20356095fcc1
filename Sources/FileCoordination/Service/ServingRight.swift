internal import CoordinationService
internal import SystemInterface

/// The right to serve a domain: the locks of all places where its processes may meet.
struct ServingRight: Sendable {
  /// In the order of their names.
  let places: [MeetingPlace]
  private let locks: [HeldLock]

  fileprivate init(_ places: [MeetingPlace], _ locks: [HeldLock]) {
    self.places = places
    self.locks = locks
  }

  /// Where to listen.
  var place: MeetingPlace { places[0] }

  /// Lets the next one be elected.
  func release() { for lock in locks { lock.release() } }

  /// Whether others still find the locks by their names.
  var isKept: Bool { locks.allSatisfy(\.hasItsName) }

  /// A number that's greater than that of each service before, at any place.
  ///
  /// - Parameter floor: The least that it may be.
  /// - Returns: The number, which all places keep.
  /// - Throws: As ``HeldLock/bumpCounter(atLeast:)``.
  func nextEpoch(atLeast floor: UInt64) throws(SystemError) -> UInt64 {
    var epoch = floor
    // Any number may be in a file.
    for lock in locks { epoch = max(epoch, try lock.readCounter() &+ 1) }
    for lock in locks { epoch = try lock.bumpCounter(atLeast: epoch) }
    return epoch
  }
}

// MARK: - Election

extension MeetingGround {
  /// How often further places may be made meanwhile.
  private static let lookCountMax = 16

  /// Takes the right to serve, if no process has it.
  ///
  /// - Returns: The right; `nil` if another process has it, or is about to take it.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`.
  func tryToServe() throws(FileCoordinationError) -> ServingRight? {
    var places = try places()
    for _ in 0..<Self.lookCountMax {
      guard let locks = try Self.tryLock(places) else { return nil }
      let right = ServingRight(places, locks)
      // A process that makes a place from now on finds one of these locks taken.
      do {
        places = try self.places()
      } catch {
        right.release()
        throw error
      }
      if places == right.places { return right }
      right.release()
    }
    return nil
  }

  /// Whether no process serves at the usual place just now, as far as that can be determined without searching for
  /// other places.
  ///
  /// Much cheaper than ``tryToServe()``, for a process that asks again and again.
  var isUsualPlaceFree: Bool {
    guard let usual = findUsual() else { return true }
    do throws(SystemError) {
      guard let lock = try usual.lock.tryLock() else { return false }
      lock.release()
      return true
    } catch {
      // The attempt to serve says why.
      return true
    }
  }

  private static func tryLock(_ places: [MeetingPlace]) throws(FileCoordinationError) -> [HeldLock]? {
    var locks: [HeldLock] = []
    for place in places {
      do throws(SystemError) {
        guard let lock = try place.lock.tryLock() else {
          for lock in locks { lock.release() }
          return nil
        }
        locks.append(lock)
        // Where it isn't, the participants can't be determined.
        try place.prepareSessions()
      } catch {
        for lock in locks { lock.release() }
        throw .unreachable(place, error)
      }
    }
    return locks
  }
}

// MARK: - Sessions

extension ServingRight {
  /// The sessions whose processes live; files of those that have ended are removed.
  ///
  /// - Throws: `SystemError` when that can't be determined, for lack of descriptors for example: then no service may
  ///   start.
  func liveSessions() throws(SystemError) -> Set<UInt64> {
    var live: Set<UInt64> = []
    for place in places { live.formUnion(try place.liveSessions()) }
    return live
  }

  /// Whether a session's process lives; if not, its files are removed.
  func isAlive(_ session: UInt64) -> Bool { places.contains { $0.isAlive(session) } }

  /// Notifies a session's process that it has lost its former rights.
  ///
  /// - Returns: Whether it has been notified, or has ended.
  func revoke(_ revocation: Revocation, of session: UInt64) -> Bool {
    // Each of its files: it reads one of them.
    places.reduce(true) { $1.revoke(revocation, of: session) && $0 }
  }
}
