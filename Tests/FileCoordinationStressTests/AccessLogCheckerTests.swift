import Testing

@Suite("The checker of stress logs finds what it has to find")
struct AccessLogCheckerTests {
  static func record(
    _ number: Int, _ items: [AccessRecord.Item], from start: Int64, to end: Int64, purpose: String? = nil,
    lineage: Int? = nil
  ) -> AccessRecord {
    AccessRecord(
      actor: "actor \(number)", items: items, purpose: purpose ?? "\(number)", lineage: lineage ?? number,
      order: number,
      requested: 0, granted: start, released: end)
  }

  @Test(
    "Conflicting accesses at the same time are found",
    arguments: [
      (AccessRecord.Item("/d/f", .write), AccessRecord.Item("/d/f", .write)),
      (AccessRecord.Item("/d/f", .read), AccessRecord.Item("/d/f", .write)),
      (AccessRecord.Item("/d", .deepWrite), AccessRecord.Item("/d/x/f", .read)),
      (AccessRecord.Item("/d/x/f", .read), AccessRecord.Item("/d", .deepWrite)),
      (AccessRecord.Item("/d", .deepWrite), AccessRecord.Item("/d/x", .deepWrite)),
    ])
  func overlap(first: AccessRecord.Item, second: AccessRecord.Item) {
    let records = [Self.record(1, [first], from: 10, to: 20), Self.record(2, [second], from: 19, to: 30)]
    #expect(AccessLogChecker.overlaps(in: records).count == 1)
    #expect(AccessLogChecker.overlaps(in: records.reversed()).count == 1)
    let apart = [Self.record(1, [first], from: 10, to: 19), Self.record(2, [second], from: 19, to: 30)]
    #expect(AccessLogChecker.overlaps(in: apart).isEmpty)
  }

  @Test(
    "Accesses that don't conflict may last at the same time",
    arguments: [
      (AccessRecord.Item("/d/f", .read), AccessRecord.Item("/d/f", .read)),
      (AccessRecord.Item("/d", .write), AccessRecord.Item("/d/f", .write)),
      (AccessRecord.Item("/d", .read), AccessRecord.Item("/d/f", .deepWrite)),
      (AccessRecord.Item("/d", .deepWrite), AccessRecord.Item("/dd/f", .write)),
    ])
  func noConflict(first: AccessRecord.Item, second: AccessRecord.Item) {
    let records = [Self.record(1, [first], from: 10, to: 20), Self.record(2, [second], from: 11, to: 30)]
    #expect(AccessLogChecker.overlaps(in: records).isEmpty)
    #expect(AccessLogChecker.overtakes(in: records.reversed()).isEmpty)
  }

  @Test("Accesses of one purpose, and nested ones, may overlap")
  func exempt() {
    let item = AccessRecord.Item("/f", .write)
    let purpose = [1, 2].map { Self.record($0, [item], from: 10, to: 20, purpose: "same") }
    let lineage = [1, 2].map { Self.record($0, [item], from: 10, to: 20, lineage: 7) }
    #expect(AccessLogChecker.overlaps(in: purpose).isEmpty)
    #expect(AccessLogChecker.overlaps(in: lineage).isEmpty)
  }

  @Test("An access that overtakes an earlier request is found, and one that doesn't isn't")
  func overtaking() {
    // reader 1  [---]
    // writer 2   ········[--]       // asked before reader 3, and was granted after it
    // reader 3    ··[--]
    let item = (read: AccessRecord.Item("/f", .read), write: AccessRecord.Item("/f", .write))
    let unfair = [
      Self.record(1, [item.read], from: 1, to: 5), Self.record(2, [item.write], from: 10, to: 13),
      Self.record(3, [item.read], from: 6, to: 9),
    ]
    #expect(AccessLogChecker.overtakes(in: unfair).count == 1)
    #expect(AccessLogChecker.overlaps(in: unfair).isEmpty)
    let fair = [
      Self.record(1, [item.read], from: 1, to: 5), Self.record(2, [item.write], from: 6, to: 9),
      Self.record(3, [item.read], from: 10, to: 13),
    ]
    #expect(AccessLogChecker.overtakes(in: fair).isEmpty)
  }

  @Test("A deep writer that overtakes an access below it is found, and the reverse")
  func deepOvertaking() {
    let inner = AccessRecord.Item("/d/x/f", .read), outer = AccessRecord.Item("/d", .deepWrite)
    for (early, late) in [(inner, outer), (outer, inner)] {
      let records = [Self.record(1, [early], from: 10, to: 13), Self.record(2, [late], from: 6, to: 9)]
      #expect(AccessLogChecker.overtakes(in: records).count == 1)
    }
  }
}
