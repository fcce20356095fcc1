import Foundation
import FoundationCompatibility
import Scene

// An app with an open document, and another program that reads, writes, moves and deletes the document's file, is killed in the middle
// of a write, and changes a member of a package without coordination.
//
// The program starts itself again as the other one, which carries out commands line by line.

// MARK: - The app's documents

/// Lets the app wait until something is so.
@MainActor
final class Watcher {
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func occurred() {
    let resumed = waiting
    waiting = []
    for continuation in resumed { continuation.resume() }
  }

  func until(_ condition: () -> Bool) async {
    while !condition() { await withCheckedContinuation { waiting.append($0) } }
  }
}

class WatchedDocument: UIDocument {
  let watcher = Watcher()
  private var observer: (any NSObjectProtocol)?

  override init(fileURL url: URL) {
    super.init(fileURL: url)
    observer = NotificationCenter.default.addObserver(
      forName: UIDocument.stateChangedNotification, object: self, queue: .main
    ) { [weak self] _ in
      MainActor.assumeIsolated { self?.watcher.occurred() }
    }
  }

  override func presentedItemDidMove(to newURL: URL) {
    super.presentedItemDidMove(to: newURL)
    MainActor.assumeIsolated { watcher.occurred() }
  }
}

final class NoteDocument: WatchedDocument {
  private(set) var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
    watcher.occurred()
  }

  func type(_ more: String) {
    text += more
    updateChangeCount(.done)
  }
}

final class AlbumDocument: WatchedDocument {
  private(set) var title = ""
  private var root = FileWrapper(directoryWithFileWrappers: [:])

  override func contents(forType typeName: String) throws -> Any {
    if let old = root.fileWrappers?["Title.txt"] { root.removeFileWrapper(old) }
    root.addRegularFile(withContents: Data(title.utf8), preferredFilename: "Title.txt")
    return root
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let wrapper = contents as? FileWrapper, let data = wrapper.fileWrappers?["Title.txt"]?.regularFileContents
    else { throw CocoaError(.fileReadCorruptFile) }
    root = wrapper
    title = String(decoding: data, as: UTF8.self)
    watcher.occurred()
  }

  // A save through the class, as people override it.
  override func save(to url: URL, for saveOperation: UIDocument.SaveOperation) async -> Bool {
    let isSaved = await super.save(to: url, for: saveOperation)
    if isSaved { saveCount += 1 }
    return isSaved
  }

  private(set) var saveCount = 0

  func rename(_ title: String) {
    self.title = title
    updateChangeCount(.done)
  }
}

// MARK: - The other program

enum Other {
  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// Carries out commands until the app closes the input.
  static func main(_ folder: URL) {
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      let url = folder.appendingPathComponent(words[1])
      let more = words.count > 2 ? words[2] : ""
      var problem: NSError?
      var answer = "nothing"
      let coordinator = NSFileCoordinator()
      switch words[0] {
      case "read":
        coordinator.coordinate(readingItemAt: url, error: &problem) { url in
          // A member of a package is read with the package.
          let file = more.isEmpty ? url : url.appendingPathComponent(more)
          answer = (try? String(contentsOf: file, encoding: .utf8)) ?? "unreadable"
        }
      case "write":
        coordinator.coordinate(writingItemAt: url, error: &problem) { answer = write(more, to: $0) }
      case "hold":
        coordinator.coordinate(writingItemAt: url, error: &problem) { url in
          answer = write(more, to: url)
          say("holding")
          _ = readLine()
        }
      case "move":
        let target = folder.appendingPathComponent(more)
        coordinator.coordinate(
          writingItemAt: url, options: .forMoving, writingItemAt: target, options: .forReplacing, error: &problem
        ) { from, to in
          do {
            try FileManager.default.moveItem(at: from, to: to)
            coordinator.item(at: from, didMoveTo: to)
            answer = "moved"
          } catch { answer = "\(error)" }
        }
      case "delete":
        coordinator.coordinate(writingItemAt: url, options: .forDeleting, error: &problem) { url in
          do {
            try FileManager.default.removeItem(at: url)
            answer = "deleted"
          } catch { answer = "\(error)" }
        }
      case "scribble":
        // As an editor does that doesn't coordinate: a new file in the place of the old one.
        do {
          try Data(more.utf8).write(to: url, options: .atomic)
          answer = "scribbled"
        } catch { answer = "\(error)" }
      default: answer = "what is \(line)?"
      }
      say(problem.map { "\($0)" } ?? answer)
    }
  }

  private static func write(_ text: String, to url: URL) -> String {
    do {
      try Data(text.utf8).write(to: url)
      return "written"
    } catch { return "\(error)" }
  }
}

