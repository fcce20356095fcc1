import FileCoordination
import Foundation
import FoundationCompatibility
import Scene

// An app and its helper, two processes that share a file: one waits for the other's access (C-026), unless they have
// one purpose (C-116); presenters of one save for accesses of the other, and are notified of them; and the end of one
// process blocks no access (C-187).
//
// The program starts itself again as the helper, which carries out commands line by line.

/// A document with changes that aren't in the file yet, which saves them for a reader.
final class Draft: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let lock = NSLock()
  private var unsaved: String?
  private let didChange: @Sendable () -> Void

  init(_ url: URL, didChange: @escaping @Sendable () -> Void) {
    presentedItemURL = url
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
    self.didChange = didChange
  }

  func edit(_ text: String) { lock.withLock { unsaved = text } }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    let text = lock.withLock { unsaved }
    guard let text, let url = presentedItemURL else { return completionHandler(nil) }
    let problem = write(text, to: url, by: NSFileCoordinator(filePresenter: self))
    lock.withLock { unsaved = nil }
    completionHandler(problem)
  }

  func presentedItemDidChange() { didChange() }
}

/// A coordinator that soon gives up.
func impatient() -> NSFileCoordinator {
  let coordinator = NSFileCoordinator()
  coordinator.deadlines = AccessDeadlines(waitingForAccesses: .milliseconds(50))
  return coordinator
}

func read(_ url: URL, by coordinator: NSFileCoordinator = NSFileCoordinator()) throws -> String {
  var outcome = Result<String, any Error>.success("")
  var problem: NSError?
  coordinator.coordinate(readingItemAt: url, error: &problem) { url in
    outcome = Result { try String(contentsOf: url, encoding: .utf8) }
  }
  if let problem { throw problem }
  return try outcome.get()
}

func write(_ text: String, to url: URL, by coordinator: NSFileCoordinator = NSFileCoordinator()) -> NSError? {
  var (problem, writeProblem): (NSError?, NSError?)
  coordinator.coordinate(writingItemAt: url, error: &problem) { url in
    do { try Data(text.utf8).write(to: url) } catch { writeProblem = error as NSError }
  }
  return problem ?? writeProblem
}

// MARK: - The helper

enum Helper {
  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  /// Carries out commands until the app closes the input.
  static func main(_ url: URL) {
    let draft = Draft(url) { say("changed") }
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch words[0] {
      case "edit":
        draft.edit(words[1])
        NSFileCoordinator.addFilePresenter(draft)
        say("edited")
      case "close":
        NSFileCoordinator.removeFilePresenter(draft)
        say("closed")
      case "hold": hold(url, purpose: words.count > 1 ? words[1] : nil)
      case "read", "try":
        let coordinator = line == "try" ? impatient() : NSFileCoordinator()
        do { try say(read(url, by: coordinator)) } catch { say("waited") }
      default: say("what is \(line)?")
      }
    }
  }

  /// Writes in two steps, the second one at a command.
  private static func hold(_ url: URL, purpose: String?) {
    let coordinator = NSFileCoordinator()
    if let purpose { coordinator.purposeIdentifier = purpose }
    coordinator.coordinate(writingItemAt: url, error: nil) { url in
      try? Data("half".utf8).write(to: url)
      say("holding")
      guard readLine() != nil else { return }
      try? Data("whole".utf8).write(to: url)
    }
    say("finished")
  }
}

// MARK: - The app

/// The other process, as the app sees it.
final class HelperProcess {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private var received = Data()

  init(_ url: URL) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["helper", url.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  var identifier: Int32 { process.processIdentifier }

  func tell(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  /// The next line of the helper.
  func line() -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        return line
      }
      let more = output.fileHandleForReading.availableData
      Scene.check(!more.isEmpty, "the helper ended")
      received.append(more)
    }
  }

  func ask(_ line: String) -> String {
    tell(line)
    return self.line()
  }

  func send(_ signal: Int32) { kill(identifier, signal) }

  /// Stops it; on return none of its threads runs any more.
  func stop() {
    send(SIGSTOP)
    var status: Int32 = 0
    while waitpid(identifier, &status, WUNTRACED) < 0 && errno == EINTR {}
  }

  /// Closes its input, if it lives, and waits for its end.
  func waitUntilExit() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

struct App {
  let url: URL
  let helper: HelperProcess

