// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Queries whose results and values a delegate replaces, in each of the ways that Swift 6 has for a delegate.

/// The part of an item that a list shows.
final class Row: NSObject, Sendable {
  let title: String
  let url: URL

  init?(_ item: NSMetadataItem) {
    guard let url = item.value(forAttribute: NSMetadataItemURLKey) as? URL else { return nil }
    self.url = url
    title = url.deletingPathExtension().lastPathComponent
  }
}

/// Belongs to no actor.
final class RowMaker: NSObject, NSMetadataQueryDelegate {
  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    Row(result) ?? result
  }

  func metadataQuery(
    _ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any
  ) -> Any {
    switch (attrName, attrValue) {
    case (NSMetadataItemFSSizeKey, let size as Int): size < 10 ? "small" : "large"
    default: attrValue
    }
  }
}

/// On the main actor, where its query posts.
@MainActor
final class RowList: NSObject, @preconcurrency NSMetadataQueryDelegate {
  private let query = NSMetadataQuery()
  private var observers: [any NSObjectProtocol] = []
  private var continuation: CheckedContinuation<[String], Never>?
  private(set) var replacementCount = 0

  func titles(in folder: URL) async -> [String] {
    query.delegate = self
    query.operationQueue = .main
    query.searchScopes = [folder]
    query.predicate = NSPredicate(fromMetadataQueryString: "kMDItemFSName == '*.TXT'cd && kMDItemFSSize > 0")
    query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
    return await withCheckedContinuation { continuation in
      self.continuation = continuation
      observers.append(
        NotificationCenter.default.addObserver(
          forName: .NSMetadataQueryDidFinishGathering, object: query, queue: .main
        ) { [weak self] _ in
          MainActor.assumeIsolated { self?.finish() }
        })
      query.start()
    }
  }

  private func finish() {
    query.disableUpdates()
    defer { query.enableUpdates() }
    query.stop()
    continuation?.resume(returning: query.results.compactMap { ($0 as? Row)?.title })
    continuation = nil
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    replacementCount += 1
    return Row(result) ?? result
  }
}

/// On the main actor, with methods that aren't.
@MainActor
final class Labels: NSObject, NSMetadataQueryDelegate {
  nonisolated func metadataQuery(
    _ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any
  ) -> Any {
    guard let date = attrValue as? Date else { return attrValue }
    return date.timeIntervalSinceNow > -3600 ? "recent" : "old"
  }
}

/// A query on a queue of its own, with a delegate.
final class Search: @unchecked Sendable {
  private let query = NSMetadataQuery()
  private let delegate: any NSMetadataQueryDelegate
  private var observer: (any NSObjectProtocol)?

  init(_ folder: URL, delegate: any NSMetadataQueryDelegate, valuesOf attributes: [String]) {
    self.delegate = delegate
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    query.operationQueue = queue
    query.delegate = delegate
    query.searchScopes = [folder]
    query.predicate = NSPredicate(format: "%K ENDSWITH '.txt'", NSMetadataItemFSNameKey)
    query.valueListAttributes = attributes
  }

  func run() -> NSMetadataQuery {
    let done = DispatchSemaphore(value: 0)
    observer = NotificationCenter.default.addObserver(
      forName: .NSMetadataQueryDidFinishGathering, object: query, queue: nil
    ) { _ in
      done.signal()
    }
    query.operationQueue?.addOperation { [self] in query.start() }
    Scene.wait(done, "the end of the search")
    query.stop()
    return query
  }
}

@main
struct Program {
  static func main() async {
    let folder = Scene.directory("texts")
    for (name, text) in [("a.txt", "short"), ("b.txt", "not so short"), ("c.pdf", "no text")] {
      try! Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    let list = RowList()
    let titles = await list.titles(in: folder)
    Scene.check(titles == ["a", "b"], "rows in the place of items")
    let count = list.replacementCount
    Scene.check(count == 2, "asked for once for each")

    let maker = RowMaker()
    let found = Search(folder, delegate: maker, valuesOf: [NSMetadataItemFSSizeKey]).run()
    Scene.check(found.results.allSatisfy { $0 is Row }, "rows")
    let sizes = found.valueLists[NSMetadataItemFSSizeKey]?.compactMap { $0.value as? String } ?? []
    Scene.check(sizes.sorted() == ["large", "small"], "replaced values")

    let labels = Labels()
    let dates = Search(folder, delegate: labels, valuesOf: [NSMetadataItemFSContentChangeDateKey]).run()
    let tuple = dates.valueLists[NSMetadataItemFSContentChangeDateKey]?.first
    Scene.check(tuple?.value as? String == "recent" && tuple?.count == 2, "one label for both")
    Scene.finish()
  }
}
