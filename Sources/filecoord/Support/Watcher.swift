import FileCoordination
import FoundationEssentials
import Synchronization

/// A presenter that passes on its questions and notifications.
final class Watcher: FilePresenter {
  /// One message.
  struct Event: Sendable {
    /// The event, in the words that are printed.
    let name: String
    /// The item concerned.
    let item: URL
    /// Where it went, if it was moved.
    var destination: URL?
    /// The attributes or the version concerned.
    var detail: String?
    let origin: AccessOrigin
  }

  let presentedItemURL: URL?
  let presenterLabel: String
  let presentedItemCallbacks: FilePresenterCallbacks
  let observesUncoordinatedChanges: Bool
  /// Follows moves.
  private let place: Mutex<URL>
  private let note: @Sendable (Event) -> Void

  init(
    _ url: URL, label: String, callbacks: FilePresenterCallbacks, observesUncoordinatedChanges: Bool = false,
    note: @escaping @Sendable (Event) -> Void
  ) {
    place = Mutex(url)
    presentedItemURL = url
    presenterLabel = label
    presentedItemCallbacks = callbacks
    self.observesUncoordinatedChanges = observesUncoordinatedChanges
    self.note = note
  }

  private var url: URL { place.withLock { $0 } }
}

// MARK: - Asked

extension Watcher {
  /// The questions to a presenter that also lets go, saves and makes way.
  static let questions: FilePresenterCallbacks = [
    .relinquish, .saveChanges, .accommodateDeletion, .accommodateSubitemDeletion,
  ]

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    note(Event(name: "relinquish to reader", item: url, origin: origin))
    return { [self] in note(Event(name: "reacquire", item: url, origin: origin)) }
  }

  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    note(Event(name: "relinquish to writer", item: url, origin: origin))
    return { [self] in note(Event(name: "reacquire", item: url, origin: origin)) }
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    note(Event(name: "save changes", item: url, origin: origin))
  }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    note(Event(name: "accommodate deletion", item: url, origin: origin))
  }

  func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws {
    note(Event(name: "accommodate deletion inside", item: url, origin: origin))
  }
}

// MARK: - Notifications

extension Watcher {
  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async {
    let oldURL = place.withLock { url in
      defer { url = newURL }
      return url
    }
    note(Event(name: "did move", item: oldURL, destination: newURL, origin: origin))
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    note(Event(name: "did change", item: url, origin: origin))
  }

  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {
    let names = attributes.sorted().joined(separator: " ")
    note(Event(name: "attributes did change", item: url, detail: names, origin: origin))
  }

  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async {
    note(Event(name: "version \(change.rawValue)", item: url, detail: version, origin: origin))
  }

  func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async {
    note(Event(name: "item inside did appear", item: url, origin: origin))
  }

  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
    note(Event(name: "item inside did move", item: oldURL, destination: newURL, origin: origin))
  }

  func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {
    note(Event(name: "item inside did change", item: url, origin: origin))
  }

  func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {
    note(Event(name: "version inside \(change.rawValue)", item: url, detail: version, origin: origin))
  }
}
