import FileCoordination
import FileDocuments
import FileVersions
import Foundation

/// A document whose contents are a number, which two processes raise in turns.
struct TakingTurns: Sendable {
  let document: FileDocument<String>

  init(_ path: String, _ domain: CoordinationDomain) {
    let file = URL(filePath: path)
    let store = file.deletingLastPathComponent().appending(path: "store")
    var options = DocumentOptions<String>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(store)))
    options.autosave = .never
    document = FileDocument(file, as: .text, options: options, in: nil)
  }

  /// Waits for the number before, and saves this one.
  func type(_ number: Int) async throws {
    for await _ in document.states where await document.contents == "\(number - 1)" { break }
    try await document.edit { $0 = "\(number)" }
    try await document.save()
  }
}
