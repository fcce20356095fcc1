import Foundation
import FoundationCompatibility

/// The common part of the presenters of these tests.
class JournalPresenter: NSObject, @unchecked Sendable {
  private let lock = NSLock()
  private var url: URL?
  let queue: OperationQueue
  let journal = Journal()

  init(_ url: URL?, _ queue: OperationQueue = serialQueue()) {
    self.url = url
    self.queue = queue
  }

  var presentedItemURL: URL? {
    get { lock.withLock { url } }
    set { lock.withLock { url = newValue } }
  }
  var presentedItemOperationQueue: OperationQueue { queue }

  /// Notes a message, and where it came.
  func note(_ message: String) {
    journal.note(OperationQueue.current === queue ? message : "\(message) on another queue")
  }
}

/// Has written every method, those that can be answered with completion handlers.
final class HandlerPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to reader")
    reader { [self] in note("reacquire") }
  }
  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    note("relinquish to writer")
    writer { [self] in note("reacquire") }
  }
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save")
    completionHandler(nil)
    completionHandler(CocoaError(.fileReadUnknown))
  }
  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("deletion")
    completionHandler(nil)
  }
  func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("eviction")
    NSFileCoordinator.removeFilePresenter(self)
    completionHandler(nil)
  }
  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    note("deletion of \(url.lastPathComponent)")
    completionHandler(nil)
  }
  func presentedItemDidMove(to newURL: URL) {
    presentedItemURL = newURL
    note("moved to \(newURL.lastPathComponent)")
  }
  func presentedItemDidChange() { note("changed") }
  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {
    note("attributes \(attributes.count)")
  }
  func presentedItemDidGain(_ version: NSFileVersion) { note("gained \(version.persistentIdentifier)") }
  func presentedItemDidLose(_ version: NSFileVersion) { note("lost \(version.persistentIdentifier)") }
  func presentedItemDidResolveConflict(_ version: NSFileVersion) { note("resolved \(version.persistentIdentifier)") }
  func presentedSubitemDidAppear(at url: URL) { note("\(url.lastPathComponent) appeared") }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
    note("\(oldURL.lastPathComponent) moved to \(newURL.lastPathComponent)")
  }
  func presentedSubitemDidChange(at url: URL) { note("\(url.lastPathComponent) changed") }
  func presentedSubitem(at url: URL, didGain version: NSFileVersion) {
    note("\(url.lastPathComponent) gained \(version.persistentIdentifier)")
  }
  func presentedSubitem(at url: URL, didLose version: NSFileVersion) {
    note("\(url.lastPathComponent) lost \(version.persistentIdentifier)")
  }
  func presentedSubitem(at url: URL, didResolve version: NSFileVersion) {
    note("\(url.lastPathComponent) resolved \(version.persistentIdentifier)")
  }
}

/// Has written only `async` methods.
final class AsyncPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges() async throws { journal.note("save") }
  func accommodatePresentedItemDeletion() async throws {
    journal.note("deletion")
    throw CocoaError(.fileWriteNoPermission)
  }
  func accommodatePresentedItemEviction() async throws {
    journal.note("eviction")
    NSFileCoordinator.removeFilePresenter(self)
  }
  func accommodatePresentedSubitemDeletion(at url: URL) async throws {
    journal.note("deletion of \(url.lastPathComponent)")
  }
}

/// Has written both forms of one method.
final class TwoFormPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("save by handler")
    completionHandler(nil)
  }
  func savePresentedItemChanges() async throws { journal.note("save by async") }
}
