import Foundation
import FoundationCompatibility
import Scene

// Safe saves as people write them, the container of an app group, and keys of resources that Linux doesn't have.

@main
struct Program {
  static func main() {
    let url = Scene.file("document", "old")
    do {
      let fresh = Scene.file("fresh", "new")
      let result = try FileManager.default.replaceItemAt(url, withItemAt: fresh)
      Scene.check(result == url, "\(String(describing: result))")
      Scene.check(try String(contentsOf: url, encoding: .utf8) == "new", "the new contents")
      let newer = Scene.file("newer", "newer")
      _ = try FileManager.default.replaceItemAt(url, withItemAt: newer, backupItemName: "document~")
      Scene.check(try String(contentsOf: url, encoding: .utf8) == "newer", "the newer contents")
      let newest = Scene.file("newest", "newest")
      _ = try FileManager.default.replaceItemAt(url, withItemAt: newest, options: .usingNewMetadataOnly)
      Scene.check(try String(contentsOf: url, encoding: .utf8) == "newest", "the newest contents")
      Scene.check(try FileManager.default.contentsOfDirectory(atPath: Scene.folder.path) == ["document"], "one file")

      let group = "group.idioms.\(ProcessInfo.processInfo.processIdentifier)"
      let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
      Scene.check(container?.lastPathComponent == group, "\(String(describing: container))")
      if let container { try FileManager.default.removeItem(at: container) }

      let values = try url.resourceValues(forKeys: [
        .fileContentIdentifierKey, .ubiquitousItemIsSharedKey, .isSparseKey,
      ])
      Scene.check(values.fileContentIdentifier == nil && values.ubiquitousItemIsShared == nil, "not known")
    } catch { Scene.check(false, "\(error)") }
    Scene.finish()
  }
}
