// swift-format-ignore-file
// As people write it.

import Foundation

struct Note: Sendable, Hashable {
  let title: String
  let size: Int
}

/// Finds notes, as a stream.
@MainActor
final class NoteFinder {
  private let query = NSMetadataQuery()
  private var observers: [any NSObjectProtocol] = []
  private let queue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.qualityOfService = .userInitiated
    return queue
  }()

  func notes(in folder: URL) -> AsyncStream<[Note]> {
    AsyncStream { continuation in
      query.operationQueue = queue
      query.searchScopes = [folder.path]
      query.predicate = NSPredicate(format: "%K ENDSWITH %@ AND %K > 0", NSMetadataItemFSNameKey, ".note", NSMetadataItemFSSizeKey)
      query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSSizeKey, ascending: false)]
      query.notificationBatchingInterval = 0.05
      for name: Notification.Name in [.NSMetadataQueryDidFinishGathering, .NSMetadataQueryDidUpdate] {
        observers.append(NotificationCenter.default.addObserver(forName: name, object: query, queue: queue) { notification in
          guard let query = notification.object as? NSMetadataQuery else { return }
          query.disableUpdates()
          let notes = query.results.compactMap { ($0 as? NSMetadataItem).flatMap(Note.init) }
          query.enableUpdates()
          continuation.yield(notes)
        })
      }
      query.start()
    }
  }

  func stop() {
    query.stop()
    observers.forEach(NotificationCenter.default.removeObserver)
  }
}

extension Note {
  init?(_ item: NSMetadataItem) {
    guard let name = item.value(forAttribute: NSMetadataItemFSNameKey) as? String,
      let size = item.value(forAttribute: NSMetadataItemFSSizeKey) as? Int
    else { return nil }
    self.init(title: name, size: size)
  }
}
