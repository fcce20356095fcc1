import Foundation
import FoundationCompatibility
import Scene

// A presenter of the main actor, whose queue is the main one, in a program whose main thread also coordinates.

@MainActor
final class Editor: NSObject, NSFilePresenter {
  nonisolated let presentedItemURL: URL?
  nonisolated var presentedItemOperationQueue: OperationQueue { .main }
  private(set) var text = "edited"
  private(set) var changeCount = 0

  init(_ url: URL) {
    presentedItemURL = url
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  func close() { NSFileCoordinator.removeFilePresenter(self) }

  private func save() -> NSError? {
    var error: NSError?
    guard let url = presentedItemURL else { return nil }
    NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, options: .forReplacing, error: &error) {
      url in
      try? text.write(to: url, atomically: true, encoding: .utf8)
    }
    return error
  }

  nonisolated func savePresentedItemChanges(completionHandler: @escaping ((any Error)?) -> Void) {
    let error = MainActor.assumeIsolated { save() }
    completionHandler(error)
  }

  nonisolated func presentedItemDidChange() { MainActor.assumeIsolated { changeCount += 1 } }
}

@main
struct Program {
  static func main() {
    let url = Scene.file("main")
    let editor = MainActor.assumeIsolated { Editor(url) }
    var read: String?
    NSFileCoordinator().coordinate(readingItemAt: url, error: nil) {
      read = try? String(contentsOf: $0, encoding: .utf8)
    }
    Scene.check(read == "edited", "the editor saved while the main thread waited")

    let written = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      NSFileCoordinator().coordinate(writingItemAt: url, options: .forMerging, error: nil) { _ in }
      written.signal()
    }
    let end = Date(timeIntervalSinceNow: 60)
    while MainActor.assumeIsolated({ editor.changeCount }) == 0, Date() < end {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    Scene.check(MainActor.assumeIsolated { editor.changeCount } > 0, "the change")
    Scene.wait(written, "the writer")
    MainActor.assumeIsolated { editor.close() }
    Scene.finish()
  }
}
