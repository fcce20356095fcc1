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
  /// What the file contained when it was last loaded or saved.
  private var savedText = ""

  init(_ url: URL, in domain: CoordinationDomain = .standard) {
    self.url = Mutex(url)
    self.domain = domain
  }

  private var coordinator: FileCoordinator { FileCoordinator(label: "editor", presenter: self, domain: domain) }

  /// Registers inside a read, so that no change comes between loading and being told about changes.
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

  /// Doesn't suspend, so nothing is typed meanwhile, and saves take turns although those of one presenter don't wait for each other.
  private func save(to file: borrowing FileAccess, or conflict: borrowing FileAccess) throws {
    if text == savedText { return }
    if try !file.exists || file.contents() == Data(savedText.utf8) {
      try file.replaceContents(with: Data(text.utf8))
      savedText = text
    } else {
      // Somebody wrote since the file was loaded. Neither text overwrites the other: this one gets a file of its own.
      try conflict.replaceContents(with: Data(text.utf8))
      try load(file.url)
    }
  }

  // Asked before somebody else accesses the file, who waits for the answer.

  func savePresentedItemChanges(origin: AccessOrigin) async throws { try await save() }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    if text != savedText { throw UnsavedText() }
  }

  // Told afterwards.

  func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async { url.withLock { $0 = newURL } }

  func presentedItemDidChange(origin: AccessOrigin) async {
    // Unsaved text stays; saving it will find the conflict.
    if origin.isVerified == false || text != savedText { return }
    // Other editors needn't save for this: each save is told.
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
