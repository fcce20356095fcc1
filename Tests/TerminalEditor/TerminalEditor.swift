import FileDocuments
import FileVersions
import Foundation
import Glibc

/// A text editor in the terminal, as an example of a program whose files others use too.
///
/// Control-S saves, Control-Z takes edits back, Control-Q ends. The text is saved by itself as well.
@main
struct TerminalEditor {
  static func main() async {
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      try Terminal.start()
      defer { Terminal.restore() }
      // Its own handlers are set: the text is saved first, and then they restore the terminal.
      try TerminationFlush.start(on: [.terminate, .hangUp, .interrupt], within: .seconds(5))
      try await Editor(arguments).run()
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
      exit(1)
    }
  }
}

/// The command line: a file, and after how many seconds without a key it's saved.
struct Arguments {
  let url: URL
  var autosave = AutosavePolicy.standard

  init(_ words: some Collection<String>) throws(Terminal.Failure) {
    let words = Array(words)
    let seconds = words.count == 3 && words[1] == "--autosave" ? Double(words[2]) : nil
    guard words.count == 1 || seconds.map({ $0 > 0 && $0 < 1e6 }) == true else {
      throw Terminal.Failure(description: "usage: TerminalEditor FILE [--autosave SECONDS]")
    }
    url = URL(filePath: words[0])
    if let seconds { autosave = AutosavePolicy(interval: .seconds(seconds * 8), idleTime: .seconds(seconds)) }
  }
}

/// An open document, and the terminal that shows it.
@MainActor
final class Editor {
  /// The choice that the person has to make.
  private enum Question {
    case conflict, recovery
  }

  private let document: FileDocument<String>
  private let versions: FileVersions
  private var page = EditedText()
  /// The document's revision that the page has.
  private var revision: UInt64?
  /// Why the last command of the person failed.
  private var failure: String?
  /// Closing has failed: the next attempt gives the text up.
  private var discards = false

  init(_ arguments: Arguments) {
    var options = DocumentOptions<String>()
    options.autosave = arguments.autosave
    options.undo = DocumentUndoPolicy()
    options.crashJournal = .standard
    // A key that can't be taken within this time is lost, and the person is told.
    options.deadline = .seconds(20)
    versions = options.versions
    document = FileDocument(arguments.url, as: .text, options: options)
  }

  /// Runs until the person has closed the document, or the terminal is gone.
  func run() async throws {
    try await document.open(creatingWith: "")
    let following = Task {
      for await _ in document.states { await show() }
    }
    defer { following.cancel() }
    for await keys in Terminal.keys() {
      for key in keys {
        if await take(key) { return }
        await show()
      }
    }
    try await document.close()
  }

  /// - Returns: Whether that was the last one.
  private func take(_ key: Key) async -> Bool {
    defer { if key != .quit { discards = false } }
    failure = nil
    do {
      switch (key, question) {
      case (.quit, _): return try await close()
      case (.save, _): try await save()
      case (.undo, _): try await document.undo()
      case (.insert("1"), .some(let question)): try await choose(question, isFirst: true)
      case (.insert("2"), .some(let question)): try await choose(question, isFirst: false)
      case _ where key.isEdit:
        page = try await document.edit { [page] contents in
          var page = page
          // Another program may have written since it was shown.
          page.adopt(contents)
          page.take(key)
          contents = page.text
          return page
        }
      default: page.take(key)
      }
    } catch {
      failure = (error as? DocumentError)?.message ?? "\(error)"
    }
    return false
  }

  private func close() async throws -> Bool {
    do {
      try await document.close(discardingChanges: discards)
      return true
    } catch {
      discards = true
      throw Terminal.Failure(description: "Control-Q again gives the text up. \(error.message)")
    }
  }

  private func save() async throws {
    if document.state.conditions.contains(.deleted) { return try await document.save(as: document.url) }
    try await document.save()
  }

  private var question: Question? {
    let conditions = document.state.conditions
    return conditions.contains(.inConflict) ? .conflict : conditions.contains(.recoverable) ? .recovery : nil
  }

  /// The text that isn't chosen stays as a version of the file.
  private func choose(_ question: Question, isFirst: Bool) async throws {
    switch question {
    case .conflict:
      // Documents save first: the text on this screen may be that of the file, or of a version.
      let mine = Data(page.text.utf8)
      try await versions.resolve(at: document.url, keepsOthers: true) { conflict in
        // The access to the file is there already.
        if try (Data(contentsOf: conflict.current.url) == mine) == isFirst { return .current }
        for other in conflict.others where try await (conflict.contents(of: other) == mine) == isFirst {
          return .version(other)
        }
        return .current
      }
    case .recovery:
      guard let recovery = await document.recoveries.first else { return }
      try await document.resolve(recovery, by: isFirst ? .restoring : .keepingAsVersion)
    }
  }

  private func show() async {
    var current = document.state.revision
    while revision != current {
      page.adopt(await document.contents ?? "")
      revision = current
      current = document.state.revision
    }
    let (state, url) = (document.state, document.url)
    var parts = [url.lastPathComponent + (state.hasUnsavedChanges ? " – edited" : "")]
    if state.conditions.contains(.deleted) { parts.append("DELETED: Control-S makes the file again") }
    switch question {
    case .conflict: parts.append("CONFLICT: 1 mine 2 theirs")
    case .recovery: parts.append("RECOVERED: 1 restore 2 keep as version")
    case nil: break
    }
    let errors = [state.savingError, state.readingError, state.journalError].compactMap { $0?.message }
    if let error = failure ?? errors.first { parts.append(error) }
    Terminal.show(title: parts.joined(separator: "  "), page)
  }
}
