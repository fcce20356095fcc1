import Foundation
import FoundationCompatibility
import Testing

/// A text, as people write such documents; it notes what it's asked, and waits for events.
@MainActor class NoteDocument: UIDocument {
  var text = ""
  var failsToWrite = false
  /// Runs on the main actor during each write.
  var whileWriting: (() -> Void)?
  let journal = Journal()
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var observer: (any NSObjectProtocol)?
  private(set) var states: [State] = []
  private(set) var errors: [any Error] = []

  override init(fileURL url: URL) {
    super.init(fileURL: url)
    observer = NotificationCenter.default.addObserver(
      forName: UIDocument.stateChangedNotification, object: self, queue: nil
    ) { [weak self] _ in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.states.append(self.documentState)
        self.occurred("state")
      }
    }
  }

  isolated deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

  struct Refused: Error {}

  override func contents(forType typeName: String) throws -> Any {
    occurred("contents")
    return Data(text.utf8)
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let data = contents as? Data, let text = String(validating: data, as: UTF8.self) else { throw Refused() }
    self.text = text
    occurred("load")
  }

  override func disableEditing() { occurred(documentState.contains(.editingDisabled) ? "disable" : "disable early") }
  override func enableEditing() { occurred("enable") }

  override func handleError(_ error: any Error, userInteractionPermitted: Bool) {
    errors.append(error)
    super.handleError(error, userInteractionPermitted: userInteractionPermitted)
    occurred("error")
  }

  override func presentedItemDidMove(to newURL: URL) {
    super.presentedItemDidMove(to: newURL)
    MainActor.assumeIsolated { occurred("move") }
  }

  override nonisolated func read(from url: URL) throws {
    journal.note(Thread.isMainThread ? "read on main" : "read")
    try super.read(from: url)
  }

  override nonisolated func writeContents(
    _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
  ) throws {
    journal.note(Thread.isMainThread ? "write on main" : "write")
    let fails = DispatchQueue.main.sync {
      MainActor.assumeIsolated {
        whileWriting?()
        return failsToWrite
      }
    }
    if fails { throw Refused() }
    try super.writeContents(contents, to: url, for: saveOperation, originalContentsURL: originalContentsURL)
  }

  func type(_ more: String) {
    text += more
    updateChangeCount(.done)
  }

  func occurred(_ event: String) {
    journal.note(event)
    let resumed = waiting
    waiting = []
    for continuation in resumed { continuation.resume() }
  }

  /// Returns when an event has made something true.
  func until(_ condition: @MainActor () -> Bool) async {
    while !condition() { await withCheckedContinuation { waiting.append($0) } }
  }
}

/// Another party: on a thread of its own, with a coordinator of its own.
func elsewhere<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { end in
    Thread.detachNewThread { end.resume(with: Result(catching: body)) }
  }
}

func writeElsewhere(_ text: String, to url: URL) async throws {
  try await elsewhere {
    var error: NSError?
    var problem: (any Error)?
    NSFileCoordinator().coordinate(writingItemAt: url, error: &error) { url in
      do { try Data(text.utf8).write(to: url) } catch { problem = error }
    }
    if let error = problem ?? error { throw error }
  }
}

func readElsewhere(_ url: URL) async throws -> String {
  try await elsewhere {
    var error: NSError?
    var text: String?
    NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { url in
      text = try? String(contentsOf: url, encoding: .utf8)
    }
    if let error { throw error }
    return text ?? ""
  }
}
