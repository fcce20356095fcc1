internal import Glibc

// The wait for the kernel: by the only subscriber itself, or by a thread for all of them.

extension SharedInotifyQueue {
  private static let mountsToken: UInt64 = 1

  private enum Wait: Sendable {
    case over
    /// Until it's rung for.
    case sleep(UInt32)
    /// For the kernel.
    case poll(ReadinessPoller)
  }

  /// Blocks until there may be something for a subscriber, or it's woken; for one thread of each subscriber.
  ///
  /// - Throws: Errors of epoll_create1(2), epoll_wait(2) and pthread_create(3).
  func wait(for seat: InotifySeat) throws(SystemError) {
    while true {
      switch try step({ (state) throws(SystemError) in try nextWait(seat, &state) }) {
      case .over: return
      case .sleep(let count): seat.bell.wait(since: count)
      case .poll(let poller):
        let events = Result { () throws(SystemError) in try Self.poll(poller) }
        try step { (state) throws(SystemError) in
          state.solo = nil
          if case .success(let events) = events { take(events, &state) }
        }
        soloBell.ring()
        _ = try events.get()
      }
    }
  }

  private func nextWait(_ seat: InotifySeat, _ state: inout State) throws(SystemError) -> Wait {
    if let failure = state.failure { throw failure }
    // First: a wait that can't be isn't over because somebody has woken the thread.
    let isSolo = !state.hasPump && state.seats.count == 1
    let poller = isSolo ? try poller(&state) : nil
    if poller == nil { try startPump(&state) }
    let isWoken = state.woken.remove(seat.id) != nil
    if isWoken || state.watches.hasRecords(of: seat.id) || state.behindMounts.contains(seat.id) { return .over }
    if let poller {
      state.solo = seat.id
      return .poll(poller)
    }
    state.sleeping.insert(seat.id)
    return .sleep(seat.bell.count)
  }

  /// Ends the wait of a subscriber that goes on, or else the next one.
  func wake(_ seat: InotifySeat) {
    try? step { (state) throws(SystemError) in
      state.woken.insert(seat.id)
      if state.solo == seat.id { state.poller?.wake() }
      if state.sleeping.remove(seat.id) != nil { state.rung.append(seat) }
    }
  }

  private func poller(_ state: inout State) throws(SystemError) -> ReadinessPoller {
    if let poller = state.poller { return poller }
    let poller = try ReadinessPoller()
    try poller.add(kernel, token: 0, awaiting: .readable)
    if let mounts = state.mounts { try add(mounts, to: poller, &state) }
    state.poller = poller
    return poller
  }

  /// Makes the waiting thread wait for changes of the mounts too.
  ///
  /// One from before may be lost by that, since epoll_ctl(2) checks for it and epoll_wait(2), which checks again, doesn't find it any more:
  /// subscribers that are told of mounts look at them once.
  func add(_ mounts: MountTable, to poller: ReadinessPoller, _ state: inout State) throws(SystemError) {
    try poller.add(mounts, token: Self.mountsToken, awaiting: .exceptional)
    noteMounts(&state)
  }

  private static func poll(_ poller: ReadinessPoller) throws(SystemError) -> [ReadinessPoller.Event] {
    var events: [ReadinessPoller.Event] = []
    _ = try poller.wait(into: &events)
    return events
  }

  private func take(_ events: [ReadinessPoller.Event], _ state: inout State) {
    // The waiting thread has received it instead of the one that takes records.
    if events.contains(where: { $0.token == Self.mountsToken }) { noteMounts(&state) }
    takeOut(&state)
  }
}

// MARK: - The thread that takes records out for all

extension SharedInotifyQueue {
  /// Starts the thread, unless there is one.
  ///
  /// - Throws: Errors of epoll_create1(2) and pthread_create(3).
  func startPump(_ state: inout State) throws(SystemError) {
    if state.hasPump { return }
    let poller = try poller(&state)
    let code = HostThread.tryStart(name: "file-events") { [weak self] in Self.pump(poller) { self } }
    if code != 0 { throw .noThread(errno: code) }
    state.hasPump = true
    // A subscriber that waits for the kernel itself would take the wake-ups of the thread, and the thread those of the
    // subscriber.
    if state.solo != nil { poller.wake() }
  }

  private static func pump(_ poller: ReadinessPoller, _ queue: () -> SharedInotifyQueue?) {
    queue()?.awaitSolo()
    while true {
      let events = Result { () throws(SystemError) in try poll(poller) }
      guard let queue = queue(), queue.pump(events) else { return }
    }
  }

  private func awaitSolo() {
    while true {
      let count = soloBell.count
      let isAlone = try? step { (state) throws(SystemError) in state.solo == nil }
      if isAlone != false { return }
      soloBell.wait(since: count)
    }
  }

  /// - Returns: Whether to go on.
  private func pump(_ events: Result<[ReadinessPoller.Event], SystemError>) -> Bool {
    let isWell = try? step { (state) throws(SystemError) -> Bool in
      switch events {
      case .success(let events):
        take(events, &state)
        return true
      case .failure(let error):
        state.failure = error
        state.rung += state.sleeping.compactMap { state.seats[$0] }
        state.sleeping = []
        return false
      }
    }
    return isWell == true
  }
}
