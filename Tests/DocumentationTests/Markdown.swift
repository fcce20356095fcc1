import Foundation

/// A fenced block of Swift code in a Markdown file.
struct CodeBlock {
  /// The name in the comment `<!-- snippet: NAME -->` right above it; `nil` without one.
  let name: String?
  let lines: [String]
  /// The line of the opening fence, from 1.
  let line: Int
}

extension CodeBlock {
  /// The blocks of Swift code in a text, in order.
  static func all(in markdown: String) -> [CodeBlock] {
    var blocks: [CodeBlock] = []
    var open: (name: String?, line: Int, lines: [String])?
    var isOtherFence = false
    var name: String?
    for (index, line) in markdown.components(separatedBy: "\n").enumerated() {
      let text = line.trimmingCharacters(in: .whitespaces)
      if let block = open {
        if text == "```" {
          blocks.append(CodeBlock(name: block.name, lines: block.lines, line: block.line))
          open = nil
        } else {
          open?.lines.append(line)
        }
      } else if isOtherFence {
        isOtherFence = text != "```"
      } else if text == "```swift" {
        open = (name, index + 1, [])
        name = nil
      } else if text.hasPrefix("```") {
        isOtherFence = true
      } else if !text.isEmpty {
        name = snippetName(text, "<!-- snippet: ", " -->")
      }
    }
    return blocks
  }
}

/// A piece of a Swift file that a document shows: between `// snippet: NAME` and `// end`.
struct Snippet {
  let name: String
  let lines: [String]
}

extension Snippet {
  /// The pieces of a source file, with the indentation that their lines share taken away.
  static func all(in source: String) -> [Snippet] {
    var snippets: [Snippet] = []
    var open: (name: String, lines: [String])?
    for line in source.components(separatedBy: "\n") {
      let text = line.trimmingCharacters(in: .whitespaces)
      if let snippet = open {
        if text == "// end" {
          snippets.append(Snippet(name: snippet.name, lines: withoutSharedIndentation(snippet.lines)))
          open = nil
        } else {
          open?.lines.append(line)
        }
      } else if let name = snippetName(text, "// snippet: ", "") {
        open = (name, [])
      }
    }
    return snippets
  }

  private static func withoutSharedIndentation(_ lines: [String]) -> [String] {
    let indentation =
      lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
    return lines.map { String($0.dropFirst(indentation)) }
  }
}

private func snippetName(_ line: String, _ prefix: String, _ suffix: String) -> String? {
  guard line.hasPrefix(prefix), line.hasSuffix(suffix) else { return nil }
  return String(line.dropFirst(prefix.count).dropLast(suffix.count))
}
