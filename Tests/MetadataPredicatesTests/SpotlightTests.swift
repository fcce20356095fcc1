import Testing

@testable import MetadataPredicates

@Suite("Spotlight's query language")
struct SpotlightTests {
  private func holds(
    _ query: String, for item: MetadataValue, in environment: PredicateEnvironment = .standard
  ) throws -> Bool {
    let predicate = try MetadataPredicate(query: query)
    // Every query has a text in the format language that means the same.
    #expect(try MetadataPredicate(format: predicate.formatString) == predicate)
    return try predicate.compiled().matches(item, in: environment)
  }

  private static let file: MetadataValue = [
    "kMDItemFSName": "a.txt", "kMDItemFSSize": 15, "kMDItemDisplayName": "café", "kMDItemAuthors": ["Ann", "Bob"],
    "kMDItemTitle": "Comparison inParis, now",
  ]

  @Test(
    "S1, S2, S9, S10, S11: values, wild cards and modifiers",
    arguments: [
      ("kMDItemFSName == \"*.TXT\"c", true), ("kMDItemFSName == \"*.TXT\"", false),
      ("kMDItemFSName == \"?.txt\"", true),
      ("kMDItemDisplayName == \"cafe\"d", true), ("kMDItemDisplayName == \"CAFE\"cd", true),
      ("kMDItemDisplayName ==[cd] \"CAFE\"", true), ("kMDItemDisplayName == \"CAFE\"d", false), ("* == \"café\"", true),
      ("* == \"x\"", false), ("kMDItemFSName == \"\\*.txt\"", false), ("kMDItemFSName == \"a.tx\\t\"", true),
      ("kMDItemFSName == a.txt", true), ("kMDItemFSName == 'a.txt'", true), ("kMDItemFSName == *.txt", true),
      ("kMDItemFSName = \"a.txt\"", true), ("kMDItemFSName != \"a.txt\"", false), ("kMDItemFSName != \"*.md\"", true),
      ("kMDItemFSSize == 15", true), ("kMDItemFSSize > 14.5", true), ("kMDItemFSSize<=15", true),
      ("kMDItemNope == \"*\"", false),
      ("kMDItemFSSize == \"*\"", true), ("kMDItemNope != \"*\"", true), ("kMDItemAuthors == \"Bob\"", true),
      ("kMDItemAuthors == \"Bo*\"", true), ("kMDItemAuthors == \"Eve\"", false),
    ])
  func values(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.file) == expected)
  }

  @Test(
    "S3: w finds whole words, which a change of case begins",
    arguments: [
      ("kMDItemTitle == \"Paris\"w", true), ("kMDItemTitle == \"paris\"wc", true),
      ("kMDItemTitle == \"Compari\"w", false),
      ("kMDItemTitle ==[w] \"Comparison\"", true), ("kMDItemTitle == \"Par*\"w", true),
      ("kMDItemTitle == \"ari*\"w", false),
    ])
  func words(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.file) == expected)
    #expect(try !holds("kMDItemTitle == \"Paris\"w", for: ["kMDItemTitle": "Parisian"]))
  }

  /// Values of each type, and several of one.
  private static let typed: MetadataValue = [
    "size": 1_000, "text": "1000", "date": .date(MetadataDate(secondsSince1970: 1_538_523_000)),
    "title": "An old map of Paris", "tags": ["red", "dark blue"], "phrase": "50% * of \\", "sizes": [1, 2],
  ]

  @Test(
    "Queries as the file browser writes them",
    arguments: [
      ("(true)", true), ("(false)", false), ("!(FALSE)", true), ("(true) && size == 1000", true),
      ("(true) && (false)", false),
      ("true == 1", false), ("(true == 1)", false), ("** == \"old*\"cdw", true), ("** == \"new*\"cdw", false),
      ("(** = \"map\"cdws)", true), ("title == \"old\"wst", true), ("title ==[cdt] \"an OLD*\"", true),
      ("* == \"red\"", true), ("* == \"blue\"w", true), ("* == 2", true), ("* == 3", false), ("* == \"dark\"", false),
      ("* != \"red\"", false),
    ])
  func fileBrowser(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.typed) == expected)
  }

  @Test(
    "Several words with w match wherever they are",
    arguments: [
      ("title == \"paris map\"cw", true), ("title == \"map  old\"w", true), ("title == \"par* ma*\"cw", true),
      ("title == \"paris town\"cw", false), ("title != \"paris town\"cw", true), ("title == \"old map\"", false),
      ("tags == \"blue red\"w", true), ("tags == \"blue green\"w", false), ("title == \" \"w", true),
      ("phrase == \"\\* of\"w", true),
    ])
  func severalWords(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.typed) == expected)
  }

  @Test(
    "Numbers and moments in quotes are compared by the type of the attribute",
    arguments: [
      ("size == \"1000\"", true), ("size > \"999\"", true), ("size < \"999.5\"", false), ("size != \"1000\"", false),
      ("size != \"1001\"", true), ("text == \"1000\"", true), ("text != \"1000\"", false), ("text == 1000", false),
      ("size == \"10*\"", false), ("text == \"10*\"", true), ("InRange(size, \"1\", \"1000\")", true),
      ("InRange(size, 1, \"999\")", false), ("InRange(text, \"0\", \"2\")", true), ("sizes == \"2\"", true),
      ("date >= \"$time.today\"", true), ("date < \"$time.today(-1)\"", false), ("date == \"$time.now\"", true),
      ("InRange(date, \"$time.yesterday\", \"$time.now(1)\")", true), ("date > \"$time.iso(2018-01-01)\"", true),
      ("text == \"$time.today\"", false), ("date == \"$time.tomorrow\"", false), ("missing != \"1\"", true),
    ])
  func quoted(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.typed, in: Self.environment) == expected)
  }

  @Test(
    "S4, S5: !, &&, ||, parentheses and InRange",
    arguments: [
      ("!(kMDItemFSSize == 15)", false), ("kMDItemFSSize == 1 || kMDItemFSSize == 15", true),
      ("kMDItemFSSize == 15 && kMDItemFSSize == 1", false), ("!kMDItemFSSize == 1 && !kMDItemFSSize == 2", true),
      ("kMDItemFSSize == 15 || kMDItemFSSize == 1 && kMDItemFSSize == 2", true), ("(kMDItemFSSize == 15)", true),
      ("InRange(kMDItemFSSize, 10, 20)", true), ("InRange(kMDItemFSSize,15,20)", true),
      ("inrange(kMDItemFSSize, 16, 20)", false),
    ])
  func structure(query: String, expected: Bool) throws {
    #expect(try holds(query, for: Self.file) == expected)
  }

  /// Wednesday, 2018-10-03, 01:30 in a zone that is two hours ahead of UTC.
  private static let environment = PredicateEnvironment(
    now: MetadataDate(secondsSince1970: 1_538_523_000), calendar: PredicateCalendar { _ in 7_200 })

  private func changed(_ date: String) throws -> MetadataValue {
    let predicate = try MetadataPredicate(format: "CAST(%@, 'NSDate') == date", arguments: [.string(date)])
    guard case .comparison(let comparison) = predicate, case .cast = comparison.left else { return .null }
    let query = try MetadataPredicate(query: "x == $time.iso(\(date))")
    guard case .comparison(let test) = query, case .constant(let value) = test.right else { return .null }
    return ["date": value]
  }

  @Test(
    "S6: moments begin where the calendar's days, weeks, months and years do",
    arguments: [
      ("$time.today", "2018-10-02T22:00:00Z"), ("$time.today()", "2018-10-02T22:00:00Z"),
      ("$time.today(-1)", "2018-10-01T22:00:00Z"),
      ("$time.yesterday", "2018-10-01T22:00:00Z"), ("$time.this_week", "2018-09-30T22:00:00Z"),
      ("$time.this_week(-1)", "2018-09-23T22:00:00Z"), ("$time.this_month", "2018-09-30T22:00:00Z"),
      ("$time.this_month(-1)", "2018-08-31T22:00:00Z"), ("$time.this_year", "2017-12-31T22:00:00Z"),
      ("$time.this_year(1)", "2018-12-31T22:00:00Z"), ("$time.now", "2018-10-02T23:30:00Z"),
      ("$time.now(-60)", "2018-10-02T23:29:00Z"),
      ("$time.today(\"-2w\")", "2018-09-18T22:00:00Z"), ("$time.now(\"-1d\")", "2018-10-01T23:30:00Z"),
      ("$time.today('-1m')", "2018-09-02T22:00:00Z"), ("$time.iso(2018-10-01T10:00:00Z)", "2018-10-01T10:00:00Z"),
      ("$time.iso(2018-10-01T12:00:00+02:00)", "2018-10-01T10:00:00Z"),
      ("$time.iso(2018-10-01)", "2018-10-01T00:00:00Z"),
    ])
  func moments(moment: String, expected: String) throws {
    let item = try changed(expected)
    #expect(try holds("date == \(moment)", for: item, in: Self.environment))
    #expect(try holds("date >= \(moment) && !(date > \(moment))", for: item, in: Self.environment))
  }

  @Test("S6: midnight is that of the day itself when clocks change in between")
  func daylightSaving() throws {
    // Two hours ahead until 2018-10-28T01:00:00Z, one afterwards.
    let change = MetadataDate(secondsSince1970: 1_540_688_400)
    let calendar = PredicateCalendar { $0 < change ? 7_200 : 3_600 }
    let noon = PredicateEnvironment(now: MetadataDate(secondsSince1970: 1_540_724_400), calendar: calendar)
    #expect(try holds("date == $time.today", for: try changed("2018-10-27T22:00:00Z"), in: noon))
    #expect(try holds("date == $time.today(1)", for: try changed("2018-10-28T23:00:00Z"), in: noon))
  }

  @Test(
    "S6: a day without midnight begins when clocks are set forward",
    arguments: [-4 * 3_600, -5 * 3_600, -3_600, 0, 2 * 3_600])
  func missingMidnight(offset: Int) throws {
    // The clocks go from 2024-09-08 00:00 to 01:00.
    let change = MetadataDate(secondsSince1970: 1_725_753_600 - Double(offset))
    let calendar = PredicateCalendar { $0 < change ? offset : offset + 3_600 }
    for minute in -180...180 {
      let now = MetadataDate(secondsSince2001: change.secondsSince2001 + Double(minute * 60))
      let today = try #require(calendar.beginning(of: .day, around: now, movedBy: 0, .day))
      let tomorrow = try #require(calendar.beginning(of: .day, around: now, movedBy: 1, .day))
      let yesterday = try #require(calendar.beginning(of: .day, around: now, movedBy: -1, .day))
      #expect(today <= now && now < tomorrow, "\(minute)")
      #expect((minute < 0 ? tomorrow : today) == change, "\(minute)")
      let length = minute < 0 ? 24 : 23
      #expect(tomorrow.secondsSince2001 - today.secondsSince2001 == Double(length * 3_600), "\(minute)")
      #expect(today.secondsSince2001 - yesterday.secondsSince2001 == 86_400, "\(minute)")
    }
  }

  @Test("S7, S8: a date is equal to its seconds since 2001")
  func numbers() throws {
    #expect(try holds("date == $time.iso(2001-01-01T00:01:00Z)", for: ["date": 60]))
    #expect(try holds("date == 60", for: ["date": .date(MetadataDate(secondsSince2001: 60))]))
    #expect(try holds("date < 61 && date > 59", for: ["date": .date(MetadataDate(secondsSince2001: 60))]))
  }

  @Test(
    "S12: the same query in both languages gives the same results",
    arguments: [
      ("kMDItemFSName == \"*.TXT\"c", "kMDItemFSName LIKE[c] '*.TXT'"), ("kMDItemFSSize > 10", "kMDItemFSSize > 10"),
      ("InRange(kMDItemFSSize, 10, 20)", "kMDItemFSSize BETWEEN {10, 20}"), ("* == \"café\"", "ANYKEY == 'café'"),
      (
        "kMDItemDisplayName == \"cafe\"d || !(kMDItemFSSize == 1)",
        "kMDItemDisplayName ==[d] 'cafe' OR NOT kMDItemFSSize == 1"
      ),
      ("kMDItemAuthors == \"Ann\"", "ANY kMDItemAuthors == 'Ann'"),
    ])
  func bothLanguages(query: String, format: String) throws {
    let items: [MetadataValue] = [
      Self.file, [:], ["kMDItemFSName": "b.TXT", "kMDItemFSSize": 10],
      ["kMDItemFSSize": 20, "kMDItemDisplayName": "CAFE"],
      ["kMDItemAuthors": ["Ann"]], ["kMDItemFSSize": 1],
    ]
    let first = try MetadataPredicate(query: query).compiled()
    let second = try MetadataPredicate(format: format).compiled()
    for item in items { #expect(first.matches(item) == second.matches(item), "\(item)") }
  }

  @Test(
    "A part that can't stand in a query is refused where it stands",
    arguments: [
      "¦", "kMDItemFSName¦", "kMDItemFSName ==¦", "¦== 1", "a ¦LIKE 'x'", "a == 1 ¦AND b == 2", "a == 1 &&¦",
      "a == 1 ¦& b == 2",
      "(a == 1¦", "a == 1¦)", "a == ¦\"x", "a =¦< 1", "a == \"x\"¦q", "a ==[¦q] \"x\"", "a == ¦$x",
      "a == ¦$time.tomorrow",
      "a == $time.today(¦x)", "a == $time.today(-1¦", "a == $time.iso(¦yesterday)", "InRange(a, 1¦)",
      "InRange(a, 1, 2¦", "!¦",
      "a == 1 ¦b == 2", "InRange(¦1, 2, 3)", "a == $time.iso(¦2018-02-30)",
    ])
  func refused(marked: String) throws {
    let parts = marked.split(separator: "¦", maxSplits: 1, omittingEmptySubsequences: false)
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(query: parts.joined()) }
    #expect(error.location?.utf8Offset == parts[0].utf8.count, "\(error)")
  }

  @Test("Deep nesting is refused", arguments: ["(", "!", "!("])
  func nesting(sign: String) throws {
    let text = String(repeating: sign, count: 10_000) + "a == 1"
    #expect(try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(query: text) }.code == .limit)
  }

  @Test(
    "Words of the other language get a suggestion",
    arguments: [
      ("a == 1 AND b == 2", "&&"), ("a LIKE \"x\"", "format language"), ("a =< 1", "<="), ("a == $time.tody", "today"),
    ])
  func suggestions(query: String, part: String) throws {
    let error = try error { () throws(MetadataPredicateError) in _ = try MetadataPredicate(query: query) }
    #expect(error.suggestion?.contains(part) == true, "\(error)")
  }
}
