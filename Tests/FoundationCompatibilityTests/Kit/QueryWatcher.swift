import Foundation
import FoundationCompatibility
import Testing

/// A query that posts on a serial queue, and its notifications.
///
/// Suites that use it run one test after the other: the kernel lets a user have 128 inotify instances, and each query needs one.
///
/// Lines of the journal: `began`, `gathered +a ~b -c`, `finished`, `updated +a ~b -c`, with names in order.
final class QueryWatcher: @unchecked Sendable {
  let query: NSMetadataQuery
  let journal = Journal()
  let queue: OperationQueue
  private var tokens: [any NSObjectProtocol] = []
  private let lock = NSLock()
  private var handlers: [Notification.Name: (Notification) -> Void] = [:]

  /// Notifications are batched for as short a time as possible.
  init(
    _ box: Sandbox, _ format: String? = "TRUEPREDICATE", on queue: OperationQueue = serialQueue("query"),
    query: NSMetadataQuery = NSMetadataQuery()
  ) {
    self.query = query
    self.queue = queue
    query.operationQueue = queue
    query.predicate = format.map { NSPredicate(format: $0) }
    query.searchScopes = [box.root]
    query.notificationBatchingInterval = 0
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    let words: [(Notification.Name, String)] = [
      (.NSMetadataQueryDidStartGathering, "began"), (.NSMetadataQueryGatheringProgress, "gathered"),
      (.NSMetadataQueryDidFinishGathering, "finished"), (.NSMetadataQueryDidUpdate, "updated"),
    ]
    for (name, word) in words {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: query, queue: nil) { [weak self] in
          self?.note($0, word)
        })
    }
  }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

  /// Runs `handler` whenever a notification is posted, before it's noted.
  func on(_ name: Notification.Name, _ handler: @escaping (Notification) -> Void) {
    lock.withLock { handlers[name] = handler }
  }

  private func note(_ notification: Notification, _ word: String) {
    let place = queue.maxConcurrentOperationCount != 1 || OperationQueue.current === queue ? "" : " on another queue"
    lock.withLock { handlers[notification.name] }?(notification)
    journal.note(([word] + Self.lists(notification)).joined(separator: " ") + place)
  }

  private static func lists(_ notification: Notification) -> [String] {
    let keys = [
      ("+", NSMetadataQueryUpdateAddedItemsKey), ("~", NSMetadataQueryUpdateChangedItemsKey),
      ("-", NSMetadataQueryUpdateRemovedItemsKey),
    ]
    return keys.flatMap { sign, key in
      (notification.userInfo?[key] as? [Any] ?? []).map { sign + name($0) }.sorted()
    }
  }

  static func name(_ result: Any) -> String {
    (result as? NSMetadataItem)?.value(forAttribute: NSMetadataItemFSNameKey) as? String ?? "\(result)"
  }

  /// Starts, and blocks until the first search is over.
  func gather() {
    let finishedCount = journal.count(of: "finished")
    #expect(query.start())
    #expect(journal.wait(for: "finished", count: finishedCount + 1))
  }

  /// The names of the results, as the queue sees them.
  var names: [String] {
    let names = Journal()
    onQueue { [self] in
      for result in query.results { names.note(Self.name(result)) }
    }
    return names.entries
  }

  /// Blocks until `body` has run on the queue.
  func onQueue(_ body: @escaping @Sendable () -> Void) {
    queue.addOperations([BlockOperation(block: body)], waitUntilFinished: true)
  }
}
