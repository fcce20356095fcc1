import Foundation
import MetadataPredicates

extension Suite {
  static let predicates = Suite(
    name: "predicates", summary: "predicates and sort keys beside what Foundation has (T-60 to T-64)"
  ) { laboratory, report in
    let files = FileRecord.madeUp(laboratory.settings.nameCount)
    let contests = try PredicateContest.all
    for contest in contests {
      let counts = contest.contenders.map { $0.count(files) }
      if Set(counts).count != 1 { throw BenchmarkFailure("\(contest.title): the contenders select \(counts) files") }
    }
    let cells = contests.flatMap { $0.cells(files) } + SortContest.cells(laboratory.settings.sortedNameCount)
    report.results += try laboratory.measure(cells + HostileText.cells)
    report.targets +=
      contests.flatMap { $0.targets(report) } + [SortContest.target(report), HostileText.target(report)]
  }
}

/// The files for which predicates are evaluated.
struct FileRecord: Sendable, PredicateItem {
  let name: String
  let size: Int

  func value(forAttribute name: String, index: Int) -> MetadataValue {
    switch name {
    case "name": .string(self.name)
    case "size": .integer(Int64(size))
    default: .null
    }
  }

  func answer(_ question: PredicateQuestion) -> PredicateAnswer {
    switch question.attribute {
    case "name": question.answer(name)
    case "size": question.answer(.integer(Int64(size)))
    default: question.answer(.null)
    }
  }

  var wholeValue: MetadataValue { ["name": .string(name), "size": .integer(Int64(size))] }

  private static let words = ["report", "Swift", "IMG", "notes", "archive", "Main", "test", "index", "readme", "data"]
  private static let extensions = ["swift", "txt", "md", "jpg", "h", "json", "png", "o"]

  /// Makes up names as people give them; the same each time.
  static func madeUp(_ count: Int) -> [FileRecord] {
    var random = XorShift(seed: 1)
    return (0..<count).map { number in
      let word = words[Int(random.next()) % words.count]
      let other = words[Int(random.next()) % words.count]
      let ending = extensions[Int(random.next()) % extensions.count]
      return FileRecord(name: "\(word)-\(other)\(number % 1_000).\(ending)", size: Int(random.next()) % 100_000)
    }
  }
}

/// The same without an answer of its own: each question makes a value, as most items do it.
private struct ValueRecord: PredicateItem {
  let file: FileRecord

  func value(forAttribute name: String, index: Int) -> MetadataValue { file.value(forAttribute: name, index: index) }

  var wholeValue: MetadataValue { file.wholeValue }
}

/// How many nanoseconds something takes for each of some things, on a thread of its own.
private func cell(
  _ id: String, _ subject: String, _ group: String, isOurs: Bool, per count: Int, _ body: @escaping @Sendable () -> Int
) -> Cell {
  Cell(id: "predicates/\(id)", subject: subject, group: group, unit: "ns", isOurs: isOurs) { laboratory in
    try laboratory.workers.run(1) { _ in
      let waited = SchedulerWait.ofCallingThread()
      let start = monotonicNanoseconds()
      blackHole(body())
      let duration = Double(monotonicNanoseconds() - start)
      let waitedNow = SchedulerWait.ofCallingThread()
      let disturbance = waited.flatMap { waited in waitedNow.map { Double($0 - waited) / duration } } ?? 0
      return Attempt(value: duration / Double(count), disturbance: disturbance)
    }[0]
  }
}

/// Keeps the optimizer from leaving out values that nothing reads.
@inline(never)
private func blackHole(_ value: Int) {}

/// One way to select files.
private struct Selector: Sendable {
  let id: String
  let title: String
  let isOurs: Bool
  /// Whether a target speaks of it.
  var isMeant = true
  let count: @Sendable ([FileRecord]) -> Int

  /// One of our predicates.
  static func predicate(_ id: String, _ format: String) throws -> Selector {
    let compiled = try MetadataPredicate(format: format).compiled()
    return Selector(id: id, title: format, isOurs: true) { files in
      var count = 0
      for file in files where compiled.matches(file) { count += 1 }
      return count
    }
  }

  /// One of our predicates, for items that make values.
  static func predicateOnValues(_ id: String, _ format: String) throws -> Selector {
    let compiled = try MetadataPredicate(format: format).compiled()
    return Selector(id: id, title: "\(format), on values", isOurs: true, isMeant: false) { files in
      var count = 0
      for file in files where compiled.matches(ValueRecord(file: file)) { count += 1 }
      return count
    }
  }

  /// The solution of a peer.
  static func peer(_ id: String, _ title: String, _ selects: @escaping @Sendable (FileRecord) -> Bool) -> Selector {
    Selector(id: id, title: title, isOurs: false) { files in
      var count = 0
      for file in files where selects(file) { count += 1 }
      return count
    }
  }
}

/// Ways to select the same files, the last of which is the one to beat.
private struct PredicateContest: Sendable {
  let number: Int
  let title: String
  let contenders: [Selector]
  /// How our speed should compare with the peer's.
  let target: Double

