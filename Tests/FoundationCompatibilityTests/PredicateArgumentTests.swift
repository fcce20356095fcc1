import Foundation
import FoundationCompatibility
import Testing

@Suite("Arguments of formats, comparators, and notifications as a sequence", .timeLimit(.minutes(4)))
struct PredicateArgumentTests {
  private static let identifier = UUID()

  @Test("Swift's values are arguments as they are")
  func values() {
    let item: [String: Any] = [
      "name": "a", "size": 4, "date": Date(timeIntervalSinceReferenceDate: 60), "url": URL(fileURLWithPath: "/d/f"),
      "id": Self.identifier, "data": Data([1, 2]), "tags": ["x", "y"],
    ]
    let table: [(NSPredicate, Bool)] = [
      (NSPredicate(format: "name IN %@", ["a", "b"]), true), (NSPredicate(format: "name IN %@", ["b"]), false),
      (NSPredicate(format: "size IN %@", [3, 4]), true), (NSPredicate(format: "size IN %@", [Int8(4)]), true),
      (NSPredicate(format: "name IN %@", Set(["a"])), true), (NSPredicate(format: "size IN %@", Set([1, 2])), false),
      (NSPredicate(format: "date == %@", Date(timeIntervalSinceReferenceDate: 60)), true),
      (NSPredicate(format: "date < %@ AND date > %@", Date(), Date.distantPast), true),
      (NSPredicate(format: "url == %@", URL(fileURLWithPath: "/d/f")), true),
      (NSPredicate(format: "id == %@", Self.identifier), true),
      (NSPredicate(format: "data == %@", Data([1, 2])), true),
      (NSPredicate(format: "tags == %@ AND name IN %@", ["x", "y"], ["key": "a"]), true),
      (NSPredicate(format: "size BETWEEN %@", [1, 4.5]), true),
      (NSPredicate(format: "date BETWEEN %@", [Date.distantPast, Date()]), true),
      (NSPredicate(format: "tags == %@", [String]()), false),
    ]
    for (predicate, result) in table { #expect(predicate.evaluate(with: item) == result, "\(predicate.description)") }
  }

  @Test("A list of C's arguments is read by the format")
  func lists() {
    func predicate(_ format: String, _ arguments: any CVarArg...) -> NSPredicate {
      withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
    }
    let item: [String: Any] = ["name": "a", "size": 4, "ratio": 0.1, "big": UInt64.max / 4, "low": -7]
    let table: [(NSPredicate, Bool)] = [
      (predicate("%K == %@", "name", "a"), true), (predicate("name IN %@ AND size == %d", ["a"], 4), true),
      (predicate("ratio == %f AND name == %@", 0.1, "a"), true), (predicate("ratio < %g", Float(0.25)), true),
      (predicate("big == %llu AND low == %ld", UInt64.max / 4, -7), true), (predicate("low == %d", Int32(-7)), true),
      (predicate("low == %hd AND size == %x", Int16(-7), 4), true),
      (predicate("size < %@ AND name == '%d'", NSNumber(value: 5)), false), (predicate("size == 4"), true),
      (
        predicate(
          "%@ == 1 AND %f == 2.5 AND %@ == 3 AND %f == 4.5 AND %d == 5 AND %d == 6 AND %d == 7 AND %d == 8",
          NSNumber(value: 1), 2.5, NSNumber(value: 3), 4.5, 5, 6, 7, 8), true
      ),
    ]
    for (predicate, result) in table { #expect(predicate.evaluate(with: item) == result, "\(predicate.description)") }
  }

  @Test("N-3: A comparator orders by the program's rule, also the results of a query")
  func comparators() async throws {
    let byLength = NSSortDescriptor(key: "kMDItemFSName", ascending: false) { left, right in
      let (left, right) = ((left as? String ?? "").count, (right as? String ?? "").count)
      return left < right ? .orderedAscending : (left > right ? .orderedDescending : .orderedSame)
    }
    #expect(byLength.key == "kMDItemFSName")
    let names = ["bb.txt", "a.txt", "cccc.txt"]
    let items = names.map { ["kMDItemFSName": $0] } + [[:]]
    let sorted = NSArray(array: items).sortedArray(using: [byLength]).map {
      ($0 as? [String: Any])?["kMDItemFSName"] as? String
    }
    #expect(sorted == ["cccc.txt", "bb.txt", "a.txt", nil])
    let reversed = try #require(byLength.reversedSortDescriptor as? NSSortDescriptor)
    #expect(
      reversed.compare(items[0], to: items[1]) == .orderedDescending && byLength != reversed && byLength == byLength)
    let numbers = NSArray(array: [3, 1, 2]).sortedArray(using: [
      NSSortDescriptor(key: nil, ascending: true) {
        ($0 as? Int ?? 0) < ($1 as? Int ?? 0) ? .orderedDescending : .orderedAscending
      }
    ])
    #expect(numbers as? [Int] == [3, 2, 1])

    try await withSandbox { box in
      for name in names { _ = try box.write(name) }
      let query = NSMetadataQuery()
      query.predicate = NSPredicate(format: "%K LIKE '*.txt'", "kMDItemFSName")
      query.searchScopes = [box.root]
      query.sortDescriptors = [byLength]
      query.operationQueue = OperationQueue()
      let gathered = NotificationCenter.default.notifications(named: .NSMetadataQueryDidFinishGathering, object: query)
      query.start()
      for await notification in gathered {
        #expect(notification.object as? NSMetadataQuery === query)
        break
      }
      query.stop()
      let found = query.results.compactMap { ($0 as? NSMetadataItem)?.value(forAttribute: "kMDItemFSName") as? String }
      #expect(found == ["cccc.txt", "bb.txt", "a.txt"])
    }
  }

  @Test("Notifications come in order, those of other objects don't, and a second loop begins with itself")
  func notifications() async {
    let (name, center, poster) = (Notification.Name("n"), NotificationCenter(), NSObject())
    let sequence = center.notifications(named: name, object: poster)
    for number in 1...3 {
      center.post(name: name, object: poster, userInfo: ["n": number])
      center.post(name: name, object: NSObject(), userInfo: ["n": 0])
      center.post(name: Notification.Name("m"), object: poster, userInfo: ["n": 0])
    }
    var first = sequence.makeAsyncIterator()
    var second = sequence.makeAsyncIterator()
    center.post(name: name, object: poster, userInfo: ["n": 4])
    var numbers: [Int?] = []
    for _ in 1...4 { numbers.append(await first.next()?.userInfo?["n"] as? Int) }
    #expect(numbers == [1, 2, 3, 4])
    #expect(await second.next()?.userInfo?["n"] as? Int == 4)
  }

  @Test("A reader that's too far behind loses the oldest notifications, and cancelling ends a loop")
  func bounds() async {
    let (name, center) = (Notification.Name("n"), NotificationCenter())
    let sequence = center.notifications(named: name)
    let count = NotificationCenter.Notifications.bufferedCountMax + 5
    for number in 1...count { center.post(name: name, object: nil, userInfo: ["n": number]) }
    var iterator = sequence.makeAsyncIterator()
    #expect(await iterator.next()?.userInfo?["n"] as? Int == 6)
    let task = Task {
      for await _ in center.notifications(named: name) {}
      return true
    }
    task.cancel()
    #expect(await task.value)
  }
}
