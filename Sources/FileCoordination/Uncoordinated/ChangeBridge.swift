internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// Reports to the arbiter of a domain the changes of items whose presenters observe programs which don't coordinate.
///
/// Made with the first such presenter; its thread lives as long as there's one, and sleeps while nothing changes.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock, outside of the host's | events that a thread reads out of the queue are reported before another thread reads |
/// | `inbox` | its lock, inside of all others | the host adds notes in the middle of its own steps |
///
/// The lock of `state` is held while files are inspected: the waiting thread ends a coordinated write, and the changes
/// before that have to be reported first.
final class ChangeBridge: Sendable {
  /// A report of another part of the program to the reader.
  enum Note: Hashable, Sendable {
    case follow(PresenterID, ItemPath)
    /// The same, but another one comes next: the item has left this place already.
    case pass(PresenterID, ItemPath)
    case verifyAgain(ItemChange)
    case moveIsSettled(from: ItemPath)
    case changeIsSettled(at: ItemPath)
    case burstIsSettled
  }

  private struct State: Sendable {
    var reader: ChangeReader?
    /// There's no watcher, and so no reader.
    var failure: SystemError?
  }

  private struct Inbox: Sendable {
    var notes: [Note] = []
    var watcher: (any FileWatcher)?
  }

  /// How long a move waits for something to take the place of the item: programs that save a file move the old one away
  /// first, and write the new one right after.
  static let moveSettleInterval = Duration.milliseconds(100)
  /// How long an item has to be left alone before its change is reported, so that one write is one message.
  static let changeSettleInterval = Duration.milliseconds(100)
  private static let turnCount = 4
  /// How many changes are reported in one frame.
  private static let changeCountMax = 64

  private weak let host: ArbiterHost?
  private let state = Guarded(State())
  private let inbox = Guarded(Inbox())

  init(_ host: ArbiterHost) { self.host = host }

  deinit { inbox.withLock { $0.watcher }?.wake() }
}

// MARK: - Presenters

extension ChangeBridge {
  /// Watches the item of a presenter from now on.
  ///
  /// Blocks while a directory that is observed with everything inside is read.
  func add(_ id: PresenterID, at path: ItemPath?, observesInside: Bool) {
    guard let host else { return }
    state.withLock { state in
      if state.reader == nil { start(&state, host) }
      takeNotes(state)
      state.reader?.tell { $0.add(id, at: path, observesInside: observesInside) }
      // The presenter looks at its item after it has registered, and receives the reason then why some changes may be missed.
      state.reader?.tell { $0.forgetLosses(of: id) }
      wakeIfNeeded(state)
    }
  }

  func locate(_ id: PresenterID, at path: ItemPath) {
    state.withLock { state in
      takeNotes(state)
      state.reader?.tell { $0.follow(id, to: path) }
      state.reader?.tell { $0.forgetLosses(of: id) }
      wakeIfNeeded(state)
    }
  }

  /// Deals with what was left before: presenters follow a move before others come to the place that was left.
  private func takeNotes(_ state: State) {
    guard let reader = state.reader else { return }
    for note in notesLeft() { reader.tell { $0.take(note) } }
  }

  private func notesLeft() -> [Note] {
    inbox.withLock { inbox in exchange(&inbox.notes, with: []) }.withStopovers
  }

  /// The look for one presenter may have found changes that concern others.
  private func wakeIfNeeded(_ state: State) {
    if let reader = state.reader, !reader.core.output.isEmpty { reader.watcher.wake() }
  }

  func remove(_ id: PresenterID) {
    let watcher = state.withLock { state -> (any FileWatcher)? in
      guard let reader = state.reader, reader.core.presented[id] != nil else { return nil }
      takeNotes(state)
      reader.tell { $0.remove(id) }
      wakeIfNeeded(state)
      if !reader.core.presented.isEmpty { return nil }
      state.reader = nil
      inbox.withLock { $0 = Inbox() }
      return reader.watcher
    }
    watcher?.wake()
  }

  /// The reason why some changes of an item may be missed.
  func problem(of id: PresenterID) -> SystemError? {
    state.withLock { state in
      guard let reader = state.reader else { return state.failure }
      return reader.core.problem(of: id)
    }
  }

  private func start(_ state: inout State, _ host: ArbiterHost) {
    do throws(SystemError) {
      let kernel = try InotifyWatcher(for: .items)
      let watcher: any FileWatcher = host.watcherForTests.withLock { $0 }?(kernel) ?? kernel
      let code = HostThread.tryStart(name: "file-changes") { [weak self] in Self.run(watcher) { self } }
      if code != 0 { throw SystemError(call: "pthread_create(3)", errno: code) }
      inbox.withLock { $0.watcher = watcher }
      state.reader = ChangeReader(watcher, in: host.configuration.fileSystem)
      state.failure = nil
    } catch { state.failure = error }
  }
}

