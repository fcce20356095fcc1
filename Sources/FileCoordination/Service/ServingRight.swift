internal import CoordinationService
internal import SystemInterface

/// The right to serve a domain: the locks of all places where its processes may meet.
struct ServingRight: Sendable {
  /// In the order of their names.
  let places: [MeetingPlace]
  private let locks: [HeldLock]
  /// A name for the first place that nobody can remove; `nil` if there's none to be had.
  private var name: AbstractName?

  fileprivate init(_ places: [MeetingPlace], _ locks: [HeldLock], _ name: AbstractName? = nil) {
    self.places = places
    self.locks = locks
    self.name = name
  }

  /// Where to listen.
  var place: MeetingPlace { places[0] }

  /// Lets the next one be elected.
  func release() {
    name?.release()
    releaseLocks()
  }

  private func releaseLocks() { for lock in locks { lock.release() } }

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

extension ServingRight {
  /// How often the serving process tries to get new places, a millisecond after each other.
  private static let renewalCountMax = 100

  /// The right to serve at places of the same names, which somebody has removed.
  ///
  /// Processes that were served notice the removal when their connections end. If the serving process asks before it ends them, no
  /// other is elected that wouldn't know of their accesses: not even one that comes now, because this one still has its name.
  ///
  /// - Parameters:
  ///   - ground: Where the places are.
  ///   - pause: Waits a moment for others, which may have taken the locks; `false` if the service is to stop.
  /// - Returns: The right; `nil` if another process has it, or no place can be made.
  func renewed(at ground: MeetingGround, pause: () -> Bool) -> ServingRight? {
    if isKept { return self }
    // Those that are still found would be taken by this process.
    releaseLocks()
    for _ in 0..<Self.renewalCountMax {
      // An error may be due to the program that removes the places: it may be removing this one as well.
      if let right = try? ground.tryToLock() { return right.named(name) }
      if !pause() { return nil }
    }
    return nil
  }

  /// Whether no process has ever served there, or somebody has removed the places since.
  fileprivate var isNew: Bool { locks.allSatisfy { (try? $0.readCounter()) == 0 } }

  /// The same with a name.
  fileprivate func named(_ name: AbstractName?) -> ServingRight { ServingRight(places, locks, name) }

  /// Takes the name.
  ///
  /// - Returns: Whether no other process has it. When that can't be found out the answer is yes: it's a precaution.
  fileprivate mutating func takeName() -> Bool {
    do throws(SystemError) {
      name = try AbstractName.take(Array("file-coordination ".utf8) + place.lock.path.bytes)
      return name != nil
    } catch { return true }
  }
}

extension MeetingGround {
  /// How often further places may be made meanwhile.
  private static let lookCountMax = 16
  /// How long a process that serves is given to notice that its places were removed; it's notified at once, if it runs.
  static let timeToNotice = Duration.milliseconds(200)

  /// Takes the right to serve, if no process has it.
  ///
  /// - Parameter displacing: Whether to take it also while another process runs that had it until somebody removed the places: it
  ///   hasn't noticed for ``timeToNotice``.
  /// - Returns: The right; `nil` if another process has it, or is about to take it.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`.
  func tryToServe(displacing: Bool = false) throws(FileCoordinationError) -> ServingRight? {
    guard var right = try tryToLock() else { return nil }
    // A process that ends gives up its name before its locks, so another one's is of a removed place.
    if right.takeName() || displacing || !right.isNew { return right }
    right.release()
    return nil
  }

  /// Takes the locks of all places.
  fileprivate func tryToLock() throws(FileCoordinationError) -> ServingRight? {
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
