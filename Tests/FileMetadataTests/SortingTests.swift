import FileMetadata
import MetadataPredicates
import Testing

@Suite("The order of results")
struct SortingTests {
  private func sorted(
    _ rows: [[MetadataValue]], by orders: [MetadataSortDescriptor.Order]
  ) -> [UInt32] {
    let order = ResultOrder(orders.enumerated().map { MetadataSortDescriptor("a\($0.offset)", $0.element) })
    let entries = rows.enumerated().map { ResultEntry(UInt32($0.offset), SortKey($0.element)) }
    return OrderedList(order, of: entries).elements.map(\.number)
  }

  @Test("R30: the second descriptor decides ties of the first, and the order of discovery those of all")
  func ties() {
    let rows: [[MetadataValue]] = [["b", 2], ["a", 2], ["b", 1], ["a", 2]]
    #expect(sorted(rows, by: [.ascending, .ascending]) == [1, 3, 2, 0])
    #expect(sorted(rows, by: [.ascending, .descending]) == [1, 3, 0, 2])
    #expect(sorted(rows, by: [.descending, .ascending]) == [2, 0, 1, 3])
  }

  @Test("R31, R33: A file without a value comes first, and last when the order is descending")
  func missing() {
    let rows: [[MetadataValue]] = [[3], [nil], [1], [.real(.nan)]]
    #expect(sorted(rows, by: [.ascending]) == [1, 3, 2, 0])
    #expect(sorted(rows, by: [.descending]) == [0, 2, 1, 3])
  }

  @Test("R32: names are sorted as people expect")
  func names() {
    #expect(sorted([["b1"], ["A10"], ["a2"]], by: [.ascending]) == [2, 1, 0])
  }

  @Test("Without descriptors results stay in the order in which they were found")
  func unsorted() {
    #expect(sorted([[], [], []], by: []) == [0, 1, 2])
  }

  @Test("Values of all kinds are in one order without circles, whole numbers and others by their digits")
  func kinds() {
    let values: [MetadataValue] = [
      .null, .integer(.min), .real(-0.5), .bool(false), .integer(1), .real(1.5),
      .date(MetadataDate(secondsSince2001: 2)),
      .integer(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .real(9_007_199_254_740_994),
      .integer(.max), .real(0x1p63), .real(.infinity), "", "a", .data([]), .data([0]), .data([1]), [], ["a"], ["b"],
      .set(["c", "b"]),
    ]
    let fields = values.map(SortField.init)
    for (position, left) in fields.enumerated() {
      for (other, right) in fields.enumerated() {
        // `["b"]` comes before the set of `b` and `c`.
        #expect((left < right) == (position < other), "\(values[position]) and \(values[other])")
      }
    }
    #expect(SortField(["x": 1]) == .missing)
  }
}
