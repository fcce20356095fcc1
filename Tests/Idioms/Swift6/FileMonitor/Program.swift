import Foundation
import FoundationCompatibility
import Scene

// Presenters in Swift 6: changes as an asynchronous sequence, and a document on the main actor.

final class FileMonitor: NSObject, NSFilePresenter, Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue: OperationQueue
  private let continuation: AsyncStream<URL>.Continuation
  let changes: AsyncStream<URL>

  init(_ url: URL) {
    presentedItemURL = url
    presentedItemOperationQueue = OperationQueue()
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
    (changes, continuation) = AsyncStream.makeStream()
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  func stop() {
    NSFileCoordinator.removeFilePresenter(self)
    continuation.finish()
  }

  func presentedItemDidChange() { if let presentedItemURL { continuation.yield(presentedItemURL) } }
  func presentedSubitemDidChange(at url: URL) { continuation.yield(url) }
  func presentedSubitemDidAppear(at url: URL) { continuation.yield(url) }
}

@MainActor
final class Note: NSObject {
  private(set) var text = ""
  private(set) var saveCount = 0
  private let url: URL
  private var presenter: NotePresenter?

  init(url: URL) {
    self.url = url
    super.init()
    let presenter = NotePresenter(url, self)
    self.presenter = presenter
    NSFileCoordinator.addFilePresenter(presenter)
  }

  func write(_ text: String) { self.text = text }

  func save() throws {
    saveCount += 1
    var error: NSError?
    NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: url, error: &error) { url in
      try? Data(text.utf8).write(to: url)
    }
    if let error { throw error }
  }

  func close() { if let presenter { NSFileCoordinator.removeFilePresenter(presenter) } }
}

final class NotePresenter: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  @MainActor private weak var note: Note?

  @MainActor
  init(_ url: URL, _ note: Note) {
    presentedItemURL = url
    self.note = note
  }

  func savePresentedItemChanges() async throws { try await note?.save() }

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { reader(nil) }

  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    Task { @MainActor in
      note?.close()
      completionHandler(nil)
    }
  }
}

@main
struct Program {
  static func main() async throws {
    let url = Scene.folder.appendingPathComponent("monitored")
    let monitor = FileMonitor(Scene.folder)
    NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { try? Data("x".utf8).write(to: $0) }
    // Changes by earlier accesses may still be reported.
    for await change in monitor.changes where change.lastPathComponent == "monitored" { break }
    monitor.stop()

    let noteURL = Scene.folder.appendingPathComponent("note")
    let note = Note(url: noteURL)
    note.write("unsaved")
    let read = NSFileAccessIntent.readingIntent(with: noteURL)
    let text = try await access(read) { try Data(contentsOf: read.url) }
    Scene.check(text == Data("unsaved".utf8), "saved")
    Scene.check(note.saveCount == 1, "once")
    let removal = NSFileAccessIntent.writingIntent(with: noteURL, options: .forDeleting)
    try await access(removal) { try FileManager.default.removeItem(at: removal.url) }
    Scene.finish()
  }

  static func access<T: Sendable>(
    _ intent: NSFileAccessIntent, _ body: @escaping @Sendable () throws -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      NSFileCoordinator().coordinate(with: [intent], queue: OperationQueue()) { error in
        continuation.resume(with: Result { if let error { throw error } else { try body() } })
      }
    }
  }
}
