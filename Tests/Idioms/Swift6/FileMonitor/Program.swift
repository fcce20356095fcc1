import Foundation
import FoundationCompatibility

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

func runFileMonitor(in folder: URL) async throws {
  let url = folder.appendingPathComponent("monitored")
  let monitor = FileMonitor(folder)
  try await FileStore(url: url).write(Data("x".utf8))
  // Whoever had access before may be told of last.
  for await change in monitor.changes where change.lastPathComponent == "monitored" { break }
  monitor.stop()

  let noteURL = folder.appendingPathComponent("note")
  let note = await Note(url: noteURL)
  await note.write("unsaved")
  let text = try await NSFileCoordinator.access([.readingIntent(with: noteURL)]) { try Data(contentsOf: noteURL) }
  guard text == Data("unsaved".utf8), await note.saveCount == 1 else { throw Failure(description: "not saved") }
  let removal = NSFileAccessIntent.writingIntent(with: noteURL, options: .forDeleting)
  try await NSFileCoordinator.access([removal]) { try FileManager.default.removeItem(at: removal.url) }
}
