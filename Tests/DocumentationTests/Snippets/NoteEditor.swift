import FileCoordination
import Foundation
import Synchronization

// Also part of the program that tests run as several processes, which is why nothing else is here.

// snippet: readme-editor
actor NoteEditor: FilePresenter {
  nonisolated let presentedItemCallbacks: FilePresenterCallbacks = [
    .saveChanges, .accommodateDeletion, .itemDidMove, .itemDidChange,
  ]
  nonisolated var presentedItemURL: URL? { url.withLock { $0 } }
  private let url: Mutex<URL>
  private let domain: CoordinationDomain
  private var text = ""
  /// The contents of the file at the last load or save.
  private var savedText = ""

  init(_ url: URL, in domain: CoordinationDomain = .standard) {
    self.url = Mutex(url)
    self.domain = domain
  }

  private var coordinator: FileCoordinator { FileCoordinator(label: "editor", presenter: self, domain: domain) }

  /// Registers inside a read, so that no change is missed between loading and registering.
  func open() async throws -> FilePresenterRegistration {
    try await coordinator.read(url.withLock { $0 }) { access in
      try load(access.url)
      return try await domain.register(self)
    }
  }

  func append(_ more: String) { text += more }

  func save() async throws {
    if text == savedText { return }
    let url = url.withLock { $0 }
    let conflictURL = url.appendingPathExtension("conflict-\(UUID())")
    try await coordinator.write(url, and: conflictURL) { file, conflict in try save(to: file, or: conflict) }
  }

  /// Doesn't suspend, so no text is typed meanwhile, and one save follows the other: accesses of one presenter don't exclude each other.
  private func save(to file: borrowing FileAccess, or conflict: borrowing FileAccess) throws {
    if text == savedText { return }
    if try !file.exists || file.contents() == Data(savedText.utf8) {
      try file.replaceContents(with: Data(text.utf8))
      savedText = text
    } else {
      // Another program wrote after the file was loaded. This text gets a file of its own, so both texts are kept.
      try conflict.replaceContents(with: Data(text.utf8))
      try load(file.url)
    }
  }

  // Questions before others access the file; they wait for the answer.

  func savePresentedItemChanges(origin: AccessOrigin) async throws { try await save() }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    if text != savedText { throw UnsavedText() }
  }

  // Notifications afterwards.

  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async { url.withLock { $0 = newURL } }

  func presentedItemDidChange(origin: AccessOrigin) async {
    // Unsaved text stays; saving it will find the conflict.
    if origin.isVerified == false || text != savedText { return }
    // Other editors needn't save first: each of their saves is notified.
    try? await coordinator.read(url.withLock { $0 }, options: .withoutChanges) { access in
      if text == savedText { try load(access.url) }
    }
  }

  func load(_ url: URL) throws {
    text = try String(contentsOf: url, encoding: .utf8)
    savedText = text
  }
}

struct UnsavedText: Error {}
// end
