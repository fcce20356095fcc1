import FileCoordination
import Foundation

/// A process with two documents of one file that save as document classes do: elsewhere, and answer afterwards.
enum DocumentWorker {
  /// Each has one line that isn't saved yet.
  static func main(_ file: URL, in domain: CoordinationDomain) throws {
    let documents = (1...2).map { Document(file, "document \($0) of \(getpid())", domain) }
    let registrations = try documents.map { try domain.register($0) }
    Worker.report("open")
    while readLine() != nil {}
    for registration in registrations { registration.end() }
  }
}

/// `@unchecked Sendable`: `unsaved` is used on `queue` alone.
private final class Document: FilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presenterLabel: String
  let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges, .itemDidChange]
  private let file: URL
  private let domain: CoordinationDomain
  private let queue = DispatchQueue(label: "document")
  private var unsaved: [String]

  init(_ file: URL, _ label: String, _ domain: CoordinationDomain) {
    presentedItemURL = file
    self.file = file
    self.domain = domain
    presenterLabel = label
    unsaved = [label]
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.save() }) }
    }
  }

  private func save() throws {
    if unsaved.isEmpty { return }
    let coordinator = FileCoordinator(label: presenterLabel, presenter: self, domain: domain)
    try coordinator.blocking.write(file, options: .forMerging) { access in
      let text = try String(contentsOf: access.url, encoding: .utf8)
      let lines = unsaved.map { $0 + "\n" }.joined()
      try Data((text + lines).utf8).write(to: access.url, options: .atomic)
    }
    unsaved = []
  }
}
