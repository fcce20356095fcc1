import Foundation
import FoundationCompatibility
import MetadataPredicates
import Testing

private let nameKey = "kMDItemFSName"

@Suite("Apple's predicates and sort descriptors", .timeLimit(.minutes(4)))
struct FoundationPredicateTests {
  @Test("N-2: A format works with evaluate(with:), in NSArray.filtered and in a compound predicate")
  func formats() {
    let names = NSPredicate(format: "%K LIKE %@", nameKey, "*.txt")
    let items: [[String: Any]] = [[nameKey: "a.txt", "size": 3], [nameKey: "b.pdf", "size": 4], ["size": 5]]
    #expect(items.map { names.evaluate(with: $0) } == [true, false, false])
    #expect(NSArray(array: items).filtered(using: names).count == 1)
    let sizes = NSPredicate(format: "size > %d", 3)
    let either = NSCompoundPredicate(orPredicateWithSubpredicates: [names, sizes])
    #expect(items.map { either.evaluate(with: $0) } == [true, true, true])
    let both = NSCompoundPredicate(
      andPredicateWithSubpredicates: [names, NSCompoundPredicate(notPredicateWithSubpredicate: sizes)])
    #expect(items.map { both.evaluate(with: $0) } == [true, false, false])
    #expect(NSPredicate(format: "SELF BEGINSWITH[cd] 'É'").evaluate(with: "etude"))
    #expect(NSPredicate(format: "self == %@", "x").evaluate(with: "x" as NSString))
  }

  @Test(
    "N-2: Arguments of each kind that programs pass",
    arguments: [
      (NSPredicate(format: "date < %@", Date(timeIntervalSince1970: 2e9) as NSDate), true),
      (NSPredicate(format: "size == %@", NSNumber(value: 4)), true),
      (NSPredicate(format: "size == %ld && ratio > %f", 4, 0.25), true),
      (NSPredicate(format: "flag == YES"), true),
      (NSPredicate(format: "flag == %@", NSNumber(value: false)), false),
      (NSPredicate(format: "url == %@", URL(fileURLWithPath: "/d/f") as NSURL), true),
      (NSPredicate(format: "name IN %@", ["a", "b"] as NSArray), true),
      (NSPredicate(format: "name IN %@", argumentArray: [["c"]]), false),
      (NSPredicate(format: "%K == %@", argumentArray: ["name", "a"]), true),
      (NSPredicate(format: "missing == nil"), true),
      (NSPredicate(format: "inner.deep == 7"), true),
      (NSPredicate(format: "url.lastPathComponent == 'f'"), true),
      (NSPredicate(format: "url.pathComponents.@count == 3"), true),
      (NSPredicate(format: "name == '*'"), false),
      (NSPredicate(format: "name LIKE[CD] %@", "Á"), true),
      (NSPredicate(format: "name BEGINSWITH[Cd] %@", "Á"), true),
      (NSPredicate(format: "name ==[C] %@", "Á"), false),
      (NSPredicate(format: "%K.URLByDeletingLastPathComponent.path == %@", "url", "/d"), true),
      (NSPredicate(format: "%K.URLByDeletingLastPathComponent.path == %@", "url", "/"), false),
    ].map(Evaluated.init))
  func arguments(_ example: Evaluated) {
    let item: [String: Any] = [
      "date": Date(timeIntervalSince1970: 1e9), "size": UInt8(4), "ratio": Float(0.5), "flag": true,
      "url": URL(fileURLWithPath: "/d/f"), "name": "a", "inner": ["deep": 7],
    ]
    #expect(example.predicate.evaluate(with: item) == example.result, "\(example.predicate.description)")
    #expect(example.predicate.evaluate(with: item as NSDictionary) == example.result)
  }

