import MetadataPredicates
import Testing

@Suite("Regular expressions")
struct RegularExpressionTests {
  private func matches(_ pattern: String, _ text: String, _ options: PredicateComparison.Options = []) throws -> Bool {
    try MetadataPredicate.attribute("x", as: String.self).matches(pattern, options).compiled()
      .matches(["x": .string(text)] as MetadataValue)
  }

  @Test(
    "Syntax of ICU",
    arguments: [
      ("abc", "abc", true), ("abc", "abcd", false), ("a|bc", "bc", true), ("a|bc", "abc", false),
      ("(a|b)c", "bc", true),
      ("a*", "", true), ("a*", "aaa", true), ("a+", "", false), ("a?b", "b", true), ("a{2}", "aa", true),
      ("a{2}", "aaa", false),
      ("a{2,}", "aaaa", true), ("a{1,2}", "aaa", false), ("a*?b", "aab", true), ("[abc]+", "cab", true),
      ("[^abc]+", "xyz", true),
      ("[^abc]", "a", false), ("[a-c0-9]+", "b7", true), ("[a\\-c]+", "a-c", true), ("[\\]]", "]", true),
      ("\\d+", "123", true),
      ("\\d", "٣", true), ("\\D", "1", false), ("\\w+", "aé_1", true), ("\\W", "-", true), ("\\s", "\u{A0}", true),
      ("\\S", " ", false),
      ("[\\d\\s]+", "1 2", true), ("[^\\d]", "1", false), (".", "\n", false), ("(?s).", "\n", true), (".", "é", true),
      ("(?i)ABC", "abc", true), ("a(?i)b", "aB", true), ("(?i:a)b", "AB", false), ("(?i)é", "É", true),
      ("(?x) a b # c", "ab", true),
      ("^abc$", "abc", true), ("\\Aabc\\z", "abc", true), ("a\\bb", "ab", false), ("a\\b.b", "a b", true),
      ("a\\Bb", "ab", true),
      ("(?m)a$\\n^b", "a\nb", true), ("a$\\n", "a\n", true), ("a$", "a\n", false), ("\\Qa.b\\E", "a.b", true),
      ("\\Qa.b\\E", "axb", false),
      ("\\x41\\u0042\\x{43}", "ABC", true), ("\\t\\n\\r\\f\\a\\e", "\t\n\r\u{C}\u{7}\u{1B}", true), ("\\.", ".", true),
      ("\\p{Lu}", "É", true),
      ("\\p{L}+", "aÉ中", true), ("\\P{L}", "1", true), ("\\pN", "1", true), ("[[:alpha:]]+", "aé", true),
      ("[[:^digit:]]", "1", false),
      ("[a[bc]]+", "abc", true), ("[a[^b]]", "x", true), ("(?<year>\\d{4})-\\d\\d", "2026-11", true),
      ("(?#note)a", "a", true),
      ("()", "", true), ("(|a)+b", "aab", true), ("(a*)*", "aaa", true), ("(a*)+b", "b", true), ("\\R", "\r\n", true),
      ("x*", "y", false),
      ("(?:ab)+", "abab", true), ("[\\u00e0-\\u00ff]", "é", true), ("한+", "한한", true), ("😀?", "😀", true),
      ("\\h", "\t", true),
      ("a{0}", "", true), ("(a|ab)(c|bcd)", "abcd", true), ("[^\\n]*", "ab", true), ("\\011", "\t", true),
      ("\\p{Alphabetic}", "a", true),
    ])
  func syntax(pattern: String, text: String, expected: Bool) throws {
    #expect(try matches(pattern, text) == expected)
    // A text that isn't ASCII goes through the simulation instead of the table.
    if !pattern.contains("^"), !pattern.contains("\\A"), !pattern.contains("(?") {
      #expect(try matches("\u{E000}(?:\(pattern))", "\u{E000}\(text)") == expected)
    }
  }

  @Test("A mark belongs to a word, as in ICU, also for ANYKEY")
  func marksInWords() throws {
    #expect(try holds(#"ANYKEY MATCHES "\\w+""#, for: ["x": 1, "y": "e\u{301}"]))
    #expect(try holds(#"ANYKEY MATCHES "\\w+""#, for: ["x": "\u{301}"]))
    #expect(try !holds(#"ANYKEY MATCHES "\\w+""#, for: ["x": "e\u{301}."]))
  }

  @Test(
    "[c] and [d]",
    arguments: [
      ("straße", "STRASSE", false), ("k", "\u{212A}", true), ("σ", "ς", true), ("[a-z]+", "ABC", true),
      ("é", "É", true),
    ])
  func caseInsensitive(pattern: String, text: String, expected: Bool) throws {
    #expect(try matches(pattern, text, .caseInsensitive) == expected)
  }