  static var all: [PredicateContest] {
    get throws { [try suffix, try substring, try expression, try filter] }
  }

  private static var suffix: PredicateContest {
    get throws {
      let ending = Array(".swift".utf8)
      return PredicateContest(
        number: 60, title: "names that end with .swift",
        contenders: [
          try .predicate("ends-with", "name ENDSWITH '.swift'"), try .predicate("like", "name LIKE '*.swift'"),
          try .predicateOnValues("ends-with-values", "name ENDSWITH '.swift'"),
          .peer("has-suffix", "String.hasSuffix") { $0.name.hasSuffix(".swift") },
          .peer("byte-loop", "a loop over the bytes") { file in
            let bytes = file.name.utf8
            return bytes.count >= ending.count && bytes.suffix(ending.count).elementsEqual(ending)
          },
        ], target: 1 / 1.5)
    }
  }

  private static var substring: PredicateContest {
    get throws {
      PredicateContest(
        number: 61, title: "names with 'swift', without case and marks",
        contenders: [
          try .predicate("contains", "name CONTAINS[cd] 'swift'"),
          .peer("range-of", "range(of:options:)") {
            $0.name.range(of: "swift", options: [.caseInsensitive, .diacriticInsensitive]) != nil
          },
        ], target: 8)
    }
  }

  private static var expression: PredicateContest {
    get throws {
      let pattern = "[a-z]+-.*[0-9]+\\.(swift|md)"
      let expression = try NSRegularExpression(pattern: pattern)
      return PredicateContest(
        number: 62, title: "names that match \(pattern)",
        contenders: [
          try .predicate("matches", "name MATCHES '\(pattern.replacingOccurrences(of: "\\", with: "\\\\"))'"),
          .peer("ns-regular-expression", "NSRegularExpression") { file in
            let range = NSRange(location: 0, length: file.name.utf16.count)
            return expression.firstMatch(in: file.name, options: .anchored, range: range)?.range == range
          },
        ], target: 1)
    }
  }

  private static var filter: PredicateContest {
    get throws {
      let predicate = #Predicate<FileRecord> { $0.size > 50_000 && $0.name.contains("Swift") }
      return PredicateContest(
        number: 64, title: "large files with 'Swift' in their names",
        contenders: [
          try .predicate("filter", "size > 50000 AND name CONTAINS 'Swift'"),
          .peer("macro", "#Predicate") { (try? predicate.evaluate($0)) ?? false },
        ], target: 2)
    }
  }

  func cells(_ files: [FileRecord]) -> [Cell] {
    contenders.map { contender in
      cell(contender.id, contender.title, title, isOurs: contender.isOurs, per: files.count) { contender.count(files) }
    }
  }

  func targets(_ report: Report) -> [TargetLine] {
    guard let peer = contenders.last else { return [] }
    return contenders.filter { $0.isOurs && $0.isMeant }.map { ours in
      TargetLine(
        "T-\(number) \(ours.id)", "\(ours.title), speed of \(peer.title)",
        ratio: report.speed("predicates/\(ours.id)", comparedWith: "predicates/\(peer.id)"), target: target)
    }
  }
}

/// Sorting names as people expect.
private enum SortContest {
  private static let group = "sorting names as people expect, for each name"

  static func cells(_ count: Int) -> [Cell] {
    let names = FileRecord.madeUp(count).map(\.name)
    return [
      cell("sort-keys", "keys, made and compared", group, isOurs: true, per: count) {
        let keys = names.enumerated().map { (key: CollationKey($0.element), index: $0.offset) }
        return keys.sorted { $0.key < $1.key }.first?.index ?? 0
      },
      cell("sort-foundation", "localizedStandardCompare", group, isOurs: false, per: count) {
        names.sorted { $0.localizedStandardCompare($1) == .orderedAscending }.count
      },
    ]
  }

  static func target(_ report: Report) -> TargetLine {
    TargetLine(
      "T-63", "first sort by keys, speed of localizedStandardCompare",
      ratio: report.speed("predicates/sort-keys", comparedWith: "predicates/sort-foundation"), target: 10)
  }
}

/// A text for which a machine that tries one way after the other would need forever.
private enum HostileText {
  private static let lengths = [10_000, 20_000]

  static var cells: [Cell] {
    let compiled = try? MetadataPredicate(format: "SELF MATCHES '(a+)+$'").compiled()
    return lengths.map { length in
      let text = MetadataValue.string(String(repeating: "a", count: length) + "!é")
      return cell("hostile-\(length)", "(a+)+$ on \(length) letters", "hostile expressions", isOurs: true, per: 1) {
        compiled?.matches(text) == true ? 1 : 0
      }
    }
  }

  static func target(_ report: Report) -> TargetLine {
    TargetLine(
      "T-62 hostile", "a hostile expression on twice the text, time of once",
      ratio: report.speed("predicates/hostile-\(lengths[0])", comparedWith: "predicates/hostile-\(lengths[1])"),
      target: 2.5, higherIsBetter: false)
  }
}