  @Test("N-2: The format is printed, parses again, and tells predicates apart")
  func printing() {
    let predicate = NSPredicate(format: "a == 1 AND b CONTAINS[c] %@", "x")
    let again = NSPredicate(format: predicate.description)
    #expect(again == predicate)
    #expect(again.hash == predicate.hash)
    #expect(NSPredicate(format: "a == 2") != predicate)
    #expect((predicate.copy() as? NSPredicate) == predicate)
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])
    #expect(compound.subpredicates.first === predicate)
  }

  @Test("Spotlight's strings are read, and what can't be read is nil")
  func spotlight() {
    let predicate = NSPredicate(fromMetadataQueryString: #"kMDItemFSName == "*.TXT"c && kMDItemFSSize > 10"#)
    #expect(predicate?.evaluate(with: [nameKey: "a.txt", "kMDItemFSSize": 11] as [String: Any]) == true)
    #expect(NSPredicate(fromMetadataQueryString: "kMDItemFSName ==") == nil)
  }

  @Test("Variables get values, also inside of compound predicates and for one evaluation")
  func variables() {
    let template = NSPredicate(format: "size > $limit")
    #expect(template.withSubstitutionVariables(["limit": 3]).evaluate(with: ["size": 4]))
    #expect(template.evaluate(with: ["size": 4], substitutionVariables: ["limit": 5]) == false)
    #expect(template.evaluate(with: ["size": 4]) == false)
    let compound = NSCompoundPredicate(notPredicateWithSubpredicate: template)
    #expect(compound.withSubstitutionVariables(["limit": 5]).evaluate(with: ["size": 4]))
  }

  @Test("A mistake is thrown with its place by parsing(_:), and ends the program in init(format:)")
  func mistakes() async {
    let error = #expect(throws: MetadataPredicateError.self) { try NSPredicate.parsing("name LIKE") }
    #expect(error?.location?.column == 10)
    #expect(throws: MetadataPredicateError.self) {
      try NSPredicate.parsing("name == %@ OR name == %@", arguments: ["a"])
    }
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "name LIKE") }
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "name == %@") }
  }

  @Test(
    "Predicates of formats are archived, with their values",
    arguments: [
      NSPredicate(format: "size > %d AND name BEGINSWITH[cd] %@", 3, "é\"x"),
      NSPredicate(format: "date < %@", NSDate(timeIntervalSinceReferenceDate: 1.5)),
      NSPredicate(format: "tags CONTAINS $tag OR ANY sizes IN {1, 2.5}"),
      NSPredicate(fromMetadataQueryString: #"kMDItemFSName == "*.txt"cdw"#),
    ].compactMap { $0.map { Evaluated($0, true) } })
  func archiving(example: Evaluated) throws {
    let archive = try NSKeyedArchiver.archivedData(withRootObject: example.predicate, requiringSecureCoding: true)
    let copy = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: archive) as? NSPredicate
    #expect(copy == example.predicate && copy?.description == example.predicate.description)
  }

  @Test(
    "An archive that somebody else wrote gives a predicate within the standard limits, and none beyond them",
    arguments: [("(", 20, true), ("(", 101, false), ("NOT ", 50, true), ("NOT ", 300, false), ("a ==", 0, false)])
  func forgedArchive(prefix: String, count: Int, isRead: Bool) throws {
    let closing = prefix == "(" ? ")" : ""
    let core = count > 0 ? "a == 1" : prefix
    // The class in the archive has to be that of the forged tree.
    let placeholder = prefix == "NOT " ? "NOT NOT placeholder == 1" : "placeholder == 1"
    let format = String(repeating: prefix, count: count) + core + String(repeating: closing, count: count)
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    archiver.outputFormat = .xml
    archiver.encode(NSPredicate(format: placeholder), forKey: NSKeyedArchiveRootObjectKey)
    archiver.finishEncoding()
    let archive = String(decoding: archiver.encodedData, as: UTF8.self)
    let forged = archive.replacingOccurrences(of: "placeholder == 1", with: format)
    #expect(forged != archive)
    let copy = try? NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSPredicate.self], from: Data(forged.utf8))
    #expect((copy as? NSPredicate)?.evaluate(with: ["a": 1]) == (isRead ? true : nil))
  }

  @Test("Sort descriptors with keys are archived")
  func archivingOrder() throws {
    for descriptor in [NSSortDescriptor(key: "a.b", ascending: false), NSSortDescriptor(key: nil, ascending: true)] {
      let archive = try NSKeyedArchiver.archivedData(withRootObject: descriptor, requiringSecureCoding: true)
      let copy =
        try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSSortDescriptor.self], from: archive) as? NSSortDescriptor
      #expect(copy == descriptor && copy?.key == descriptor.key)
    }
  }

  @Test("N-3: Keys order dictionaries, in both directions, and missing values come first")
  func sorting() {
    let items = [["n": 2, "s": "b"], ["n": 1, "s": "c"], ["s": "a"], ["n": 2, "s": "a"]] as [[String: Any]]
    let byNumber = NSSortDescriptor(key: "n", ascending: true)
    let byText = NSSortDescriptor(key: "s", ascending: false)
    #expect(byNumber.key == "n")
    #expect(byNumber.ascending)
    let sorted = NSArray(array: items).sortedArray(using: [byNumber, byText])
    let names = sorted.compactMap { ($0 as? [String: Any])?["s"] as? String }
    #expect(names == ["a", "c", "b", "a"])
    #expect(byText.compare(items[0], to: items[1]) == .orderedDescending)
    let reversed = byNumber.reversedSortDescriptor as? NSSortDescriptor
    #expect(reversed?.compare(items[0], to: items[1]) == .orderedAscending)
    let itself = NSSortDescriptor(key: nil, ascending: true)
    #expect(NSArray(array: ["b", "a"]).sortedArray(using: [itself]) as? [String] == ["a", "b"])
    #expect(NSSortDescriptor(keyPath: \String.count, ascending: true).key == nil)
  }
}

/// A predicate and its result for the item of the test.
struct Evaluated: @unchecked Sendable, CustomTestStringConvertible {
  let predicate: NSPredicate
  let result: Bool
  var testDescription: String { predicate.description }

  init(_ predicate: NSPredicate, _ result: Bool) {
    self.predicate = predicate
    self.result = result
  }
}
