public import FileCoordination
public import FoundationEssentials
internal import VersionStore

/// News of the versions of a file.
public enum FileVersionUpdate: Hashable, Sendable {
  /// All versions that are kept, newest first: the beginning.
  case versions([FileVersion])
  /// A version was added.
  case gained(FileVersion)
  /// A version was removed, or its file was: this is what was known of it.
  case lost(FileVersion)
  /// A conflict was resolved.
  case resolved(FileVersion)
  /// The file was moved, with its versions.
  case moved(to: URL)
}

/// The versions of a file, and then their changes, without a gap.
///
/// Begins with ``FileVersionUpdate/versions(_:)``; if the later changes are applied to that list, it has the present versions. Compares
/// lists rather than counting messages: a change that one process has missed, or that a crash has interrupted, is found with the next
/// change.
///
/// ```swift
/// for try await update in try versions.changes(of: file) {
///   if case .gained(let version) = update { print("kept", version.id) }
/// }
/// ```
///
/// - Note: Rule FV-25.
public struct FileVersionChanges: AsyncSequence, Sendable {
  let observation: VersionObservation
  let versions: FileVersions

  /// Iterates the updates.
  ///
  /// - Returns: An iterator; a second one would share the messages with it.
  public func makeAsyncIterator() -> Iterator { Iterator(observation: observation, versions: versions) }

  /// Takes one update after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private let observation: VersionObservation
    private let versions: FileVersions
    /// Newest first; `nil` before the first update.
    private var known: [FileVersion]?
    /// Those to return, the next one last.
    private var updates: [FileVersionUpdate] = []

    init(observation: VersionObservation, versions: FileVersions) {
      self.observation = observation
      self.versions = versions
    }

    /// Suspends until the next update.
    ///
    /// - Returns: The next update; `nil` when the task was cancelled.
    /// - Throws: ``FileVersionError`` if the versions can't be listed; the next call waits for the next change.
    public mutating func next() async throws(FileVersionError) -> FileVersionUpdate? {
      do throws(FileVersionError) { return try await nextUpdate() } catch {
        // Its wait was ended by that.
        if Task.isCancelled { return nil }
        throw error
      }
    }

    private mutating func nextUpdate() async throws(FileVersionError) -> FileVersionUpdate? {
      while true {
        if let update = updates.popLast() { return update }
        if known != nil {
          guard await observation.observer.change() else { return nil }
        }
        let state = observation.observer.take()
        if state.mayBeDeleted { try await versions.waitForAccesses(to: state.url) }
        if state.hasMoved { updates = [.moved(to: state.url)] }
        let listed = try await versions.versions(of: state.url)
        // A file that's on its way isn't there either, and its move is the next message.
        if listed == nil, known != nil, !state.mayBeDeleted { continue }
        let present = listed ?? []
        updates = update(to: present).reversed() + updates
        known = present
      }
    }

    private func update(to present: [FileVersion]) -> [FileVersionUpdate] {
      guard let known else { return [.versions(present)] }
      let (before, now) = (Dictionary(keyed: known), Dictionary(keyed: present))
      let lost = known.reversed().filter { now[$0.id] == nil }.map(FileVersionUpdate.lost)
      let others = present.reversed().compactMap { version -> FileVersionUpdate? in
        guard let former = before[version.id] else { return .gained(version) }
        return !former.isResolved && version.isResolved ? .resolved(version) : nil
      }
      return others + lost
    }
  }
}

extension Dictionary where Key == FileVersion.ID, Value == FileVersion {
  fileprivate init(keyed versions: [FileVersion]) {
    self.init(versions.map { ($0.id, $0) }) { first, _ in first }
  }
}

/// A version of some file was added, removed or resolved.
public struct FileVersionEvent: Sendable {
  /// The change of the version.
  public let change: FileVersionChange
  /// The file.
  public let url: URL
  /// The version.
  public let id: FileVersion.ID
  /// The version as it's kept, or, once it was removed, as long as it can be brought back; `nil` when it's gone for good.
  public let version: FileVersion?
  /// The access that changed it.
  public let origin: AccessOrigin
}

