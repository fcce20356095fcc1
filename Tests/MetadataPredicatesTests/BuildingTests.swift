import MetadataPredicates
import Testing

@Suite("Predicates in Swift")
struct BuildingTests {
  private func format(_ text: String) throws -> MetadataPredicate { try MetadataPredicate(format: text) }

  @Test("A predicate that's written in Swift equals one from text")
  func sameTrees() throws {
    let notes: MetadataPredicate = .fileName.hasSuffix(".md") && .fileSize > .kilobytes(10)
    #expect(try notes == format("kMDItemFSName ENDSWITH '.md' AND kMDItemFSSize > 10000"))
    let either: MetadataPredicate = .fileName == "a" || !(.path.contains("b", [.caseInsensitive]))
    #expect(try either == format("kMDItemFSName == 'a' OR NOT kMDItemPath CONTAINS[c] 'b'"))
    let chain: MetadataPredicate = .fileName.exists && .fileName.isLike("*.txt") && .fileName.matches("a+")
    #expect(try chain == format("kMDItemFSName != nil AND kMDItemFSName LIKE '*.txt' AND kMDItemFSName MATCHES 'a+'"))
    let range: MetadataPredicate = .fileSize.isBetween(.bytes(1), .kibibytes(2))
    #expect(try range == format("kMDItemFSSize BETWEEN {1, 2048}"))
    let kind: MetadataPredicate = .contentType.conforms(to: "public.image") && .contentTypeTree.contains("public.data")
    #expect(
      try kind
        == format("kMDItemContentType UTI-CONFORMS-TO 'public.image' AND kMDItemContentTypeTree CONTAINS 'public.data'")
    )
    let date: MetadataPredicate = .contentChangeDate >= MetadataDate(secondsSince2001: 5)
    #expect(try date == format("kMDItemFSContentChangeDate >= CAST(5.0, 'NSDate')"))
    let own: MetadataPredicate = .attribute("a.b", as: Int.self).isOne(of: [1, 2])
    #expect(try own == format("a.b IN {1, 2}"))
    let flag: MetadataPredicate = .attribute("flag") == true
    #expect(try flag == format("flag == TRUE"))
    let missing: MetadataPredicate = .displayName.isMissing || .displayName.equals("x", .diacriticInsensitive)
    #expect(try missing == format("kMDItemDisplayName == nil OR kMDItemDisplayName ==[d] 'x'"))
    let others: MetadataPredicate =
      .fileSize <= .megabytes(1) && .fileSize != .gigabytes(1) && .fileSize < .mebibytes(1)
    #expect(try others.compiled().matches(["kMDItemFSSize": 5] as MetadataValue))
  }

  @Test(
    "A value is a value, whatever it contains", arguments: ["' OR TRUEPREDICATE OR '", "%@", "\"", "\\", "$x", "*"])
  func noInjection(text: String) throws {
    let predicate: MetadataPredicate = .fileName == text
    #expect(try MetadataPredicate(format: predicate.formatString) == predicate)
    let compiled = try MetadataPredicate("kMDItemFSName == \(text)").compiled()
    #expect(compiled.matches(["kMDItemFSName": .string(text)] as MetadataValue))
    #expect(!compiled.matches(["kMDItemFSName": "other"] as MetadataValue))
    #expect(try MetadataPredicate("kMDItemFSName == \(text)") == predicate)
  }

  @Test("Each attribute's shorthand stands for its name, in front of an operator and of a method")
  func shorthands() throws {
    func check(_ predicate: MetadataPredicate, _ text: String) throws {
      #expect(try predicate == format(text), "\(text)")
    }
    try check(.fileName == "a", "kMDItemFSName == 'a'")
    try check(.fileName.equals("a", []), "kMDItemFSName == 'a'")
    try check(.displayName == "a", "kMDItemDisplayName == 'a'")
    try check(.displayName.equals("a", []), "kMDItemDisplayName == 'a'")
    try check(.path == "/a", "kMDItemPath == '/a'")
    try check(.path.equals("/a", []), "kMDItemPath == '/a'")
    try check(.contentType == "a.b", "kMDItemContentType == 'a.b'")
    try check(.contentType.equals("a.b", []), "kMDItemContentType == 'a.b'")
    try check(.contentTypeTree.exists, "kMDItemContentTypeTree != nil")
    try check(.fileSize >= .bytes(5), "kMDItemFSSize >= 5")
    try check(.fileSize.exists, "kMDItemFSSize != nil")
    let date = MetadataDate(secondsSince2001: 5)
    try check(.contentChangeDate < date, "kMDItemFSContentChangeDate < CAST(5.0, 'NSDate')")
    try check(.contentChangeDate.exists, "kMDItemFSContentChangeDate != nil")
    try check(.creationDate > date, "kMDItemFSCreationDate > CAST(5.0, 'NSDate')")
    try check(.creationDate.exists, "kMDItemFSCreationDate != nil")
    let names = [
      MetadataAttribute<String>.fileName.name, MetadataAttribute<String>.displayName.name,
      MetadataAttribute<String>.path.name, MetadataAttribute<String>.contentType.name,
      MetadataAttribute<[String]>.contentTypeTree.name, MetadataAttribute<ByteCount>.fileSize.name,
      MetadataAttribute<MetadataDate>.contentChangeDate.name, MetadataAttribute<MetadataDate>.creationDate.name,
    ]
    #expect(
      names == [
        "kMDItemFSName", "kMDItemDisplayName", "kMDItemPath", "kMDItemContentType", "kMDItemContentTypeTree",
        "kMDItemFSSize", "kMDItemFSContentChangeDate", "kMDItemFSCreationDate",
      ])
  }

  @Test("A literal without values is a format like any other, with its percent signs")
  func plainLiteral() throws {
    #expect(try MetadataPredicate("size > 3 AND name == '50%'") == format("size > 3 AND name == '50%'"))
    let stored: PredicateFormat = "size > 3"
    #expect(try MetadataPredicate(stored) == format("size > 3"))
    let error = #expect(throws: MetadataPredicateError.self) { try MetadataPredicate("size > %@") }
    #expect(error?.code == .arguments)
  }

  @Test("Interpolated values and key paths are arguments")
  func interpolation() throws {
    let name = "in.first"
    let limit = 5
    let names: [String] = ["a", "b"]
    let nothing = MetadataValue.null
    let predicate = try MetadataPredicate(
      "\(key: name) > \(limit) AND x IN \(names) AND y == \(nothing) AND z == \(1.5)")
    #expect(try predicate == format("#in.first > 5 AND x IN {'a', 'b'} AND y == nil AND z == 1.5"))
  }

  @Test("Inside quotes an interpolated value would be text, which is refused")
  func quotedInterpolation() throws {
    let name = "x"
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate("a LIKE '*\(name)*'") }
    #expect(error.code == .arguments)
    #expect(error.suggestion?.contains("plain text") == true)
  }

  @Test("A count of bytes stays in range")
  func byteCounts() {
    #expect(ByteCount.gigabytes(.max).bytes == .max)
    #expect(ByteCount.gibibytes(.min).bytes == .min)
    #expect(ByteCount.kilobytes(1) < ByteCount.kibibytes(1))
  }
}
