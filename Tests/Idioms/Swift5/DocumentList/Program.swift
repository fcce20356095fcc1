// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A list of documents that a metadata query keeps current, as apps with documents in iCloud have it.

protocol DocumentListDelegate: AnyObject {
  func documentList(
    _ list: DocumentList, didInsert names: [String], didRemove removed: [String], didUpdate updated: [String])
}

class DocumentList: NSObject {
  struct Entry: Equatable {
    var url: URL
    var size: Int
    var isDownloaded: Bool
  }

  weak var delegate: DocumentListDelegate?
  private(set) var entries: [Entry] = []
  private(set) var isReady = false
  private lazy var query: NSMetadataQuery = {
    let query = NSMetadataQuery()
    query.searchScopes = [folder]
    query.predicate = NSPredicate(format: "%K LIKE %@", NSMetadataItemFSNameKey, "*.doc")
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    query.notificationBatchingInterval = 0.02
    return query
  }()
  private let folder: URL
  private var tokens: [NSObjectProtocol] = []

  init(_ folder: URL, queue: OperationQueue?) {
    self.folder = folder
    super.init()
    query.operationQueue = queue
    let center = NotificationCenter.default
    tokens = [
      center.addObserver(forName: .NSMetadataQueryDidFinishGathering, object: query, queue: queue) { [weak self] _ in
        self?.load()
        self?.isReady = true
      },
      center.addObserver(forName: NSNotification.Name.NSMetadataQueryDidUpdate, object: query, queue: nil) {
        [weak self] in
        self?.update($0)
      },
    ]
  }

  deinit {
    tokens.forEach { NotificationCenter.default.removeObserver($0) }
    if query.isStarted { query.stop() }
  }

  func start() {
    guard query.start() else { return Scene.check(false, "started") }
    Scene.check(query.isStarted && !query.isStopped, "runs")
  }

  private func load() {
    query.disableUpdates()
    entries = (query.results as! [NSMetadataItem]).map(Entry.init)
    query.enableUpdates()
  }

  private func update(_ notification: Notification) {
    func names(_ key: String) -> [String] {
      let items = notification.userInfo?[key] as? [NSMetadataItem] ?? []
      return items.compactMap { $0.value(forAttribute: NSMetadataItemFSNameKey) as? String }.sorted()
    }
    load()
    delegate?.documentList(
      self, didInsert: names(NSMetadataQueryUpdateAddedItemsKey),
      didRemove: names(NSMetadataQueryUpdateRemovedItemsKey),
      didUpdate: names(NSMetadataQueryUpdateChangedItemsKey))
  }
}

extension DocumentList.Entry {
  init(_ item: NSMetadataItem) {
    url = item.value(forAttribute: NSMetadataItemURLKey) as! URL
    size = (item.value(forAttribute: NSMetadataItemFSSizeKey) as? NSNumber)?.intValue ?? 0
    let status = item.value(forAttribute: NSMetadataUbiquitousItemDownloadingStatusKey) as? String
    isDownloaded = status == nil || status == NSMetadataUbiquitousItemDownloadingStatusCurrent
  }
}

class ListLogger: DocumentListDelegate {
  let changed = DispatchSemaphore(value: 0)
  var lines: [String] = []

  func documentList(
    _ list: DocumentList, didInsert names: [String], didRemove removed: [String], didUpdate updated: [String]
  ) {
    lines.append("+\(names) -\(removed) ~\(updated)")
    changed.signal()
  }
}

func runDocumentList() {
  let folder = Scene.folder.appendingPathComponent("documents")
  try! FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  try! Data("12345".utf8).write(to: folder.appendingPathComponent("a.doc"))

  // On the main thread's run loop, with no queue.
  let list = DocumentList(folder, queue: nil)
  let mainLogger = ListLogger()
  list.delegate = mainLogger
  list.start()
  let end = Date(timeIntervalSinceNow: 60)
  while !list.isReady, Date() < end { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
  Scene.check(list.entries.map(\.size) == [5] && list.entries[0].isDownloaded, "found on the main thread")

  // On a queue, while the main thread waits.
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  let queued = DocumentList(folder, queue: queue)
  let logger = ListLogger()
  queued.delegate = logger
  queued.start()
  while !queued.isReady { queue.waitUntilAllOperationsAreFinished() }
  try! FileManager.default.moveItem(
    at: folder.appendingPathComponent("a.doc"), to: folder.appendingPathComponent("b.doc"))
  Scene.wait(logger.changed, "an update on the queue")
  queue.addOperations(
    [BlockOperation { Scene.check(queued.entries.map(\.url.lastPathComponent) == ["b.doc"], "moved") }],
    waitUntilFinished: true)
  Scene.check(logger.lines == ["+[] -[] ~[\"b.doc\"]"], "told \(logger.lines)")

  // With no queue, and nothing runs on the main thread: it's served all the same.
  let blocked = DispatchSemaphore(value: 0)
  let query = NSMetadataQuery()
  query.predicate = NSPredicate(fromMetadataQueryString: "kMDItemFSName == \"*.doc\"c")
  query.searchScopes = [folder.path]
  let token = NotificationCenter.default.addObserver(
    forName: .NSMetadataQueryDidFinishGathering, object: nil, queue: nil
  ) {
    guard $0.object as? NSMetadataQuery === query else { return }
    Scene.check(query.resultCount == 1, "found without a run loop")
    query.stop()
    blocked.signal()
  }
  query.start()
  Scene.wait(blocked, "the end of the search")
  NotificationCenter.default.removeObserver(token)
  Scene.check(query.isStopped && query.resultCount == 1, "results stay")
}

@main
struct Program {
  static func main() {
    runDocumentList()
    Scene.finish()
  }
}
