import Foundation
import MetadataPredicates
import Testing

@testable import FileMetadata

@Suite("Warnings about predicates for files")
struct PredicateWarningTests {
  @Test(
    "Comparisons that can't hold for the type of the attribute are named, others aren't",
    arguments: [
      ("kMDItemFSSize > '3'", ["kMDItemFSSize"]), ("'3' < kMDItemFSSize", ["kMDItemFSSize"]), ("kMDItemFSSize > 3", []),
      ("kMDItemFSName == 3", ["kMDItemFSName"]), ("kMDItemFSName == '3'", []), ("kMDItemFSName == NIL", []),
      ("kMDItemFSContentChangeDate > 'yesterday'", ["kMDItemFSContentChangeDate"]),
      ("kMDItemFSContentChangeDate > CAST(0, 'NSDate')", []), ("kMDItemFSContentChangeDate > 0", []),
      ("kMDItemFSContentChangeDate > now()", []), ("kMDItemFSInvisible == TRUE", []),
      ("kMDItemFSInvisible == 'yes'", ["kMDItemFSInvisible"]), ("kMDItemFSSize BEGINSWITH '3'", ["kMDItemFSSize"]),
      ("kMDItemFSSize IN {'a', 'b'}", ["kMDItemFSSize"]), ("kMDItemFSSize IN {'a', 3}", []),
      ("kMDItemFSSize IN {}", []),
      ("kMDItemFSName IN 'a text'", []), ("kMDItemFSSize IN 'a text'", ["kMDItemFSSize"]),
      ("kMDItemFSSize BETWEEN {1, 'x'}", ["kMDItemFSSize"]), ("kMDItemFSSize BETWEEN {1, 2}", []),
      ("kMDItemUserTags CONTAINS 'red'", []), ("kMDItemUserTags CONTAINS 3", ["kMDItemUserTags"]),
      ("ANY kMDItemContentTypeTree == 'public.image'", []), ("NOT (kMDItemFSSize == 'x')", ["kMDItemFSSize"]),
      ("kMDItemFSSize == kMDItemFSName", []), ("TRUEPREDICATE OR kMDItemPath MATCHES 3", ["kMDItemPath"]),
      ("kMDItemFSSize == 'a' AND kMDItemFSName == 1", ["kMDItemFSSize", "kMDItemFSName"]),
    ])
  func impossible(format: String, attributes: [String]) throws {
    let warnings = try MetadataPredicate(format: format).warnings()
    #expect(warnings.map(\.attribute) == attributes)
    #expect(warnings.allSatisfy { $0.code == .impossibleComparison })
  }

  @Test(
    "A text in quotes in Spotlight's language is compared as a value of the attribute's kind",
    arguments: [
      ("kMDItemFSSize > \"1\"", 0), ("kMDItemFSSize != \"1\"", 0), ("InRange(kMDItemFSSize, \"1\", \"9\")", 0),
      ("kMDItemFSContentChangeDate >= \"$time.today(-1)\"", 0), ("kMDItemFSName == \"1\"", 0),
      ("kMDItemFSSize > \"x\"", 1), ("kMDItemFSName == 1", 1),
    ])
  func quoted(query: String, count: Int) throws {
    #expect(try MetadataPredicate(query: query).warnings().count == count)
  }

  @Test("An attribute that nobody gives is named, unless a provider gives it")
  func unknown() throws {
    let provider = AttributeProvider(["kMDItemTitle"]) { _ in [:] }
    let predicate = try MetadataPredicate(format: "kMDItemTitle == 'x' OR kMDItemNothing == 1")
    #expect(predicate.warnings(providers: [provider]).map(\.attribute) == ["kMDItemNothing"])
    #expect(predicate.warnings().map(\.code) == [.unknownAttribute, .unknownAttribute])
  }

  @Test("A query's explanation has the warnings")
  func explanation() throws {
    let query = try MetadataQuery(
      MetadataPredicate(format: "kMDItemFSSize != '3'"), in: [URL.temporaryDirectory])
    #expect(query.explanation.warnings.map(\.attribute) == ["kMDItemFSSize"])
    #expect(query.explanation.description.contains("\nwarning: impossibleComparison: "))
    #expect(
      try MetadataPredicate(format: "kMDItemFSSize != '3'").warnings()[0].message.contains("holds for every file"))
  }

  @Test("Every attribute of files has a value of the kind that warnings take it for")
  func kinds() throws {
    let item = try #require(MetadataItem(url: URL(filePath: #filePath)))
    for name in MetadataItem.fileSystemAttributeNames {
      let attribute = try #require(FileAttribute(rawValue: name))
      var value = item.value(forAttribute: name)
      if case .array(let members) = value, let first = members.first { value = first }
      let kind: FileAttribute.ValueKind? =
        switch value {
        case .string: .text
        case .integer, .bool, .real: .number
        case .date: .date
        default: nil
        }
      if let kind { #expect(attribute.valueKind == kind, "\(name)") }
    }
  }
}