/// The changes of versions of a file, or of all files in a directory.
///
/// - Note: Rule FV-24.
public struct FileVersionEvents: AsyncSequence, Sendable {
  let events: FilePresenterEvents
  let versions: FileVersions
  let url: URL

  /// Iterates the events.
  ///
  /// - Returns: An iterator; a second one would share the events with it.
  public func makeAsyncIterator() -> Iterator {
    Iterator(events: events.makeAsyncIterator(), versions: versions, url: url)
  }

  /// Takes one event after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private var events: FilePresenterEvents.Iterator
    private let versions: FileVersions
    private var url: URL

    init(events: FilePresenterEvents.Iterator, versions: FileVersions, url: URL) {
      self.events = events
      self.versions = versions
      self.url = url
    }

    /// Suspends until the next event.
    ///
    /// - Returns: The next event; `nil` when the task was cancelled.
    public mutating func next() async -> FileVersionEvent? {
      while let event = await events.next() {
        switch event.kind {
        case .itemDidMove(let newURL): url = newURL
        case .itemDidChangeVersion(let change, let version):
          if let event = await found(change, version, at: url, event.origin) { return event }
        case .subitemDidChangeVersion(let file, let change, let version):
          if let event = await found(change, version, at: file, event.origin) { return event }
        default: break
        }
      }
      return nil
    }

    /// Other programs may announce versions of their own, which this storage doesn't have.
    private func found(
      _ change: FileVersionChange, _ name: String, at file: URL, _ origin: AccessOrigin
    ) async -> FileVersionEvent? {
      guard let id = FileVersion.ID(name) else { return nil }
      var version = try? await versions.keptVersion(id, near: file)
      if version == nil { version = try? await versions.removedVersion(id, near: file) }
      return FileVersionEvent(change: change, url: file, id: id, version: version, origin: origin)
    }
  }
}

extension FileVersions {
  /// The versions of a file, and then their changes.
  ///
  /// - Parameter url: The file. It may appear later.
  /// - Returns: The updates; observation begins with this call.
  /// - Throws: ``FileVersionError`` when the URL can't name a file.
  /// - Complexity: O(versions) for each change.
  public func changes(of url: URL) throws(FileVersionError) -> FileVersionChanges {
    let observer = VersionObserver(url)
    do {
      let observation = VersionObservation(observer: observer, registration: try keeper.domain.register(observer))
      return FileVersionChanges(observation: observation, versions: self)
    } catch { throw FileVersionError(error) }
  }

  /// The versions of a file, or of all files in a directory, that are added, removed or resolved from now on.
  ///
  /// - Parameter url: The file or directory.
  /// - Returns: The events.
  /// - Throws: ``FileVersionError`` when the URL can't name a file.
  public func events(at url: URL) throws(FileVersionError) -> FileVersionEvents {
    do {
      return FileVersionEvents(events: try keeper.domain.events(at: url, label: "versions"), versions: self, url: url)
    } catch { throw FileVersionError(error) }
  }
}

extension FileVersions {
  /// Waits until accesses that were granted have ended: no message says that a deletion is over.
  fileprivate func waitForAccesses(to url: URL) async throws(FileVersionError) {
    do {
      try await keeper.coordinator.read(url, options: .withoutChanges) { _ in }
    } catch { throw FileVersionError(error) }
  }

  /// A version that's kept in the storage for a file, even if its own file is somewhere else by now.
  fileprivate func keptVersion(_ id: FileVersion.ID, near file: URL) async throws -> FileVersion? {
    let versions = VersionsWithinAccess(self)
    return try await perform { _ in versions.version(named: id.description, near: file) }
  }

  /// The same for one that can be brought back.
  fileprivate func removedVersion(_ id: FileVersion.ID, near file: URL) async throws -> FileVersion? {
    try await perform { keeper in
      try keeper.withStoreIfPresent(at: keeper.path(of: file), otherwise: nil) { store in
        let removed = try store.removedVersions(of: id.item).first { $0.version.id == id.version }
        return removed.map { FileVersion($0, in: store) }
      }
    }
  }
}
