#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  /// The state of a document that any thread may read.
  struct DocumentFacts: Sendable {
    private(set) var url: URL
    /// From where others have moved the file, since the program has chosen a place last.
    private var formerPlaces: Set<SystemPath> = []
    var state = UIDocument.State.closed
    var modificationDate: Date?
    var progress: Progress?

    init(url: URL) { self.url = url }

    /// The program has chosen the place.
    mutating func place(at url: URL) {
      self.url = url
      formerPlaces = []
    }

    /// Somebody else has moved the file.
    mutating func follow(to url: URL) {
      formerPlaces.insert(self.url.systemPath)
      self.url = url
    }

    /// Whether the file was there a moment ago: a save that began then says so.
    func isFormerPlace(_ url: URL) -> Bool { formerPlaces.contains(url.systemPath) }
  }

  /// Takes what ``UIDocument/read(from:)`` reads for an operation, so that it's loaded when the access has ended and the operation still
  /// makes sense.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | set and taken on the thread of the operation, and on the main one |
  final class DocumentInbox: Sendable {
    private enum State: Sendable {
      case closed
      case waiting
      case full(SharedReference<Any>)
    }

    private let state = Guarded(State.closed)

    func open() { state.withLock { $0 = .waiting } }

    /// - Returns: Whether an operation waits for it.
    func put(_ contents: Any) -> Bool {
      let contents = SharedReference(contents)
      return state.withLock { state in
        if case .closed = state { return false }
        state = .full(contents)
        return true
      }
    }

    /// - Returns: The contents that were read; `nil` if the document's class reads and loads by itself.
    func close() -> SharedReference<Any>? {
      state.withLock { state in
        defer { state = .closed }
        if case .full(let contents) = state { return contents }
        return nil
      }
    }
  }

  /// A completion handler with the queue of the call, where it runs.
  ///
  /// `@unchecked Sendable`: it's called once, on that queue.
  struct DocumentHandler: @unchecked Sendable {
    private let handler: ((Bool) -> Void)?
    private let queue: OperationQueue?

    init(_ handler: ((Bool) -> Void)?) {
      self.handler = handler
      queue = MainTurns.isCurrent ? nil : OperationQueue.current
    }

    @MainActor func callAsFunction(_ isDone: Bool) {
      guard let handler else { return }
      guard let queue else { return handler(isDone) }
      let shared = SharedReference(handler)
      queue.addOperation(SteadfastOperation { shared.value(isDone) })
    }
  }
#endif
