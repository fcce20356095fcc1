import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import Glibc

/// A process with a document that's never saved, unless the process is asked to end.
enum EndingWorker {
  /// Called as `end SOCKET FILE STORE JOURNALS [WAY]`.
  static func main(_ arguments: [String]) throws {
    guard arguments.count >= 4 else { throw CocoaError(.coderInvalidValue) }
    let domain = CoordinationDomain.socket(arguments[0])
    var options = DocumentOptions<String>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(URL(filePath: arguments[2]))))
    options.crashJournal = .directory(URL(filePath: arguments[3]))
    options.autosave = .never
    // For the journal to be written by the signal alone.
    options.crashJournal?.delay = .seconds(3_600)
    let way = arguments.count > 4 ? arguments[4] : ""
    if way == "handler" { signal(SIGTERM) { _ in Worker.report("handled") } }
    if way == "ignored" { signal(SIGTERM, SIG_IGN) }
    let deadline = Duration.seconds(way == "impatient" ? 1 : 60)
    try TerminationFlush.start(on: [.terminate, .interrupt, .hangUp], within: deadline)
    let note = FileDocument(URL(filePath: arguments[1]), as: .text, options: options, in: nil)
    let ready = DispatchSemaphore(value: 0)
    Task {
      do {
        try await note.open()
        try await note.edit { $0 += " and typed" }
        if way == "stopped" { TerminationFlush.stop() }
        Worker.report("typed")
      } catch { Worker.report("failed: \(error)") }
      ready.signal()
    }
    ready.wait()
    while let line = readLine() {
      switch line {
      case "stop": TerminationFlush.stop()
      case "type":
        Task {
          try? await note.edit { $0 += " and typed" }
          ready.signal()
        }
        ready.wait()
      default: break
      }
      Worker.report(line)
    }
    withExtendedLifetime(note) {}
  }
}
