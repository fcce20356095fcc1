import Foundation
import TestSupport
import Testing

@Suite("The editor of texts, on terminals", .blocking)
struct TerminalEditorTests {
  private let bench: Workbench

  init() throws { bench = try Workbench() }

  private func edit(_ name: String, _ options: String...) throws -> OpenEditor {
    let editor = try OpenEditor(bench, [bench.path(name)] + options)
    try editor.awaitTitle { $0.hasPrefix(name) }
    return editor
  }

  /// The texts of all versions of a file.
  private func keptTexts(_ name: String) throws -> [String] {
    let count = try bench.run("versions", bench.path(name)).output.split(separator: "\n").count
    return try (0..<count).map { try bench.run("show", bench.path(name), "\($0 + 1)").output }
  }

  @Test("It takes characters, arrows, Return and Backspace, saves, takes edits back, and leaves the terminal as it was")
  func keys() throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    #expect(!editor.terminal.isCooked)
    for keys in [
      "Grüße", "\u{1B}[D", "\u{7F}", "ss", "\r", "x", "\u{1B}[A", "-", "\u{1B}OB", "\u{1B}[D", "y", "\u{1B}[C", "z",
    ] {
      try editor.type(keys)
    }
    try editor.awaitScreen { $0 == ["a.txt – edited", "G-rüss", "xyez"] }
    try editor.type("\u{1A}")
    try editor.awaitScreen { $0 == ["a.txt – edited", "G-rüss", "xye"] }
    #expect(bench.text("a.txt") == "")
    try editor.type("\u{13}")
    try editor.awaitTitle { $0 == "a.txt" }
    #expect(bench.text("a.txt") == "G-rüss\nxye")
    try editor.type("!")
    #expect(try editor.quit() == 0)
    #expect(bench.text("a.txt") == "G-rüss\nxye!")
    #expect(editor.terminal.isCooked)
  }

  @Test("Text that's typed in one editor is in the other one after it was saved by itself, at its own cursor")
  func twoEditors() throws {
    try bench.makeFile("a.txt", "one\n")
    let (first, second) = (try edit("a.txt", "--autosave", "0.05"), try edit("a.txt", "--autosave", "0.05"))
    try first.type("zero ")
    try second.awaitScreen { $0 == ["a.txt", "zero one", ""] }
    try second.type("\u{1B}[B\u{1B}[Btwo")
    try first.awaitScreen { $0 == ["a.txt", "zero one", "two"] }
    try first.type("and ")
    try second.awaitScreen { $0 == ["a.txt", "zero and one", "two"] }
    #expect(try [first.quit(), second.quit()] == [0, 0])
    #expect(bench.text("a.txt") == "zero and one\ntwo")
  }

  @Test("A reader gets the unsaved text")
  func reading() throws {
    try bench.makeFile("a.txt", "")
    let editor = try edit("a.txt", "--autosave", "3600")
    try editor.type("unsaved")
    try editor.awaitScreen { $0 == ["a.txt – edited", "unsaved"] }
    #expect(bench.text("a.txt") == "")
    #expect(try bench.run("read", bench.path("a.txt"), "--", "cat", "{}").output == "unsaved")
    try editor.awaitTitle { $0 == "a.txt" }
    #expect(try editor.quit() == 0)
  }

  @Test("A move changes the titles of both, and they go on in the file where it is")
  func moving() throws {
    try bench.makeFile("a.txt", "text")
    let (first, second) = (try edit("a.txt", "--autosave", "0.05"), try edit("a.txt", "--autosave", "0.05"))
    #expect(try bench.run("move", bench.path("a.txt"), bench.path("b.txt")).status == 0)
    try first.awaitTitle { $0 == "b.txt" }
    try second.awaitTitle { $0 == "b.txt" }
    try first.type("new ")
    try second.awaitScreen { $0 == ["b.txt", "new text"] }
    #expect(try [first.quit(), second.quit()] == [0, 0])
    #expect(bench.text("a.txt") == nil)
    #expect(bench.text("b.txt") == "new text")
  }

  @Test(
    "A conflict is offered in both editors; in each of them the text on its screen can be chosen, and the other one",
    arguments: ["first", "second"], ["1", "2"])
  func conflict(editor: String, choice: String) throws {
    try bench.makeFile("a.txt", "old")
    let (first, second) = (try edit("a.txt", "--autosave", "3600"), try edit("a.txt", "--autosave", "3600"))
    try first.type("mine ")
    try first.awaitScreen { $0 == ["a.txt – edited", "mine old"] }
    // This writer doesn't ask for what is unsaved.
    let script = "printf theirs >\(bench.path("a.txt"))"
    #expect(try bench.run("write", "--for", "replacing", bench.path("a.txt"), "--", "sh", "-c", script).status == 0)
    try first.awaitScreen { $0[0].contains("CONFLICT: 1 mine 2 theirs") && $0[1] == "mine old" }
    try second.awaitScreen { $0[0].contains("CONFLICT: 1 mine 2 theirs") && $0[1] == "theirs" }
    try (editor == "first" ? first : second).type(choice)
    let text = (editor == "first") == (choice == "1") ? "mine old" : "theirs"
    try first.awaitScreen { $0 == ["a.txt", text] }
    try second.awaitScreen { $0 == ["a.txt", text] }
    #expect(bench.text("a.txt") == text)
    #expect(try keptTexts("a.txt").contains(text == "theirs" ? "mine old" : "theirs"))
    #expect(try [first.quit(), second.quit()] == [0, 0])
  }

  @Test("A text whose file was deleted can be saved again or given up")
  func deletion() throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    try editor.type("text")
    try editor.awaitScreen { $0 == ["a.txt – edited", "text"] }
    try FileManager.default.removeItem(atPath: bench.path("a.txt"))
    try editor.awaitTitle { $0.contains("DELETED") }
    try editor.type("\u{13}")
    try editor.awaitTitle { $0 == "a.txt" }
    #expect(bench.text("a.txt") == "text")
    try editor.type("!")
    try editor.awaitTitle { $0.hasSuffix("edited") }
    try FileManager.default.removeItem(atPath: bench.path("a.txt"))
    try editor.awaitTitle { $0.contains("DELETED") }
    try editor.type("\u{11}")
    try editor.awaitTitle { $0.contains("Control-Q again gives the text up.") }
    #expect(try editor.quit() == 0)
    #expect(bench.text("a.txt") == nil)
  }

  @Test("Text that an editor couldn't save at its end is offered by the next one", arguments: ["1", "2"])
  func recovery(choice: String) throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    try editor.type("typed")
    try editor.awaitScreen { $0 == ["a.txt – edited", "typed"] }
    // Now the signal can't save it, and writes the journal.
    try FileManager.default.removeItem(atPath: bench.path("a.txt"))
    try editor.awaitTitle { $0.contains("DELETED") }
    editor.tool.signal(SIGTERM)
    #expect(try editor.tool.end() == 128 + SIGTERM)
    try bench.makeFile("a.txt", "other")
    let next = try edit("a.txt", "--autosave", "3600")
    try next.awaitScreen { $0 == ["a.txt  RECOVERED: 1 restore 2 keep as version", "other"] }
    try next.type(choice)
    try next.awaitScreen { $0 == (choice == "1" ? ["a.txt – edited", "typed"] : ["a.txt", "other"]) }
    #expect(try next.quit() == 0)
    #expect(bench.text("a.txt") == (choice == "1" ? "typed" : "other"))
    #expect(try keptTexts("a.txt").contains(choice == "1" ? "other" : "typed"))
  }

  @Test("A window of another size is filled anew, around the cursor")
  func sizes() throws {
    try bench.makeFile("a.txt", (1...30).map { "line \($0)" }.joined(separator: "\n"))
    let editor = try edit("a.txt", "--autosave", "3600")
    for (rows, columns, lines) in [
      (3, 8, ["line 1", "line 2"]), (1, 1, ["line 1"]), (4, 20, ["line 1", "line 2", "line 3"]),
    ] {
      editor.terminal.resize(rows: UInt16(rows), columns: UInt16(columns))
      editor.tool.signal(SIGWINCH)
      try editor.awaitScreen { Array($0.dropFirst()) == lines }
    }
    for _ in 1...9 { try editor.type("\u{1B}[B") }
    try editor.awaitScreen { Array($0.dropFirst()) == ["line 8", "line 9", "line 10"] }
    for _ in 1...8 { try editor.type("\u{1B}[A") }
    try editor.type("\u{1B}[C-")
    try editor.awaitScreen { Array($0.dropFirst()) == ["line 1", "l-ine 2", "line 3"] }
    #expect(try editor.quit() == 0)
  }

  @Test("Wide characters take two cells, and combining ones none; those that don't fit aren't cut in half")
  func wideCharacters() throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    editor.terminal.resize(rows: 5, columns: 8)
    try editor.type("日本e\u{301}")
    try editor.awaitFrame { $0.hasSuffix("日本e\u{301}\u{1B}[2;6H") }
    try editor.type("語日")
    // The cursor is in the last cell; the first two cells are left of the window.
    try editor.awaitFrame { $0.hasSuffix("\r\n本e\u{301}語日\u{1B}[2;8H") }
    #expect(try editor.quit() == 0)
    #expect(bench.text("a.txt") == "日本e\u{301}語日")
  }

  @Test("Lines may end with a return and a newline, and stay so")
  func returns() throws {
    try bench.makeFile("a.txt", "one\r\ntwo\r\n")
    let editor = try edit("a.txt", "--autosave", "3600")
    for keys in ["\u{1B}[B", "\u{1B}[C\u{1B}[C\u{1B}[C", "\u{1B}[A", "!", "\u{1B}[B", "?"] { try editor.type(keys) }
    try editor.awaitScreen { $0 == ["a.txt – edited", "one!", "two?", ""] }
    #expect(try editor.quit() == 0)
    #expect(bench.text("a.txt") == "one!\r\ntwo?\r\n")
  }

  @Test(
    "A stopped editor leaves the terminal to the shell, and takes it again when it's continued",
    arguments: [SIGTSTP, SIGSTOP])
  func stopping(signal: Int32) throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    try editor.type("before ")
    try editor.awaitScreen { $0 == ["a.txt – edited", "before "] }
    if signal == SIGSTOP {
      editor.tool.stop()
      editor.terminal.cook()
    } else {
      // If it's an orphan the kernel doesn't stop it, and it goes on at once.
      editor.tool.signal(signal)
      try editor.tool.output.wait { $0.contains("\u{1B}[?1049l") ? () : nil }
    }
    editor.tool.signal(SIGCONT)
    try editor.tool.output.wait { $0.components(separatedBy: "\u{1B}[?1049h").count > 2 ? () : nil }
    try editor.awaitScreen { $0 == ["a.txt – edited", "before "] }
    #expect(!editor.terminal.isCooked)
    try editor.type("after")
    try editor.awaitScreen { $0 == ["a.txt – edited", "before after"] }
    #expect(try editor.quit() == 0)
    #expect(editor.terminal.isCooked)
  }

  @Test(
    "A signal saves the text, and the terminal is as it was; so it is after an error", arguments: [SIGTERM, SIGINT])
  func endings(signal: Int32) throws {
    let editor = try edit("a.txt", "--autosave", "3600")
    try editor.type("unsaved")
    try editor.awaitScreen { $0 == ["a.txt – edited", "unsaved"] }
    editor.tool.signal(signal)
    #expect(try editor.tool.end() == 128 + signal)
    #expect(editor.terminal.isCooked)
    #expect(bench.text("a.txt") == "unsaved")
    let failing = try OpenEditor(bench, [bench.path("")])
    #expect(try failing.tool.end() == 1)
    #expect(failing.tool.errors.text.contains(": "))
    #expect(failing.tool.output.text.hasSuffix("\u{1B}[?1049l"))
    #expect(failing.terminal.isCooked)
  }
}