  @Test(
    "P21: An expression that can't be read, or can't be matched in bounded time, is refused",
    arguments: [
      "(", ")", "[", "[]", "[z-a]", "*", "a**+", "a{2,1}", "a{9999}", "{", "\\", "(?", "(?z)", "(a)\\1", "(?=a)",
      "(?!a)", "(?<=a)",
      "(?<!a)", "(?>a)", "a++", "\\k<n>", "\\X", "\\p{Greek}", "\\p{", "[[:nope:]]", "[a&&b]", "[a--b]", "\\u12",
      "\\x{110000}",
      "\\Qabc", "[\\b]", "\\y", "(?<n", "a{,2}",
    ])
  func refused(pattern: String) throws {
    let predicate = MetadataPredicate.attribute("x", as: String.self).matches(pattern)
    let compileError = try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }
    #expect(compileError.code == .regularExpression)
    #expect(compileError.message.contains("at character"))
    let parseError = try error { () throws(MetadataPredicateError) in
      _ = try MetadataPredicate(format: "x MATCHES %@", arguments: [.string(pattern)])
    }
    #expect(parseError.code == .regularExpression)
    #expect(parseError.location?.utf8Offset == 10)
  }

  @Test("P21: a bad expression that's computed is a problem, not an error")
  func computed() throws {
    let compiled = try MetadataPredicate(format: "x MATCHES pattern").compiled()
    let (holds, problems) = compiled.diagnosedMatches(["x": "a", "pattern": "("] as MetadataValue)
    #expect(!holds)
    #expect(problems.count == 1)
    #expect(compiled.matches(["x": "a", "pattern": "[a-z]"] as MetadataValue))
  }

  @Test(
    "P57: hostile expressions take time in proportion to the text",
    arguments: [
      "(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}", "(x+x+)+y", "((a*)*)*$", "(a?){30}a{30}$", "([a-z]+)*[0-9]$",
      "(a*)*\\b",
    ])
  func hostile(pattern: String) throws {
    // A machine that tries one way after the other would need 2 to the power of this.
    let text = String(repeating: "a", count: 2_000) + "!"
    #expect(try !matches(pattern, text))
    #expect(try !matches(pattern, text + "é"))
  }

  @Test(
    "P57: an expression with too many states is refused",
    arguments: ["(a{1000}){1000}", "((a{100}){100}){100}", "[a-z]{1,1000}{1,1000}"])
  func tooLarge(pattern: String) throws {
    let predicate = MetadataPredicate.attribute("x", as: String.self).matches(pattern)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .limit)
  }

  @Test("Groups in groups are limited")
  func depth() throws {
    let pattern = String(repeating: "(", count: 10_000) + String(repeating: ")", count: 10_000)
    let predicate = MetadataPredicate.attribute("x", as: String.self).matches(pattern)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .regularExpression)
  }

  @Test(
    "P57: Quantifiers of quantifiers are limited, also of an item's pattern", arguments: ["{1}", "*", "?", "{1,2}"])
  func stackedQuantifiers(quantifier: String) throws {
    let pattern = "a" + String(repeating: quantifier, count: 100_000)
    let predicate = MetadataPredicate.attribute("x", as: String.self).matches(pattern)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .regularExpression)
    let computed = try MetadataPredicate(format: "x MATCHES y").compiled()
    #expect(!computed.matches(["x": "a", "y": .string(pattern)] as MetadataValue))
    // A few, as people write them by mistake.
    #expect(try matches("a" + String(repeating: quantifier, count: 3), "a"))
  }

  @Test(
    "A computed pattern is matched as itself, not as a canonically equal one before it", arguments: [false, true])
  func equalPatterns(isReversed: Bool) throws {
    let spellings = isReversed ? ["e\u{301}", "\u{E9}"] : ["\u{E9}", "e\u{301}"]
    let predicate = try MetadataPredicate(format: "x MATCHES y").compiled()
    for _ in 0..<2 {
      for pattern in spellings {
        for text in spellings {
          let isMatch = predicate.matches(["x": .string(text), "y": .string(pattern)] as MetadataValue)
          #expect(isMatch == text.utf8.elementsEqual(pattern.utf8), "\(text.unicodeScalars) \(pattern.unicodeScalars)")
        }
      }
    }
  }

  @Test("P57: A pattern in groups with quantifiers of quantifiers isn't deeper than both limits")
  func groupedQuantifiers() throws {
    let pattern = (0..<40).reduce("a") { pattern, _ in "(" + pattern + ")" + String(repeating: "{1}", count: 40) }
    let predicate = MetadataPredicate.attribute("x", as: String.self).matches(pattern)
    #expect(try error { () throws(MetadataPredicateError) in _ = try predicate.compiled() }.code == .regularExpression)
  }
}
