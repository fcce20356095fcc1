import KeyValueReplicas
import Testing

@Suite("Merging two values of a key")
struct MergePolicyTests {
  typealias Result = MergePolicy.Result

  private func merge(
    _ policy: MergePolicy, _ base: StoredValue?, _ mine: StoredValue?, _ theirs: StoredValue?, isMineLater: Bool = true
  ) -> Result {
    policy.merge(base: base, mine: mine, theirs: theirs, isMineLater: isMineLater)
  }

  @Test("CK-17: The later write wins as a whole, also dictionaries and removals")
  func lastWriter() {
    let (mine, theirs) = (StoredValue.dictionary(["a": .integer(1)]), StoredValue.dictionary(["b": .integer(2)]))
    #expect(merge(.lastWriter, nil, mine, theirs) == .mine)
    #expect(merge(.lastWriter, nil, mine, theirs, isMineLater: false) == .theirs)
    #expect(merge(.lastWriter, mine, nil, theirs) == .mine)
    #expect(merge(.lastWriter, mine, mine, nil, isMineLater: false) == .theirs)
  }

  @Test("The larger or smaller of two numbers, dates or strings; of others the later one")
  func extremes() {
    #expect(merge(.maximum, nil, .integer(3), .real(2.5), isMineLater: false) == .mine)
    #expect(merge(.maximum, nil, .date(1), .date(2)) == .theirs)
    #expect(merge(.minimum, nil, .string("b"), .string("a")) == .theirs)
    #expect(merge(.minimum, nil, .string("b"), .integer(1)) == .mine)
    #expect(merge(.maximum, nil, .real(.nan), .integer(1), isMineLater: false) == .theirs)
    #expect(merge(.maximum, .integer(9), nil, .integer(1)) == .mine)
  }

  @Test("Sets lose what either has removed and have what either has added, each once")
  func union() {
    func array(_ numbers: Int64...) -> StoredValue { .array(numbers.map { .integer($0) }) }
    #expect(merge(.union, array(1, 2, 3), array(1, 2, 4), array(2, 3, 5)) == .merged(array(2, 5, 4)))
    #expect(merge(.union, nil, array(1), array(1, 2)) == .theirs)
    #expect(merge(.union, nil, array(1), .integer(2)) == .mine)
  }

  @Test("Counters have both changes; numbers that are too large for a sum are decided by the later write")
  func counter() {
    #expect(merge(.counter, .integer(10), .integer(12), .integer(7)) == .merged(.integer(9)))
    #expect(merge(.counter, nil, .integer(2), .integer(7)) == .merged(.integer(9)))
    #expect(merge(.counter, .integer(1), .real(1.5), .integer(3)) == .merged(.real(3.5)))
    #expect(merge(.counter, .integer(0), .integer(.max), .integer(1)) == .mine)
    #expect(merge(.counter, .integer(.min), .integer(.max), .integer(1), isMineLater: false) == .theirs)
  }

  @Test("A program's own function gets the common value as well")
  func custom() {
    let policy = MergePolicy.custom { base, mine, theirs in base == nil ? mine : theirs }
    #expect(merge(policy, nil, .integer(1), .integer(2), isMineLater: false) == .mine)
    #expect(merge(policy, .integer(0), .integer(1), .integer(2)) == .theirs)
    #expect(merge(.custom { _, _, _ in nil }, nil, .integer(1), .integer(2)) == .merged(nil))
  }
}
