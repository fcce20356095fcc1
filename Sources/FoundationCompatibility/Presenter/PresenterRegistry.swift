#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// The presenters of this process, and the native presenters that stand for them.
  ///
  /// Presenters are identified by their addresses and never kept: they may remove themselves in `deinit`, or never.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | presenters are added and removed on any thread |
  ///
  /// Nothing of the program and nothing of the native coordinator runs under the lock.
  final class PresenterRegistry: Sendable {
    static let shared = PresenterRegistry()

    fileprivate struct Entry {
      let adapter: PresenterAdapter
      let number: UInt64
      /// Absent while it's being registered, and when that failed.
      var registration: FilePresenterRegistration?
    }

    fileprivate struct WeakAdapter {
      weak var adapter: PresenterAdapter?
    }

    fileprivate struct State {
      var last: UInt64 = 0
      var entries: [ObjectIdentifier: Entry] = [:]
      /// Also of presenters that have coordinators only.
      var adapters: [ObjectIdentifier: WeakAdapter] = [:]
      var adapterCountAtPurge = 0
      var entryCountAtPurge = 0
    }

    private let state = Guarded(State())

    var presenters: [any NSFilePresenter] {
      let entries = state.withLock { Array($0.entries.values) }
      return entries.sorted { $0.number < $1.number }.compactMap { $0.adapter.target.presenter }
    }

    /// The native presenter for one of the program: the same for all its coordinators and its registration, as long as
    /// one of them lives.
    func adapter(of presenter: any NSFilePresenter) -> PresenterAdapter {
      let fresh = PresenterAdapter(presenter, CompatibilityDomain.current)
      let isGoing = fresh.target.presenter == nil
      return state.withLock { state in
        let key = ObjectIdentifier(presenter)
        if let known = state.adapters[key]?.adapter, known.isStill(presenter, isGoing: isGoing) { return known }
        state.adapters[key] = WeakAdapter(adapter: fresh)
        state.purge()
        return fresh
      }
    }

    func add(_ presenter: any NSFilePresenter) {
      let adapter = adapter(of: presenter)
      let (number, previous) = state.withLock { state -> (UInt64?, Entry?) in
        let key = ObjectIdentifier(presenter)
        let previous = state.entries[key]
        if previous?.adapter === adapter { return (nil, nil) }
        state.last += 1
        state.entries[key] = Entry(adapter: adapter, number: state.last)
        // With the entry, so that the thread that removes that has the last word.
        adapter.isRegistered = true
        return (state.last, previous)
      }
      // Of an object that was at this address before.
      previous?.end()
      guard let number else { return }
      endRegistrationsOfTheGone()
      do {
        let registration = try adapter.register()
        let isWanted = state.withLock { state -> Bool in
          guard state.entries[ObjectIdentifier(presenter)]?.number == number else { return false }
          state.entries[ObjectIdentifier(presenter)]?.registration = registration
          return true
        }
        if !isWanted { return registration.end() }
        // The knowledge about the class that came while this was registered.
        if adapter.registeredKnowledge != adapter.knowledge { registration.noteChangedCallbacks() }
        if adapter.observesUncoordinatedChanges, let problem = registration.uncoordinatedChangesProblem {
          Misuse.report("the presenter '\(adapter.presenterLabel)': \(problem)")
        }
      } catch {
        Misuse.report("the presenter '\(adapter.presenterLabel)' couldn't be registered and gets no messages: \(error)")
      }
    }

    /// The knowledge about a class has grown, and so about all its presenters.
    func classHasTaught(_ conformer: ObjectIdentifier) {
      let registrations = state.withLock { state in
        state.entries.values.compactMap { $0.adapter.conformer == conformer ? $0.registration : nil }
      }
      for registration in registrations { registration.noteChangedCallbacks() }
    }

    /// Never keeps the presenter, which may be in its `deinit`.
    func remove(_ presenter: any NSFilePresenter) { remove(ObjectIdentifier(presenter)) { _ in true } }

    /// A presenter is gone that wasn't removed.
    func noteGone(_ adapter: PresenterAdapter) {
      let key = state.withLock { state in state.entries.first { $0.value.adapter === adapter }?.key }
      if let key { remove(key) { $0.adapter === adapter } }
    }

    /// Ends the registrations of presenters that are gone, each time the number of registrations has doubled.
    private func endRegistrationsOfTheGone() {
      let entries = state.withLock { state -> [Entry] in
        guard state.entries.count > 2 * state.entryCountAtPurge + 64 else { return [] }
        state.entryCountAtPurge = state.entries.count
        return Array(state.entries.values)
      }
      // Not under the lock: a temporary reference to an object may be the last one, and then the object goes here.
      for entry in entries where entry.adapter.target.presenter == nil { noteGone(entry.adapter) }
    }

    private func remove(_ key: ObjectIdentifier, if isMeant: (Entry) -> Bool) {
      let entry = state.withLock { state -> Entry? in
        guard let entry = state.entries[key], isMeant(entry) else { return nil }
        state.entries[key] = nil
        entry.adapter.isRegistered = false
        return entry
      }
      entry?.end()
    }
  }

  extension PresenterRegistry.Entry {
    fileprivate func end() {
      adapter.isRegistered = false
      registration?.end()
    }
  }

  extension PresenterRegistry.State {
    /// Forgets adapters that are gone, each time the number of entries has doubled.
    fileprivate mutating func purge() {
      guard adapters.count > 2 * adapterCountAtPurge + 64 else { return }
      adapters = adapters.filter { $0.value.adapter != nil }
      adapterCountAtPurge = adapters.count
    }
  }

  extension PresenterAdapter {
    /// Whether it stands for this object, not for an earlier one at the same address.
    ///
    /// No weak reference leads to an object that's being deallocated; then the adapter's doesn't either.
    fileprivate func isStill(_ presenter: any NSFilePresenter, isGoing: Bool) -> Bool {
      isGoing ? target.presenter == nil : target.presenter === presenter
    }

    fileprivate func register() throws -> FilePresenterRegistration { try domain.register(self) }
  }
#endif
