import Foundation
import FoundationCompatibility
import Scene

// A list of the files of a plain folder, whose presenter wrote only `presentedItemDidChange`.

final class FileList: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let condition = NSCondition()
  private var names: [String] = []

  init(_ url: URL) {
    presentedItemURL = url
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  func presentedItemDidChange() {
    guard let folder = presentedItemURL else { return }
    let entries = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    condition.lock()
    names = (entries ?? []).sorted()
    condition.broadcast()
    condition.unlock()
  }

  func wait(for wanted: [String]) {
    let end = Date(timeIntervalSinceNow: 60)
    condition.lock()
    while names != wanted, condition.wait(until: end) {}
    Scene.check(names == wanted, "\(wanted), not \(names)")
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
    let list = FileList(folder)
    NSFileCoordinator.addFilePresenter(list)
    write(folder.appendingPathComponent("a"), "text")
    list.wait(for: ["a"])
    write(folder.appendingPathComponent("b"), "text")
    list.wait(for: ["a", "b"])
    move(folder.appendingPathComponent("b"), folder.appendingPathComponent("c"))
    list.wait(for: ["a", "c"])
    Scene.check(delete(folder.appendingPathComponent("a")) == nil, "deleted")
    list.wait(for: ["c"])
    NSFileCoordinator.removeFilePresenter(list)
    Scene.finish()
  }
}
