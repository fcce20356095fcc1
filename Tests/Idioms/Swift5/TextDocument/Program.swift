// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A document like the document classes of UI frameworks: presents its file, autosaves, is closed before deletion.

public class TextDocument: NSObject, NSFilePresenter {
  public private(set) var fileURL: URL?
  public var text = "" { didSet { isDirty = true } }
  private(set) var isDirty = false
  private(set) var isClosed = false
  private var isWriting = false
  let reloaded = DispatchSemaphore(value: 0)

  public var presentedItemURL: URL? { return fileURL }
  public let presentedItemOperationQueue: OperationQueue = OperationQueue()

  public init(fileURL: URL) {
    self.fileURL = fileURL
    super.init()
  }

  public func open() {
    let coordinator = NSFileCoordinator(filePresenter: self)
    coordinator.coordinate(readingItemAt: fileURL!, options: [.withoutChanges], error: nil) { url in
      self.text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
      self.isDirty = false
      NSFileCoordinator.addFilePresenter(self)
    }
  }

  public func close() {
    isClosed = true
    NSFileCoordinator.removeFilePresenter(self)
  }

  public func relinquishPresentedItem(toReader reader: @escaping ((() -> Void)?) -> Void) {
    isWriting = false
    reader({ self.isWriting = true })
  }

  public func relinquishPresentedItem(toWriter writer: @escaping ((() -> Void)?) -> Void) {
    writer(nil)
  }

  public func savePresentedItemChanges(completionHandler: @escaping (Error?) -> Void) {
    guard isDirty, let url = fileURL else { return completionHandler(nil) }
    var error: NSError?
    NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: url, options: .forMerging, error: &error) { url in
      try? text.write(to: url, atomically: true, encoding: .utf8)
      isDirty = false
    }
    completionHandler(error)
  }

  public func accommodatePresentedItemDeletion(completionHandler: @escaping (Error?) -> Void) {
    close()
    completionHandler(nil)
  }

  public func presentedItemDidMove(to newURL: URL) { fileURL = newURL }

  public func presentedItemDidChange() {
    NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: fileURL!, options: [], error: nil) { url in
      text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
      isDirty = false
    }
    reloaded.signal()
  }

  public func presentedItemDidGain(_ version: NSFileVersion) {}
}

func runTextDocument() {
  let url = Scene.file("document.txt", "first")
  let document = TextDocument(fileURL: url)
  document.open()
  Scene.check(document.text == "first", "opened")
  document.text = "second"
  var read = ""
  NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { read = try! String(contentsOf: $0, encoding: .utf8) }
  Scene.check(read == "second", "the document saved before it was read")
  NSFileCoordinator().coordinate(writingItemAt: url, options: [], error: nil) { url in
    try! Data("third".utf8).write(to: url)
  }
  Scene.wait(document.reloaded, "the change")
  Scene.check(document.text == "third", "reloaded")
  NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { url in
    try! FileManager.default.removeItem(at: url)
  }
  Scene.check(document.isClosed, "closed before it was deleted")
}

@main
struct Program {
  static func main() {
    runTextDocument()
    Scene.finish()
  }
}
