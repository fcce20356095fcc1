import MetadataPredicates
import Testing

/// Patterns of up to sixteen bytes are compared eight bytes at a time: lengths around that, and places around the end, matter.
@Suite("Short patterns of ASCII")
struct TextProbeTests {
  fileprivate static let comparators: [PredicateComparator] = [.equal, .beginsWith, .endsWith, .contains]

  /// The result by a comparison of characters.
  fileprivate static func expected(
    _ text: String, _ comparator: PredicateComparator, _ pattern: String, _ options: PredicateComparison.Options
  ) -> Bool {
    let (text, pattern) = (NaiveText.folded(text, options), NaiveText.folded(pattern, options))
    return switch comparator {
    case .equal: text == pattern
    case .beginsWith: text.starts(with: pattern)
    case .endsWith: text.reversed().starts(with: pattern.reversed())
    default: text.indices.contains { text[$0...].starts(with: pattern) }
    }
  }

  /// A pattern, prepared for every way to compare.
  private struct Contest {
    let pattern: String
    let options: PredicateComparison.Options
    let compiled: [CompiledPredicate]

    init(_ pattern: String, _ options: PredicateComparison.Options) throws {
      self.pattern = pattern
      self.options = options
      compiled = try TextProbeTests.comparators.map { comparator in
        try MetadataPredicate.comparison(
          PredicateComparison(.attribute("x"), comparator, .constant(.string(pattern)), options: options)
        ).compiled()
      }
    }

    func problems(_ text: String) -> [String] {
      zip(TextProbeTests.comparators, compiled).compactMap { comparator, compiled in
        let result = compiled.matches(LendingItem(value: ["x": .string(text)], form: .bytes))
        if result == TextProbeTests.expected(text, comparator, pattern, options) { return nil }
        return
          "\(text.debugDescription) \(comparator.rawValue)\(options.rawValue) \(pattern.debugDescription): \(result)"
      }
    }
  }

  @Test("Every length of text and pattern, at every place", arguments: 1...18)
  func lengths(count: Int) throws {
    let pattern = String("qwxyzvkjQWXYZVKJ77".prefix(count))
    let contests = (try Contest(pattern, []), try Contest(pattern, .caseInsensitive))
    var found: [String] = []
    for before in 0...10 {
      for after in 0...9 {
        let text = String(repeating: "a", count: before) + pattern + String(repeating: "e", count: after)
        found += contests.0.problems(text) + contests.1.problems(text.uppercased())
        // All but one letter is no match.
        found += contests.0.problems(text.replacing("q", with: "p", maxReplacements: 1))
      }
    }
    #expect(found == [])
  }

  @Test("Matches are found beside any text, and among letters that are equal to ASCII")
  func neighbours() throws {
    let around = ["", "a", "A", "\u{301}", "e\u{301}", "é", "\u{212A}", "ß", "longer than a word ", "\u{FF41}"]
    var found: [String] = []
    for pattern in ["k", "ka", "ae", "e", "longer than", "kkkkkkkkk"] {
      for options: PredicateComparison.Options in [[], .caseInsensitive, .diacriticInsensitive] {
        let contest = try Contest(pattern, options)
        for middle in [pattern, pattern.uppercased(), String(pattern.dropLast())] {
          for left in around {
            for right in around { found += contest.problems(left + middle + right) }
          }
        }
      }
    }
    #expect(found == [])
  }

  @Test("Signs that differ from letters in the bit of case are not taken for letters")
  func signs() throws {
    for (text, pattern) in [
      ("@", "`"), ("[", "{"), ("\u{1}", "!"), ("^", "~"), ("A", "a"), ("Z", "z"), ("_", "\u{7F}"),
    ] {
      #expect(try Contest("x" + pattern, .caseInsensitive).problems("x" + text) == [])
      #expect(try Contest(pattern, .caseInsensitive).problems("xxxxxxxx" + text) == [])
    }
  }

  @Test("Bytes that are no UTF-8 stand for a replacement character")
  func brokenBytes() throws {
    struct Broken: PredicateItem {
      let bytes: [UInt8]
      func value(forAttribute name: String, index: Int) -> MetadataValue {
        .string(String(decoding: bytes, as: UTF8.self))
      }
      func answer(_ question: PredicateQuestion) -> PredicateAnswer { question.answer(utf8: bytes.span) }
      var wholeValue: MetadataValue { .null }
    }
    let item = Broken(bytes: [0xC3, 0x2E, 0x6D, 0x64])
    for (format, expected) in [
      ("x ENDSWITH '.md'", true), ("x LIKE '?.md'", true), ("x == '\u{FFFD}.md'", true), ("x == '.md'", false),
      ("x MATCHES '.\\\\.md'", true), ("x IN {'\u{FFFD}.md', 'b'}", true), ("x > 3", false), ("x.length == 4", true),
    ] {
      #expect(try MetadataPredicate(format: format).compiled().matches(item) == expected, "\(format)")
    }
  }
}
