import Foundation
import FoundationCompatibility
import Scene

// An editor that keeps a version before it overwrites, shows the history, and goes back; and code that resolves conflicts.

struct History {
  let url: URL

  func checkpoint() throws {
    var error: NSError?
    var failure: (any Error)?
    NSFileCoordinator().coordinate(writingItemAt: url, options: .contentIndependentMetadataOnly, error: &error) { url in
      do { _ = try NSFileVersion.addOfItem(at: url, withContentsOf: url) } catch { failure = error }
    }
    if let problem = failure ?? error { throw problem }
  }

  var entries: [(name: String, date: Date, identifier: String)] {
    (NSFileVersion.otherVersionsOfItem(at: url) ?? []).compactMap { version in
      guard let name = version.localizedName, let date = version.modificationDate,
        let identifier = version.persistentIdentifier as? String
      else { return nil }
      return (name, date, identifier)
    }
  }

  func revert(to identifier: String) throws {
    guard let version = NSFileVersion.version(itemAt: url, forPersistentIdentifier: identifier) else { return }
    var error: NSError?
    NSFileCoordinator().coordinate(writingItemAt: url, options: .forReplacing, error: &error) { url in
      _ = try? version.replaceItem(at: url, options: [])
    }
    if let error { throw error }
  }

  func keepCurrentVersion() throws {
    for conflict in NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? [] { conflict.isResolved = true }
    try NSFileVersion.removeOtherVersionsOfItem(at: url)
  }
}

@main
struct Program {
  static func main() throws {
    let url = Scene.file("draft.txt", "first")
    let history = History(url: url)
    Scene.check(history.entries.isEmpty, "a history at the beginning")
    try history.checkpoint()
    try Data("second".utf8).write(to: url)
    Scene.check(history.entries.map(\.name) == ["draft.txt"], "\(history.entries)")
    try history.revert(to: history.entries[0].identifier)
    Scene.check(try String(contentsOf: url, encoding: .utf8) == "first", "not reverted")
    Scene.check(history.entries.count == 2, "what was overwritten isn't kept")
    try history.keepCurrentVersion()
    Scene.check(history.entries.isEmpty, "versions are left")
    Scene.check(NSFileVersion.currentVersionOfItem(at: url)?.localizedName == "draft.txt", "no current version")
    Scene.finish()
  }
}
