import Foundation
import FoundationCompatibility
import Scene

// A folder's presenter in a program that also writes without coordination, as do editors and scripts: it's notified of
// that without a request for it, once for each write. A class that doesn't need the notifications declines them.

class Watcher: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let condition = NSCondition()
  private var lines: [String] = []
  private var early: Set<String> = []

  init(_ url: URL) {
    presentedItemURL = url
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  var observesUncoordinatedChanges: Bool { NSFileCoordinator.observesUncoordinatedChanges }

  func presentedSubitemDidAppear(at url: URL) { note("+\(url.lastPathComponent)") }
  func presentedSubitemDidChange(at url: URL) {
    if !early.contains(url.lastPathComponent) { note(url.lastPathComponent) }
  }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) {
    guard oldURL.lastPathComponent.contains(Self.temporary) else { return }
    // An atomic write that was seen before its end: perhaps before its text too, which is a change of the new file then.
    early.insert(newURL.lastPathComponent)
    note("+\(newURL.lastPathComponent)")
  }

  /// In the names of the files that Foundation writes to before it renames them.
  private static let temporary = ".dat.nosync"

  private func note(_ line: String) {
    if line.contains(Self.temporary) { return }
    condition.lock()
    lines.append(line)
    condition.broadcast()
    condition.unlock()
  }

  func wait(for wanted: [String]) {
    let end = Date(timeIntervalSinceNow: 60)
    condition.lock()
    while lines.count < wanted.count, condition.wait(until: end) {}
    Scene.check(lines == wanted, "\(wanted), not \(lines)")
    condition.unlock()
  }
}

final class DeafWatcher: Watcher, @unchecked Sendable {
  override var observesUncoordinatedChanges: Bool { false }
}

@main
struct Program {
  static func main() {
    let folder = Scene.directory("folder")
    let (watcher, deaf) = (Watcher(folder), DeafWatcher(folder))
    for presenter in [watcher, deaf] { NSFileCoordinator.addFilePresenter(presenter) }
    do {
      try Data("text".utf8).write(to: folder.appendingPathComponent("new"))
      watcher.wait(for: ["+new"])
      let handle = try FileHandle(forWritingTo: folder.appendingPathComponent("new"))
      for _ in 1...10 { handle.write(Data("more".utf8)) }
      try handle.close()
      watcher.wait(for: ["+new", "new"])
      try Data("text".utf8).write(to: folder.appendingPathComponent("atomic"), options: .atomic)
      watcher.wait(for: ["+new", "new", "+atomic"])
      try FileManager.default.removeItem(at: folder.appendingPathComponent("new"))
      watcher.wait(for: ["+new", "new", "+atomic", "new"])
    } catch { Scene.check(false, "\(error)") }
    deaf.wait(for: [])
    for presenter in [watcher, deaf] { NSFileCoordinator.removeFilePresenter(presenter) }
    Scene.finish()
  }
}
