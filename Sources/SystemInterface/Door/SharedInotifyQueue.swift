internal import Glibc
internal import Synchronization

/// A queue of inotify(7) that all of a process share for one purpose: a user may have 128 in all
/// (`max_user_instances`).
///
/// Three are enough, whatever the number of domains, queries and watchers of trees. One isn't: resolving a path checks
/// whether the queue of ``Purpose/names`` is empty, with one system call, and would nearly never find it so if that
/// queue received each write to a file in a watched tree. And when a queue is full the kernel doesn't say whose events
/// are lost, so all that share it have to read everything again: events in a tree of a million files mustn't do that to
/// presenters.
///
/// ``SharedWatches`` decides which subscriber receives which events. A thread that takes records takes out all that the
/// kernel has, and hands them out. So each reader has received all changes before, and no subscriber has to keep up
/// with the others. Records have to be taken out while subscribers sleep: the only one does it itself, and has no
/// change of threads to wait for; as soon as there are several, a thread does it for all, which wakes only those that
/// have something to do.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock, held across calls that don't wait | records that leave the kernel's queue are in that of each subscriber before another thread checks |
/// | adding watches | nothing: see ``SharedWatches/beginWatch()`` | a path may lead through a file system that doesn't answer |
/// | `queues` | its lock, around that of a queue | a caller that finds no queue makes one that the next caller finds |
package final class SharedInotifyQueue: Sendable {
  /// The purposes of queues.
  package enum Purpose: Hashable, Sendable {
    /// Where paths lead.
    case names
    /// The events of single items, such as those of presenters.
    case items
    /// The events in trees.
    case trees
  }

  private struct Reference: Sendable {
    weak var queue: SharedInotifyQueue?
  }

  struct State: Sendable {
    var watches = SharedWatches()
    var seats: [SharedWatches.SubscriberID: InotifySeat] = [:]
    /// Subscribers whose wait is to end.
    var woken: Set<SharedWatches.SubscriberID> = []
    /// Subscribers that sleep until they're rung for.
    var sleeping: Set<SharedWatches.SubscriberID> = []
    /// Subscribers that haven't been notified of changed mounts.
    var behindMounts: Set<SharedWatches.SubscriberID> = []
    /// The seats that are to be rung for when the lock is free.
    var rung: [InotifySeat] = []
    var poller: ReadinessPoller?
    var mounts: MountTable?
    /// The subscriber that waits for the kernel itself.
    var solo: SharedWatches.SubscriberID?
    var hasPump = false
    /// Why no thread can wait for the kernel any more.
    var failure: SystemError?
    /// The last subscriber has gone, and the queue goes with it.
    var isOver = false
  }

  private static let queues = Guarded<[Purpose: Reference]>([:])
  /// How often a watch is requested that ends before it's known, until that's done under the lock.
  private static let attemptCountMax = 3
  /// How many watches are ended before others have their turn at the lock.
  private static let endedWatchCountMax = 256

  let kernel: KernelWatches
  let state = Guarded(State())
  /// Rung when a subscriber doesn't wait for the kernel itself any more.
  let soloBell = Doorbell()

  private init() throws(SystemError) { kernel = try KernelWatches() }

  deinit {
    // The thread that takes records out ends when it finds no subscriber.
    if kernel.isOwn { state.withLock { $0.poller }?.wake() }
  }

  /// Adds a subscriber to the queue of this process, which is opened if there's none.
  ///
  /// - Parameters:
  ///   - purpose: The purpose.
  ///   - seat: Makes the seat of the subscriber.
  /// - Returns: The queue and the seat.
  /// - Throws: Errors of inotify_init1(2), and of opening the table of mounts if that's requested.
  static func open(
    _ purpose: Purpose, _ seat: (SharedWatches.SubscriberID, KernelWatches) -> InotifySeat
  ) throws(SystemError) -> (SharedInotifyQueue, InotifySeat) {
    try queues.withLock { queues throws(SystemError) in
      if let found = queues[purpose]?.queue, let seat = found.add(seat) { return (found, seat) }
      let queue = try SharedInotifyQueue()
      guard let seat = queue.add(seat) else { preconditionFailure("a queue that nobody has used is over") }
      queues[purpose] = Reference(queue: queue)
      return (queue, seat)
    }
  }

  /// - Returns: `nil` if the queue is over, or belongs to the process that forked this one.
  private func add(_ seat: (SharedWatches.SubscriberID, KernelWatches) -> InotifySeat) -> InotifySeat? {
    // First: another thread of the parent may have had the lock.
    if !kernel.isOwn { return nil }
    return state.withLock { state in
      if state.isOver { return nil }
      let id = state.watches.open()
      let made = seat(id, kernel)
      state.seats[id] = made
      return made
    }
  }
}

// MARK: - Watching

