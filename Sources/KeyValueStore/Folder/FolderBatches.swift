package import KeyValueReplicas
internal import SystemInterface

/// The changes of a shared folder after a revision, as ``FolderStorage`` reports them.
///
/// Nothing is kept for a slow reader: each change is read from its file when it's asked for.
package struct FolderBatches: AsyncSequence, Sendable {
  package typealias Element = SharedBatch

  let storage: FolderStorage
  let revision: Int64

  package func makeAsyncIterator() -> Iterator { Iterator(storage: storage, revision: revision) }

  package struct Iterator: AsyncIteratorProtocol {
    private let storage: FolderStorage
    private var revision: Int64
    private var identity: FileIdentity?
    private let wakeUp = WakeUp()
    private var registrations: [DirectoryWatch.Registration] = []

    init(storage: FolderStorage, revision: Int64) {
      self.storage = storage
      self.revision = revision
    }

    /// - Returns: The next change; `nil` when the task was cancelled.
    /// - Throws: ``SharedStorageFailure`` only.
    package mutating func next() async throws -> SharedBatch? {
      while !Task.isCancelled {
        // Before the change is looked for, so that one that comes meanwhile gives a signal.
        if registrations.isEmpty { registrations = try await storage.beginWatch(wakeUp) }
        let (change, found) = try await storage.next(after: revision, in: identity)
        if let identity, let found, identity != found { registrations = [] }
        identity = found ?? identity
        if let change {
          revision = change.revision
          return change.batch(for: storage.replica)
        }
        let clock = storage.clock
        await wakeUp.wait(
          until: registrations.isEmpty ? clock.now.advanced(by: storage.unwatchedInterval) : nil, clock)
      }
      return nil
    }
  }
}
