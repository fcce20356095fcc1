import FileCoordination
import Foundation
import Testing

@Suite("The documents show code that compiles and runs")
struct DocumentationTests {
  @Test("Each block of Swift code is a snippet of a test, word for word", arguments: Package.documents)
  func blocks(document: String) throws {
    let snippets = try Package.snippets()
    for block in CodeBlock.all(in: try Package.text(of: document)) {
      guard let name = block.name else {
        Issue.record("\(document):\(block.line): no '<!-- snippet: NAME -->' above the code")
        continue
      }
      guard let snippet = snippets[name]?.first else {
        Issue.record("\(document):\(block.line): no test has '// snippet: \(name)'")
        continue
      }
      #expect(block.lines == snippet.lines, "\(document):\(block.line): '\(name)' is not what the test runs")
    }
  }

  @Test("Each snippet of a test is shown in a document, and has a name of its own")
  func snippets() throws {
    let shown = try Package.documents.flatMap { CodeBlock.all(in: try Package.text(of: $0)).compactMap(\.name) }
    for (name, snippets) in try Package.snippets() {
      #expect(snippets.count == 1, "'\(name)' names \(snippets.count) snippets")
      #expect(shown.contains(name), "'\(name)' is shown nowhere")
    }
    #expect(!shown.isEmpty)
  }

  @Test("Each link to a file of the package leads to one", arguments: ["README.md", "CHANGELOG.md"])
  func links(document: String) throws {
    for piece in try Package.text(of: document).components(separatedBy: "](").dropFirst() {
      let target = String(piece.prefix { $0 != ")" && $0 != "#" })
      if target.isEmpty || target.contains("://") { continue }
      let url = Package.root.appending(path: target)
      #expect(FileManager.default.fileExists(atPath: url.path), "\(document) links to '\(target)'")
    }
  }

  @Test("The article about errors names every error code", arguments: FileCoordinationError.Code.allCases)
  func errorCodes(code: FileCoordinationError.Code) throws {
    let article = try Package.text(of: "Sources/FileCoordination/FileCoordination.docc/ErrorsAndRemedies.md")
    #expect(article.contains("| `.\(code.name)`") || article.contains(", `.\(code.name)`"))
  }
}

@Suite("Finding drift between documents and tests")
struct DriftTests {
  @Test("Code is found with the name above it, and other fences are left alone")
  func parsing() {
    let blocks = CodeBlock.all(
      in: """
        <!-- snippet: one -->
        ```swift
        let a = 1

        let b = 2
        ```
        ```
        ```swift
        ```
        Text.
        ```swift
        nameless()
        ```
        """)
    #expect(blocks.map(\.name) == ["one", nil])
    #expect(blocks.map(\.lines) == [["let a = 1", "", "let b = 2"], ["nameless()"]])
    #expect(blocks.map(\.line) == [2, 11])
  }

  @Test("A snippet loses the indentation that its lines share")
  func indentation() {
    let snippets = Snippet.all(in: "f {\n  // snippet: one\n  a {\n    b\n\n  }\n  // end\n}\n")
    #expect(snippets.map(\.name) == ["one"])
    #expect(snippets.map(\.lines) == [["a {", "  b", "", "}"]])
  }
}
