import Foundation
import FoundationCompatibility
import Scene

// A folder that's presented through a symbolic link, such as `~/Documents/Notes` that leads to another disk.

final class Notes: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let didChange: @Sendable (URL) -> Void

  init(_ url: URL, didChange: @escaping @Sendable (URL) -> Void) {
    presentedItemURL = url
    self.didChange = didChange
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  func presentedSubitemDidChange(at url: URL) { didChange(url) }
}

@main
struct Program {
  static func main() {
    let folder = Scene.directory("disk")
    let link = Scene.folder.appendingPathComponent("Notes")
    do {
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder)
    } catch { Scene.check(false, "\(error)") }
    let heard = DispatchSemaphore(value: 0)
    let notes = Notes(link) { url in
      Scene.check(url.path.hasPrefix(link.path + "/"), "by the path that's presented, not \(url.path)")
      heard.signal()
    }
    NSFileCoordinator.addFilePresenter(notes)
    // By another path, by the same one, and by a program that doesn't coordinate.
    for place in [folder, link] {
      NSFileCoordinator().coordinate(writingItemAt: place.appendingPathComponent("note"), error: nil) { url in
        try? Data("text".utf8).write(to: url)
      }
      Scene.wait(heard, "the write to \(place.lastPathComponent)")
    }
    try? Data("text".utf8).write(to: folder.appendingPathComponent("stranger"))
    Scene.wait(heard, "the stranger's")
    NSFileCoordinator.removeFilePresenter(notes)
    Scene.finish()
  }
}