/// An editor that runs on a terminal of its own.
private struct OpenEditor {
  let terminal: PseudoTerminal
  let tool: RunningTool

  init(_ bench: Workbench, _ arguments: [String]) throws {
    terminal = try PseudoTerminal(width: 300)
    tool = try bench.start(program: "TerminalEditor", arguments, on: terminal)
  }

  func type(_ keys: String) throws { try terminal.type(keys) }

  func quit() throws -> Int32 {
    try type("\u{11}")
    return try tool.end()
  }

  /// Waits until it shows a title that's wanted.
  func awaitTitle(_ isWanted: (String) -> Bool) throws { try awaitScreen { isWanted($0[0]) } }

  /// Waits until it shows lines that are wanted, of which the first one is the title.
  func awaitScreen(_ isWanted: ([String]) -> Bool) throws {
    try awaitFrame { frame in
      guard let end = frame.range(of: "\u{1B}[", options: .backwards) else { return false }
      let lines = frame[..<end.lowerBound].replacing("\u{1B}[0m", with: "").components(separatedBy: "\r\n")
      return isWanted(lines)
    }
  }

  /// Waits until it has sent a whole frame that's wanted: it ends with the place of the cursor.
  func awaitFrame(_ isWanted: (String) -> Bool) throws {
    try tool.output.wait { text -> Void? in
      let frame = text.components(separatedBy: "\u{1B}[H\u{1B}[J\u{1B}[7m").dropFirst().last
      guard let frame, frame.hasSuffix("H") else { return nil }
      return isWanted(frame) ? () : nil
    }
  }
}