  func messages() throws {
    let changed = DispatchSemaphore(value: 0)
    let draft = Draft(url) { changed.signal() }
    NSFileCoordinator.addFilePresenter(draft)
    defer { NSFileCoordinator.removeFilePresenter(draft) }
    Scene.check(helper.ask("edit of the helper") == "edited", "edited")
    Scene.check(
      NSFileCoordinator.filePresenters.map(ObjectIdentifier.init) == [ObjectIdentifier(draft)], "only its own")
    Scene.check(try read(url) == "of the helper", "the helper saved")
    Scene.wait(changed, "news of the helper's save")
    Scene.check(write("by the app", to: url) == nil && helper.line() == "changed", "the helper heard")
    Scene.wait(changed, "news of a write that isn't the presenter's own")
    draft.edit("of the app")
    // The app's draft isn't notified of its own save, and the helper's draft is.
    let answers = [helper.ask("read"), helper.line()]
    Scene.check(answers.sorted() == ["changed", "of the app"], "\(answers)")
    Scene.check(helper.ask("close") == "closed", "closed")
  }

  func exclusion() throws {
    Scene.check(helper.ask("hold") == "holding", "held")
    refuse("the helper's write")
    let text = reader()
    helper.tell("finish")
    Scene.check(helper.line() == "finished" && text() == "whole", "read after the write")

    NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
      Scene.check(helper.ask("try") == "waited", "the app's write is in the helper's way")
    }
    Scene.check(helper.ask("read") == "whole", "free again")
  }

  func purposes() {
    let purpose = "org.example.sync"
    Scene.check(helper.ask("hold \(purpose)") == "holding", "held for a purpose")
    refuse("a write for another purpose")
    let coordinator = NSFileCoordinator()
    coordinator.purposeIdentifier = purpose
    Scene.check(write("beside", to: url, by: coordinator) == nil, "one purpose")
    Scene.check(helper.ask("finish") == "finished", "finished")
  }

  /// Stops the helper while it presents, and ends it in the middle of its write.
  func ends() throws {
    Scene.check(helper.ask("edit never saved") == "edited", "edited")
    let patient = NSFileCoordinator()
    patient.deadlines = AccessDeadlines(stoppedPresenters: .milliseconds(20))
    helper.stop()
    let text = Result { try read(url, by: patient) }
    helper.send(SIGCONT)
    Scene.check(try text.get() == "whole", "read beside a stopped presenter")
    Scene.check(helper.ask("close") == "closed", "closed")

    Scene.check(helper.ask("hold") == "holding", "held")
    let half = reader()
    helper.send(SIGKILL)
    Scene.check(half() == "half", "read what the dead has left")
  }

  /// The helper holds the file, so an access that doesn't wait gets an error that names the helper.
  private func refuse(_ what: String) {
    do {
      let text = try read(url, by: impatient())
      Scene.check(false, "read '\(text)' during \(what)")
    } catch {
      let problem = error as NSError
      Scene.check(problem.domain == FileCoordinationError.nativeErrorDomain, "\(problem)")
      Scene.check(problem.localizedDescription.contains("pid \(helper.identifier) "), problem.localizedDescription)
    }
  }

  /// Reads on a thread of its own; the closure waits for the text.
  private func reader() -> () -> String {
    let (done, url) = (DispatchSemaphore(value: 0), url)
    nonisolated(unsafe) var text = ""
    Thread.detachNewThread {
      do { text = try read(url) } catch { text = "\(error)" }
      done.signal()
    }
    return {
      Scene.wait(done, "a read")
      return text
    }
  }
}

@main
enum Program {
  static func main() throws {
    if CommandLine.arguments.count == 3 { return Helper.main(URL(fileURLWithPath: CommandLine.arguments[2])) }
    // Without a configured meeting place, these two processes meet in the app's folder.
    let domain = ProcessInfo.processInfo.environment["FILE_COORDINATION_DOMAIN"]
    if domain?.hasPrefix("socket:") != true {
      setenv("FILE_COORDINATION_DOMAIN", "socket:\(Scene.folder.appendingPathComponent("s").path)", 1)
    }
    let url = Scene.file("shared", "text")
    let app = App(url: url, helper: try HelperProcess(url))
    try app.messages()
    try app.exclusion()
    app.purposes()
    try app.ends()
    app.helper.waitUntilExit()
    Scene.finish()
  }
}
