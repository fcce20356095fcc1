import MetadataPredicates
import Testing

@Suite("The code about predicates")
struct PredicateSnippets {
  private let limit: Int64 = 100

  @Test("Predicates in Swift")
  func swift() throws {
    // snippet: predicates-swift
    let notes: MetadataPredicate = .fileName.hasSuffix(".md", .caseInsensitive) && .fileSize > .kilobytes(10)
    let rated: MetadataPredicate = .attribute("rating") >= 4 || .attribute("tags", as: [String].self).contains("best")
    // end
    let item: MetadataValue = ["kMDItemFSName": "a.MD", "kMDItemFSSize": 10_001, "tags": ["best"]]
    #expect(try (notes && rated).compiled().matches(item))
    #expect(try !(notes && rated).compiled().matches(["kMDItemFSName": "a.MD", "tags": ["best"]] as MetadataValue))
  }

  @Test("Predicates as text, and their evaluation")
  func text() throws {
    // snippet: predicates-text
    let name = "report"
    let predicate = try MetadataPredicate(
      "kMDItemFSName CONTAINS[cd] \(name) AND NOT kMDItemFSSize BETWEEN {0, \(limit)}")
    let same = try MetadataPredicate(
      format: "%K CONTAINS[cd] %@ AND NOT kMDItemFSSize BETWEEN {0, %d}",
      arguments: ["kMDItemFSName", .string(name), .integer(limit)])
    // end
    #expect(predicate == same)

    // snippet: predicates-evaluate
    let compiled = try predicate.compiled()
    let items: [MetadataValue] = [
      ["kMDItemFSName": "Report 1.md", "kMDItemFSSize": 900], ["kMDItemFSName": "notes.md", "kMDItemFSSize": 12],
    ]
    let found = items.filter { compiled.matches($0) }
    // end
    #expect(found == [items[0]])
  }

  @Test("A query of Spotlight")
  func spotlight() throws {
    // snippet: predicates-spotlight
    let recent = try MetadataPredicate(
      query: #"kMDItemFSName == "*.md"cd && kMDItemFSContentChangeDate >= $time.today(-7)"#)
    print(recent.formatString)  // the same in the format language
    // end
    #expect(try MetadataPredicate(format: recent.formatString) == recent)
    let now = MetadataDate(secondsSince2001: 100 * 86_400)
    let item: MetadataValue = ["kMDItemFSName": "Ä.MD", "kMDItemFSContentChangeDate": .date(now)]
    #expect(try recent.compiled().matches(item, in: PredicateEnvironment(now: now)))
  }

  @Test("An item")
  func item() throws {
    // snippet: predicates-item
    struct Track: PredicateItem {
      let title: String
      let seconds: Int

      func value(forAttribute name: String, index: Int) -> MetadataValue {
        switch name {
        case "title": .string(title)
        case "seconds": .integer(Int64(seconds))
        default: .null
        }
      }

      var wholeValue: MetadataValue { ["title": .string(title), "seconds": .integer(Int64(seconds))] }
    }
    // end
    let compiled = try MetadataPredicate(format: "title LIKE[c] 's*' AND seconds < 200 AND ANYKEY == 159").compiled()
    #expect(compiled.matches(Track(title: "Song 2", seconds: 159)))
    #expect(!compiled.matches(Track(title: "Song 2", seconds: 201)))
  }

  private func reading(_ text: String) -> CompiledPredicate? {
    // snippet: predicates-untrusted
    var limits = PredicateLimits.untrusted
    limits.attributes = ["kMDItemFSName", "kMDItemFSSize"]
    do {
      return try MetadataPredicate(format: text, limits: limits).compiled(limits: limits)
    } catch {
      print(error)  // the line, with a caret below the mistake, and what was probably meant
      return nil
    }
    // end
  }

  @Test("Text from strangers")
  func untrusted() throws {
    #expect(reading("kMDItemFSName MATCHES '(a+)+'")?.matches(["kMDItemFSName": "aa"] as MetadataValue) == true)
    #expect(reading("password BEGINSWITH 'a'") == nil)
    #expect(reading("kMDItemFSName MATCHES '(a'") == nil)
  }

  @Test("The example of the README")
  func readme() throws {
    // snippet: readme-predicate
    let predicate = try MetadataPredicate(format: "name LIKE[c] '*.md' AND size > 10000").compiled()
    let isNote = predicate.matches(["name": "Notes.MD", "size": 12_000] as MetadataValue)
    // end
    #expect(isNote)
  }
}