extension SharedInotifyQueue {
  /// Makes a watch for a subscriber.
  ///
  /// - Returns: The subscriber's number.
  /// - Throws: Errors of inotify_add_watch(2).
  func watch(_ path: SystemPath, _ mask: UInt32, of seat: InotifySeat) throws(SystemError) -> Int32 {
    for _ in 0..<Self.attemptCountMax {
      let ticket = try step { (state) throws(SystemError) in state.watches.beginWatch() }
      let watch: Int32
      do throws(SystemError) { watch = try kernel.add(path, mask) } catch {
        try step { (state) throws(SystemError) in state.watches.failWatch(ticket) }
        throw error
      }
      let number = try step { (state) throws(SystemError) in
        state.watches.endWatch(ticket, watch, mask, of: seat.id, in: kernel)
      }
      if let number { return number }
    }
    // Others end it all the time: under the lock they can't.
    return try step { (state) throws(SystemError) in
      for _ in 0..<Self.attemptCountMax {
        let ticket = state.watches.beginWatch()
        let watch: Int32
        do throws(SystemError) { watch = try kernel.add(path, mask) } catch {
          state.watches.failWatch(ticket)
          throw error
        }
        if let number = state.watches.endWatch(ticket, watch, mask, of: seat.id, in: kernel) { return number }
      }
      throw SystemError(call: "inotify_add_watch(2)", paths: [path], errno: ENOENT)
    }
  }

  func unwatch(_ number: Int32, of seat: InotifySeat) {
    try? step { (state) throws(SystemError) in state.watches.unwatch(number, of: seat.id, in: kernel) }
  }

  /// Takes a subscriber's records of changes before the call.
  func takeRecords(of seat: InotifySeat) -> [InotifyRecord] {
    let records = try? step { (state) throws(SystemError) -> [InotifyRecord] in
      takeOut(&state)
      unsafe seat.probe.pointee.filled.store(0, ordering: .releasing)
      return state.watches.takeRecords(of: seat.id)
    }
    return records ?? [.overflow]
  }

  /// Whether there are records for a subscriber of changes before the call.
  func hasRecords(for seat: InotifySeat) -> Bool {
    let hasRecords = try? step { (state) throws(SystemError) -> Bool in
      takeOut(&state)
      return state.watches.hasRecords(of: seat.id)
    }
    return hasRecords ?? true
  }

  /// Whether mounts have changed since the last call.
  func takeMountChange(of seat: InotifySeat) -> Bool {
    let hasChanged = try? step { (state) throws(SystemError) in state.behindMounts.remove(seat.id) != nil }
    return hasChanged ?? false
  }

  /// Notifies a subscriber of changes of mounts from now on.
  func tellMounts(to seat: InotifySeat) {
    seat.wantsMounts.store(true, ordering: .relaxed)
    // Without proc(5) the mounts aren't available.
    try? step { (state) throws(SystemError) in
      if state.mounts == nil {
        let mounts = try MountTable()
        if let poller = state.poller { try add(mounts, to: poller, &state) }
        state.mounts = mounts
      }
    }
  }

  /// A subscriber takes nothing any more.
  func close(_ seat: InotifySeat) {
    var isClosed = false
    while !isClosed {
      let step = try? step { (state) throws(SystemError) -> Bool in
        // With the queue all its watches end.
        state.isOver = state.seats.count == 1
        guard state.isOver || state.watches.close(seat.id, countMax: Self.endedWatchCountMax, in: kernel) else {
          return false
        }
        state.seats[seat.id] = nil
        state.woken.remove(seat.id)
        state.sleeping.remove(seat.id)
        state.behindMounts.remove(seat.id)
        return true
      }
      isClosed = step ?? true
    }
  }
}

// MARK: - Handing out

extension SharedInotifyQueue {
  /// Does something under the lock, and wakes the subscribers that have something to do by that.
  ///
  /// - Throws: EBADF in a child of the process whose queue it is; the error of `body`.
  func step<Result: Sendable>(
    _ body: (inout State) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    // Before the lock, which no thread releases any more in a child.
    if !kernel.isOwn { throw SystemError(call: "inotify(7)", errno: EBADF) }
    var rung: [InotifySeat] = []
    defer { for seat in rung { seat.ring() } }
    return try state.withLock { state throws(SystemError) in
      defer {
        handOut(&state)
        rung = exchange(&state.rung, with: [])
      }
      return try body(&state)
    }
  }

  /// Takes out the kernel's records.
  func takeOut(_ state: inout State) {
    state.watches.read(in: kernel)
    if state.mounts?.takeChange() == true { noteMounts(&state) }
  }

  func noteMounts(_ state: inout State) {
    for (id, seat) in state.seats where seat.wantsMounts.load(ordering: .relaxed) {
      state.behindMounts.insert(id)
      note(id, &state)
    }
  }

  /// A subscriber that has got records can see that before the records count as handed out.
  private func handOut(_ state: inout State) {
    for id in state.watches.takeNotified() {
      if let seat = state.seats[id] { unsafe seat.probe.pointee.filled.store(1, ordering: .releasing) }
      note(id, &state)
    }
    kernel.endHandingOut()
  }

  private func note(_ id: SharedWatches.SubscriberID, _ state: inout State) {
    guard let seat = state.seats[id] else { return }
    if state.sleeping.remove(id) != nil || seat.onRecords != nil { state.rung.append(seat) }
  }
}