/// The other process, as the app sees it; the main actor goes on while it works.
final class OtherProcess: @unchecked Sendable {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private let queue = DispatchQueue(label: "the other process")
  private var received = Data()

  init(_ folder: URL) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["other", folder.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func ask(_ line: String) async -> String {
    await withCheckedContinuation { end in
      queue.async { [self] in
        input.fileHandleForWriting.write(Data((line + "\n").utf8))
        end.resume(returning: self.line())
      }
    }
  }

  private func line() -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        return line
      }
      let more = output.fileHandleForReading.availableData
      Scene.check(!more.isEmpty, "the other process ended")
      received.append(more)
    }
  }

  func end() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

// MARK: - The app

@MainActor
struct App {
  func note(_ url: URL, _ other: OtherProcess) async {
    let document = NoteDocument(fileURL: url)
    let isOpen = await document.open()
    Scene.check(isOpen, "opened")
    document.type(" two")
    let unsaved = await other.ask("read note.txt")
    Scene.check(unsaved == "one two" && !document.hasUnsavedChanges, "the other one read '\(unsaved)'")

    let written = await other.ask("write note.txt three")
    Scene.check(written == "written", written)
    await document.watcher.until { document.text == "three" && document.documentState == .normal }

    let moved = await other.ask("move note.txt letter.txt")
    Scene.check(moved == "moved", moved)
    await document.watcher.until { document.fileURL.lastPathComponent == "letter.txt" }
    document.type(" four")
    let followed = await other.ask("read letter.txt")
    Scene.check(followed == "three four", "the other one read '\(followed)'")

    let held = await other.ask("hold letter.txt half")
    Scene.check(held == "holding", held)
    await document.watcher.until { document.documentState.contains(.editingDisabled) }
    other.end()
    await document.watcher.until { document.text == "half" && document.documentState == .normal }
    document.type(" and half")
    let isClosed = await document.close()
    Scene.check(isClosed, "closed")
  }

  func deletion(_ url: URL, _ other: OtherProcess) async {
    let document = NoteDocument(fileURL: url)
    let isOpen = await document.open()
    Scene.check(isOpen && document.text == "half and half", "opened '\(document.text)'")
    document.type("!")
    let deleted = await other.ask("delete letter.txt")
    Scene.check(deleted == "deleted", deleted)
    await document.watcher.until { document.documentState.contains(.closed) }
    let isSaved = await document.save(to: document.fileURL, for: .forOverwriting)
    Scene.check(!isSaved && !FileManager.default.fileExists(atPath: url.path), "a deleted file is back")
    let isMade = await document.save(to: document.fileURL, for: .forCreating)
    Scene.check(isMade && document.text == "half and half!", "the contents are lost")
    let again = await other.ask("read letter.txt")
    Scene.check(again == "half and half!", again)
    let isClosed = await document.close()
    Scene.check(isClosed, "closed")
  }

  func album(_ url: URL, _ other: OtherProcess) async {
    let document = AlbumDocument(fileURL: url)
    document.rename("First")
    let isMade = await document.save(to: url, for: .forCreating)
    Scene.check(isMade && document.saveCount == 1, "made")
    for number in 1...3 {
      document.rename("Saved \(number)")
      // The other one reads, so the document saves, through its class.
      let title = await other.ask("read Summer.album Title.txt")
      Scene.check(title == "Saved \(number)", "the other one read '\(title)'")
      await document.watcher.until { document.documentState == .normal }
      let scribbled = await other.ask("scribble Summer.album/Title.txt Scribbled \(number)")
      Scene.check(scribbled == "scribbled", scribbled)
      await document.watcher.until { document.title == "Scribbled \(number)" }
    }
    let isClosed = await document.close()
    Scene.check(isClosed && document.saveCount == 4, "closed after \(document.saveCount) saves")
  }
}

@main @MainActor
struct Program {
  static func main() async throws {
    if CommandLine.arguments.count == 3 { return Other.main(URL(fileURLWithPath: CommandLine.arguments[2])) }
    // Without a configured meeting place, the processes meet in the app's folder.
    let domain = ProcessInfo.processInfo.environment["FILE_COORDINATION_DOMAIN"]
    if domain?.hasPrefix("socket:") != true {
      setenv("FILE_COORDINATION_DOMAIN", "socket:\(Scene.folder.appendingPathComponent("s").path)", 1)
    }
    let app = App()
    await app.note(Scene.file("note.txt", "one"), try OtherProcess(Scene.folder))
    let other = try OtherProcess(Scene.folder)
    await app.deletion(Scene.folder.appendingPathComponent("letter.txt"), other)
    await app.album(Scene.folder.appendingPathComponent("Summer.album"), other)
    other.end()
    Scene.finish()
  }
}
