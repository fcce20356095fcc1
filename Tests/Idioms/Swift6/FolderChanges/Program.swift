import Foundation
import FoundationCompatibility
import Scene

// A folder's presenter that wrote only `presentedSubitemDidChange(at:)`: it hears by it of files that are made, moved and deleted.

final class FolderMonitor: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let condition = NSCondition()
  private var names: [String] = []

  init(_ url: URL) {
    presentedItemURL = url
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  func presentedSubitemDidChange(at url: URL) {
    condition.lock()
    names.append(url.lastPathComponent)
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for news of these files, and forgets them.
  func wait(for wanted: Set<String>) {
    let end = Date(timeIntervalSinceNow: 60)
    condition.lock()
    while !wanted.isSubset(of: names), condition.wait(until: end) {}
    Scene.check(wanted.isSubset(of: names), "news of \(wanted), not \(names)")
    names = []
    condition.unlock()
  }
}

func write(_ url: URL, _ text: String) {
  var error: NSError?
  NSFileCoordinator().coordinate(writingItemAt: url, error: &error) { try? Data(text.utf8).write(to: $0) }
  Scene.check(error == nil, "\(String(describing: error))")
}

func move(_ old: URL, _ new: URL) {
  var error: NSError?
  let coordinator = NSFileCoordinator()
  coordinator.coordinate(
    writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: &error
  ) { source, destination in
    coordinator.item(at: source, willMoveTo: destination)
    try? FileManager.default.moveItem(at: source, to: destination)
    coordinator.item(at: source, didMoveTo: destination)
  }
  Scene.check(error == nil, "\(String(describing: error))")
}

func delete(_ url: URL) -> NSError? {
  var error: NSError?
  NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: &error) {
    try? FileManager.default.removeItem(at: $0)
  }
  return error
}

@main
struct Program {
  static func main() {
    let folder = Scene.directory("folder")
    let monitor = FolderMonitor(folder)
    NSFileCoordinator.addFilePresenter(monitor)
    for _ in 1...2 {
      write(folder.appendingPathComponent("new"), "text")
      monitor.wait(for: ["new"])
      move(folder.appendingPathComponent("new"), folder.appendingPathComponent("moved"))
      monitor.wait(for: ["new", "moved"])
      Scene.check(delete(folder.appendingPathComponent("moved")) == nil, "deleted")
      monitor.wait(for: ["moved"])
    }
    NSFileCoordinator.removeFilePresenter(monitor)
    Scene.finish()
  }
}
