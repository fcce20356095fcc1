import Foundation
import TestSupport
import Testing

@Suite("The tour of the command-line tool", .blocking)
struct TourTests {
  private let scratch: Scratch
  private let result: Tool.Result

  init() throws {
    scratch = try Scratch()
    result = try Tool.run(["tour"], environment: ["TMPDIR": scratch.url.path, "TERM": "xterm"])
  }

  @Test("All that it claims is so, and it ends with 0")
  func success() {
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("all as claimed"))
    #expect(!result.output.contains("✗"))
    #expect(result.errors.isEmpty)
  }

  @Test(
    "It shows every scene",
    arguments: [
      "1. Readers share, a writer waits",
      "2. An editor saves before another program reads",
      "3. A domain lists holders and waiting accesses",
      "4. A file moves under a waiting reader",
      "5. A deletion asks the editor first",
      "6. A directory is deleted when the readers inside are done",
      "7. Two presenters that wait for each other go on",
      "8. A real cycle is refused, with its reason",
    ])
  func scene(title: String) throws {
    let body = try #require(result.output.components(separatedBy: "\n\(title)\n").dropFirst().first)
    let scene = body.components(separatedBy: "\n\n").first ?? ""
    #expect(scene.contains("✓"), "nothing was checked in this scene")
  }

  @Test("It quotes the state tree and the explanation of a deadlock as the library prints them")
  func quotations() {
    #expect(result.output.contains("held for reading by 'printer'"))
    #expect(result.output.contains("'sync' (pid "))
    #expect(result.output.contains("deadlock: couldn't write"))
    #expect(result.output.contains("End one of them, or claim all items in one request."))
  }

  @Test("It is told in the same words every time, but for what it quotes")
  func repeatability() throws {
    let again = try Tool.run(["tour"], environment: ["TMPDIR": scratch.url.path])
    #expect(narration(of: again.output) == narration(of: result.output))
  }

  private func narration(of output: String) -> [String] {
    output.split(separator: "\n").map(String.init).filter { line in
      !line.hasPrefix("    | ") && !line.contains("filecoord-tour-") && !line.hasSuffix(" ms.")
    }
  }

  @Test("There is no colour where nobody looks")
  func noColorInPipes() { #expect(!result.output.contains("\u{1B}")) }

  @Test("Its directory is gone afterwards")
  func cleaningUp() throws { #expect(try scratch.contents.isEmpty) }

  @Test("Without a place for its files it says so, and ends with 1")
  func noPlace() throws {
    let result = try Tool.run(["tour"], environment: ["TMPDIR": scratch.url.path + "/missing"])
    #expect(result.status == 1)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("Set TMPDIR."))
  }
}
