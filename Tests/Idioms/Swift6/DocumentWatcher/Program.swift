// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

/// The recorded properties of a document: a value, because items can't leave the query's queue.
struct DocumentInfo: Sendable, Hashable {
  let name: String
  let url: URL
  let changeDate: Date

  init?(_ item: NSMetadataItem) {
    guard let name = item.value(forAttribute: NSMetadataItemFSNameKey) as? String,
      let url = item.value(forAttribute: NSMetadataItemURLKey) as? URL,
      let date = item.value(forAttribute: NSMetadataItemFSContentChangeDateKey) as? Date
    else { return nil }
    (self.name, self.url, changeDate) = (name, url, date)
  }
}

/// Documents as a stream that stops the query when nobody reads it any more.
final class DocumentWatcher: @unchecked Sendable {
  private let query = NSMetadataQuery()
  private let queue = OperationQueue()
  private var observers: [any NSObjectProtocol] = []

  init(_ folder: URL, predicate: NSPredicate) {
    queue.maxConcurrentOperationCount = 1
    query.operationQueue = queue
    query.searchScopes = [folder]
    query.predicate = predicate
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    query.notificationBatchingInterval = 0.02
  }

  func documents() -> AsyncStream<[DocumentInfo]> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      for name in [Notification.Name.NSMetadataQueryDidFinishGathering, .NSMetadataQueryDidUpdate] {
        let observer = NotificationCenter.default.addObserver(forName: name, object: query, queue: queue) {
          [weak self] _ in
          guard let self else { return }
          query.disableUpdates()
          defer { query.enableUpdates() }
          continuation.yield(query.results.compactMap { ($0 as? NSMetadataItem).flatMap(DocumentInfo.init) })
        }
        observers.append(observer)
      }
      continuation.onTermination = { [weak self] _ in
        guard let self else { return }
        queue.addOperation { self.query.stop() }
      }
      queue.addOperation { self.query.start() }
    }
  }

  var isStarted: Bool { query.isStarted }
}

/// Waits for the first results with a continuation.
@MainActor
final class DocumentCounter {
  private let query = NSMetadataQuery()
  private var observer: (any NSObjectProtocol)?

  func count(in folder: URL) async -> Int {
    query.searchScopes = [folder]
    query.predicate = NSPredicate(format: "%K BEGINSWITH[cd] %@", NSMetadataItemFSNameKey, "DOC")
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      observer = NotificationCenter.default.addObserver(
        forName: .NSMetadataQueryDidFinishGathering, object: query, queue: .main
      ) { _ in
        MainActor.assumeIsolated {
          self.query.stop()
          if let observer = self.observer { NotificationCenter.default.removeObserver(observer) }
          continuation.resume()
        }
      }
      query.start()
    }
    return query.resultCount
  }
}

func watchDocuments(in folder: URL) async throws {
  try Data().write(to: folder.appendingPathComponent("doc one"))
  let watcher = DocumentWatcher(folder, predicate: NSPredicate(format: "%K LIKE[c] 'doc*'", NSMetadataItemFSNameKey))
  for await documents in watcher.documents() {
    let names = documents.map(\.name)
    if names == ["doc one"] { try Data().write(to: folder.appendingPathComponent("Doc two")) }
    if names == ["doc one", "Doc two"] { break }
  }
  let count = await DocumentCounter().count(in: folder)
  Scene.check(count == 2, "counted")

  // Typed messages, of iOS 26 and later.
  let query = NSMetadataQuery()
  query.searchScopes = [folder]
  query.predicate = NSPredicate(value: true)
  query.operationQueue = OperationQueue()
  let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
  let token = NotificationCenter.default.addObserver(of: query, for: .didFinishGathering) { _ in continuation.yield(1) }
  query.start()
  for await _ in ends { break }
  NotificationCenter.default.removeObserver(token)
  Scene.check(query.resultCount == 2, "found")
  query.stop()
  var starts = NotificationCenter.default.messages(of: query, for: .didStartGathering).makeAsyncIterator()
  query.start()
  let start = try await starts.next()
  Scene.check(start != nil, "started again")
  query.stop()
}

@main
struct Program {
  static func main() async throws {
    try await watchDocuments(in: Scene.directory("documents"))
    Scene.finish()
  }
}
