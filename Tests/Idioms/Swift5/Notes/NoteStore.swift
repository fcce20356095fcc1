// swift-format-ignore-file
// As people write it.

import Foundation

/// Keeps the list of notes in a folder current, and reads and writes them.
class NoteStore: NSObject, NSMetadataQueryDelegate {
  let folder: URL
  let query = NSMetadataQuery()
  private(set) var titles: [String] = []
  var onChange: (([String]) -> Void)?
  private var observers: [NSObjectProtocol] = []

  init(folder: URL) {
    self.folder = folder
    super.init()
    query.delegate = self
    query.searchScopes = [folder]
    query.predicate = NSPredicate(format: "%K LIKE[c] '*.note'", NSMetadataItemFSNameKey)
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    query.notificationBatchingInterval = 0.05
    for name in [Notification.Name.NSMetadataQueryDidFinishGathering, .NSMetadataQueryDidUpdate] {
      observers.append(NotificationCenter.default.addObserver(forName: name, object: query, queue: nil) { [weak self] _ in
        self?.refresh()
      })
    }
  }

  deinit { observers.forEach(NotificationCenter.default.removeObserver) }

  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    let name = result.value(forAttribute: NSMetadataItemFSNameKey) as? String ?? ""
    return (name as NSString).deletingPathExtension
  }

  func refresh() {
    query.disableUpdates()
    defer { query.enableUpdates() }
    titles = (0..<query.resultCount).compactMap { query.result(at: $0) as? String }
    onChange?(titles)
  }

  func write(_ text: String, title: String) throws {
    var coordinationError: NSError?
    var writeError: Error?
    NSFileCoordinator(filePresenter: nil).coordinate(
      writingItemAt: folder.appendingPathComponent(title + ".note"), options: .forReplacing, error: &coordinationError
    ) { url in
      do { try text.write(to: url, atomically: true, encoding: .utf8) } catch { writeError = error }
    }
    if let error = coordinationError ?? writeError { throw error }
  }
}

/// Shows a note, and saves it before others read it.
class NoteController: NSObject, NSFilePresenter {
  var presentedItemURL: URL?
  let presentedItemOperationQueue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    return queue
  }()
  var text: String

  init(url: URL, text: String) {
    presentedItemURL = url
    self.text = text
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  deinit { NSFileCoordinator.removeFilePresenter(self) }

  func savePresentedItemChanges(completionHandler: @escaping (Error?) -> Void) {
    guard let url = presentedItemURL else { return completionHandler(nil) }
    var error: NSError?
    NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, error: &error) { url in
      try? text.write(to: url, atomically: true, encoding: .utf8)
    }
    completionHandler(error)
  }
}