// MARK: - Reading

extension ChangeBridge {
  private static func run(_ watcher: any FileWatcher, _ bridge: () -> ChangeBridge?) {
    while true {
      do throws(SystemError) {
        try watcher.waitForEvents()
      } catch {
        return bridge()?.stop(watcher, error) ?? ()
      }
      guard let bridge = bridge(), bridge.uses(watcher) else { return }
      bridge.readEverything()
    }
  }

  private func uses(_ watcher: any FileWatcher) -> Bool { state.withLock { $0.reader?.watcher === watcher } }

  private func stop(_ watcher: any FileWatcher, _ error: SystemError) {
    state.withLock { state in
      if state.reader?.watcher !== watcher { return }
      state.reader?.tell { $0.watchingFailed(error) }
    }
  }

  /// Leaves something to be dealt with before the next events.
  func post(_ note: Note) {
    let watcher = inbox.withLock { inbox in
      inbox.notes.append(note)
      return inbox.watcher
    }
    watcher?.wake()
  }

  /// Reports everything to the arbiter that has changed until now.
  ///
  /// Every change before the call has been reported when it returns: by this thread, or by one that was faster.
  func readEverything() {
    guard let host else { return }
    let actions = state.withLock { state -> [ArbiterHost.Action] in
      var actions: [ArbiterHost.Action] = []
      // The arbiter's answers about changes come back in notes: at most to look again, and then to follow.
      for _ in 0..<Self.turnCount {
        let notes = notesLeft()
        for note in notes { state.reader?.tell { $0.take(note) } }
        state.reader?.tell { $0.eventsArrived() }
        guard let output = state.reader?.takeOutput(), !(notes.isEmpty && output.isEmpty) else { break }
        actions += tell(output, host)
        let clock = host.configuration.clock
        for path in output.unsettled { post(.moveIsSettled(from: path), after: Self.moveSettleInterval, clock) }
        for path in output.unsettledChanges {
          post(.changeIsSettled(at: path), after: Self.changeSettleInterval, clock)
        }
        if output.hasUnsettledBurst { post(.burstIsSettled, after: Self.moveSettleInterval, clock) }
      }
      // Changes come faster than they're dealt with: others have their turn at the lock.
      if inbox.withLock({ !$0.notes.isEmpty }) { state.reader?.watcher.wake() }
      return actions
    }
    host.perform(actions)
    host.transport.flush()
  }

  private func tell(_ output: ChangeCore.Output, _ host: ArbiterHost) -> [ArbiterHost.Action] {
    var actions: [ArbiterHost.Action] = []
    // Notes are dealt with before events are taken, so an item was moved before something was seen at its new place.
    for chunk in output.confirmedPlaces.chunks(of: Self.changeCountMax) {
      actions += host.decide(.changesConfirmed(ArbiterHost.client, chunk), raising: .followers(in: chunk))
    }
    for chunk in output.seen.chunks(of: Self.changeCountMax) {
      actions += host.decide(.changesSeen(ArbiterHost.client, chunk))
    }
    for chunk in output.confirmedNews.chunks(of: Self.changeCountMax) {
      actions += host.decide(.changesConfirmed(ArbiterHost.client, chunk))
    }
    return actions.filter { action in
      guard case .note(let note) = action else { return true }
      inbox.withLock { $0.notes.append(note) }
      return false
    }
  }

  private func post(_ note: Note, after interval: Duration, _ clock: any CoordinationClock) {
    _ = clock.schedule(at: clock.now.advanced(by: interval)) { [weak self] in self?.post(note) }
  }
}

extension Obstacles {
  /// Presenters that follow a move are in the way at the new place.
  fileprivate static func followers(in changes: [ItemChange]) -> Obstacles {
    var obstacles = ShortList<Obstacle<ItemPath>>()
    for case .moved(_, let place, _) in changes {
      obstacles.append(Obstacle(path: place, interest: .everything))
    }
    return Obstacles(obstacles)
  }
}

extension Array<ChangeBridge.Note> {
  /// Of moves that a presenter follows one after the other only the last one leads to a place where its item can be found.
  var withStopovers: Self {
    var followers: Set<PresenterID> = []
    let notes: Self = reversed().map { note in
      guard case .follow(let id, let path) = note else {
        followers = []
        return note
      }
      return followers.insert(id).inserted ? note : .pass(id, path)
    }
    return notes.reversed()
  }
}

extension Array {
  fileprivate func chunks(of count: Int) -> [[Element]] {
    stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
  }
}
