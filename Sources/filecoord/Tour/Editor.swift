import FileCoordination
import FoundationEssentials
import Synchronization

/// An editor with a document: it saves when another party needs the text, follows moves, and guards unsaved text from
/// deletion.
final class Editor: FilePresenter {
  struct UnsavedText: Error, CustomStringConvertible {
    var description: String { "there is unsaved text" }
  }

  private struct Document {
    var url: URL
    var text: String
    var isSaved = true
    var isOpen = true
  }

  let presenterLabel = "editor"
  let presentedItemCallbacks: FilePresenterCallbacks = [
    .saveChanges, .accommodateDeletion, .itemDidMove,
  ]

  private let stage: Stage
  private let document: Mutex<Document>

  init(_ url: URL, on stage: Stage) {
    self.stage = stage
    document = Mutex(Document(url: url, text: stage.text(url) ?? ""))
  }

  var presentedItemURL: URL? { document.withLock { $0.url } }
  var isOpen: Bool { document.withLock { $0.isOpen } }

  func type(_ text: String) {
    document.withLock { document in
      document.text = text
      document.isSaved = false
    }
    stage.tell(presenterLabel, "gets new text typed: \"\(text)\". It isn't saved yet.")
  }

  func save() async throws {
    let (url, text) = document.withLock { ($0.url, $0.text) }
    try await stage.coordinator(presenterLabel, for: self).replaceContents(of: url, with: Data(text.utf8))
    document.withLock { $0.isSaved = $0.text == text }
  }

  // MARK: Asked before others access the document

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    if document.withLock({ $0.isSaved }) { return }
    stage.tell(presenterLabel, "is asked to save first, on behalf of \(origin.label), and saves.")
    try await save()
  }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    guard document.withLock({ $0.isSaved }) else {
      stage.tell(presenterLabel, "is asked, and refuses: there is unsaved text.")
      throw UnsavedText()
    }
    document.withLock { $0.isOpen = false }
    stage.tell(presenterLabel, "is asked, and closes the document.")
  }

  // MARK: Notifications

  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async { document.withLock { $0.url = url } }
}
