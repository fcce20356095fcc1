import Foundation
import FoundationCompatibility
import MetadataPredicates
import Testing

@Suite(
  "Regular expressions that need more than an automaton, and several values, under Apple's names",
  .timeLimit(.minutes(4)))
struct RegularExpressionFallbackTests {
  @Test(
    "MATCHES follows what NSRegularExpression does, for the whole text",
    arguments: [
      (#"^(?=.*[A-Z])(?=.*\d).{4,}$"#, "aB3x", true), (#"^(?=.*[A-Z])(?=.*\d).{4,}$"#, "ab3x", false),
      (#"(?!tmp).*\.txt"#, "a.txt", true), (#"(?!tmp).*\.txt"#, "tmp.txt", false),
      (#".*(?<=_old)\.md"#, "a_old.md", true),
      (#"(.)\1"#, "aa", true), (#"(.)\1"#, "ab", false), (#"(.)\1"#, "aab", false), (#"a++b"#, "aab", true),
      (#"a++ab"#, "aab", false),
      (#"(?>a|ab)c"#, "abc", false), (#"[a-z&&[^aeiou]]+"#, "xyz", true), (#"[a-z&&[^aeiou]]+"#, "xaz", false),
      (#"[a-z--[b]]+"#, "ac", true), (#"a|(?=.)ab"#, "ab", true), ("(?x)(a)\\1 # twice", "aa", true),
      (#"(?=é).*"#, "école", true), (#"(a)\1"#, "aa\n", false),
    ])
  func patterns(pattern: String, text: String, expected: Bool) throws {
    let predicate = NSPredicate(format: "SELF MATCHES %@", pattern)
    #expect(predicate.evaluate(with: text) == expected)
    #expect(try NSPredicate.parsing("SELF MATCHES %@", arguments: [pattern]).evaluate(with: text) == expected)
    let built = NSComparisonPredicate(
      leftExpression: NSExpression.expressionForEvaluatedObject(),
      rightExpression: NSExpression(forConstantValue: pattern),
      modifier: .direct, type: .matches)
    #expect(built.evaluate(with: text) == expected)
    let archive = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: archive) as? NSPredicate
    #expect(copy?.evaluate(with: text) == expected)
  }

  @Test("Case and marks are ignored there, too")
  func options() {
    #expect(NSPredicate(format: "SELF MATCHES[c] %@", #"(a)\1"#).evaluate(with: "aA"))
    #expect(NSPredicate(format: "SELF MATCHES[cd] %@", #"(é)\1"#).evaluate(with: "Ee"))
    #expect(!NSPredicate(format: "SELF MATCHES %@", #"(a)\1"#).evaluate(with: "aA"))
    #expect(NSPredicate(format: "ANY SELF MATCHES %@", #"(a)\1"#).evaluate(with: ["x", "aa"]))
  }

  @Test("A text that's no expression fits nothing and is reported; it ends no program, and parsing(_:) throws it")
  func mistakes() throws {
    // Says where misuse is reported.
    _ = Sandbox.domain
    let predicate = NSPredicate(format: "SELF MATCHES %@", "(?=open")
    #expect(
      !predicate.evaluate(with: "open") && NSPredicate(format: "NOT SELF MATCHES '*.txt'").evaluate(with: "a.txt"))
    #expect(Sandbox.misuse.entries.count { $0.contains("'(?=open' is no regular expression") } == 1)
    let error = #expect(throws: MetadataPredicateError.self) { try NSPredicate.parsing("a MATCHES '(?=open'") }
    #expect(error?.code == .regularExpression)
  }

  @Test("Text from strangers and expressions in items get the bounded engine only")
  func untrusted() throws {
    for pattern in [#"(a)\1"#, "(?=a)a", "a++"] {
      let error = #expect(throws: MetadataPredicateError.self) {
        try NSPredicate.parsing("name MATCHES %@", arguments: [pattern], limits: .untrusted)
      }
      #expect(error?.code == .regularExpression)
      #expect(throws: MetadataPredicateError.self) {
        try MetadataPredicate(format: "name MATCHES %@", arguments: [.string(pattern)])
      }
      let computed = NSPredicate(format: "name MATCHES pattern")
      #expect(!computed.evaluate(with: ["name": "a", "pattern": pattern]))
    }
    #expect(try NSPredicate.parsing("name MATCHES 'a+'", limits: .untrusted).evaluate(with: ["name": "aa"]))
  }

  @Test("Queries find by look-around and back references, beside what the index answers")
  func queries() async throws {
    try await withSandbox { box in
      for name in ["aa.txt", "ab.txt", "aa.md", "bb.txt"] { _ = try box.write(name) }
      let pattern = NSPredicate(format: "kMDItemFSName MATCHES %@ AND kMDItemFSName ENDSWITH '.txt'", #"(.)\1\..*"#)
      #expect(try await found(pattern, in: box.root) == ["aa.txt", "bb.txt"])
      let negated = NSCompoundPredicate(notPredicateWithSubpredicate: pattern)
      #expect(try await found(negated, in: box.root) == ["aa.md", "ab.txt"])
    }
  }

  @Test(
    "Comparisons of attributes with several values hold for one of them, in queries and for items",
    arguments: [
      ("kMDItemContentTypeTree == 'public.image'", ["a.png"]),
      ("kMDItemContentTypeTree = 'public.text'", ["b.txt", "c.md"]),
      ("kMDItemContentTypeTree LIKE 'public.ima*'", ["a.png"]),
      ("kMDItemContentTypeTree IN {'public.image', 'x'}", ["a.png"]),
      ("kMDItemContentTypeTree != 'public.image'", ["b.txt", "c.md"]),
      ("NOT kMDItemContentTypeTree == 'public.text'", ["a.png"]),
      ("ANY kMDItemContentTypeTree == 'public.image'", ["a.png"]),
      ("kMDItemContentTypeTree CONTAINS 'public.image'", ["a.png"]),
      ("kMDItemContentTypeTree BEGINSWITH[c] 'NET.'", ["c.md"]),
    ])
  func severalValues(format: String, expected: [String]) async throws {
    try await withSandbox { box in
      for name in ["a.png", "b.txt", "c.md"] { _ = try box.write(name) }
      let predicate = NSPredicate(format: format)
      #expect(try await found(predicate, in: box.root) == expected)
      let block = NSPredicate { _, _ in false }
      #expect(
        try await found(NSCompoundPredicate(orPredicateWithSubpredicates: [block, predicate]), in: box.root) == expected
      )
      let items = ["a.png", "b.txt", "c.md"].filter { predicate.evaluate(with: NSMetadataItem(url: box.url($0))) }
      #expect(items == expected)
    }
    #expect(!NSPredicate(format: "tags == 'x'").evaluate(with: ["tags": ["x", "y"]]))
  }

  private func found(_ predicate: NSPredicate, in folder: URL) async throws -> [String] {
    let query = NSMetadataQuery()
    query.predicate = predicate
    query.searchScopes = [folder]
    query.operationQueue = OperationQueue()
    let gathered = NotificationCenter.default.notifications(named: .NSMetadataQueryDidFinishGathering, object: query)
    query.start()
    for await _ in gathered { break }
    query.stop()
    return query.results.compactMap { ($0 as? NSMetadataItem)?.value(forAttribute: "kMDItemFSName") as? String }
      .sorted()
  }
}
