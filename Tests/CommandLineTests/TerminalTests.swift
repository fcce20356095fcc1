import Foundation
import TestSupport
import Testing

@Suite("The command-line tool on a terminal", .blocking)
struct TerminalTests {
  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.makeFile("a")
  }

  @Test("It shows who is in the way on one line, which is gone when access is granted")
  func progress() throws {
    let holder = try bench.hold("a", "--label", "backup")
    let writer = try bench.start(
      "write", bench.path("a"), "--", "sh", "-c", "echo done >&2", on: PseudoTerminal(width: 300))
    try writer.errors.wait { text in text.contains("held for writing by 'backup' (pid \(holder.pid) ") ? () : nil }
    holder.closeInput()
    #expect(try writer.end() == 0)
    let pieces = writer.errors.text.components(separatedBy: "\r")
    // Rewritten, blanked, back at the start; and then the output of the command, whose line end is "\r\n".
    #expect(pieces.first == "")
    let blank = try #require(pieces.dropLast().last)
    #expect(blank.allSatisfy { $0 == " " } && blank.count > 40)
    #expect(pieces.last == "done\r\n")
    #expect(pieces.dropLast().allSatisfy { !$0.contains(where: \.isNewline) })
  }

  @Test("The line is cut to the width of the terminal")
  func width() throws {
    _ = try bench.hold("a")
    let writer = try bench.start(
      "write", "--wait-report", "0.01", bench.path("a"), "--", "true", on: PseudoTerminal(width: 40))
    try writer.errors.wait { text in text.split(separator: "\r").count > 3 ? () : nil }
    writer.kill()
    for piece in writer.errors.text.split(separator: "\r") { #expect(piece.count <= 39) }
  }

  @Test("The line is gone when the wait fails as well")
  func failure() throws {
    _ = try bench.hold("a")
    let writer = try bench.start(
      "write", "--wait-report", "0.01", "--timeout", "2", bench.path("a"), "--", "true",
      on: PseudoTerminal(width: 300))
    #expect(try writer.end() == 75)
    #expect(writer.errors.text.contains("\rfilecoord: timedOut: "))
  }
}
