import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Steps of undo, as a value")
struct UndoStepsTests {
  /// The same with lists that are never reused.
  private struct Reference {
    let levelsMax: Int
    var undone: [(contents: Int, count: Int)] = []
    var redone: [(contents: Int, count: Int)] = []

    mutating func note(_ former: Int?) {
      if let former {
        redone = []
        undone = Array((undone + [(former, 1)]).suffix(levelsMax))
      } else if !undone.isEmpty {
        undone[undone.count - 1].count += 1
      }
    }

    mutating func step(_ direction: UndoDirection, _ contents: inout Int) -> Int? {
      guard let taken = direction == .undo ? undone.popLast() : redone.popLast() else { return nil }
      if direction == .undo { redone.append((contents, taken.count)) } else { undone.append((contents, taken.count)) }
      contents = taken.contents
      return taken.count
    }
  }

  @Test(
    "CD-11: Any edits, undos and redos give what plain lists give, also when the oldest steps have gone",
    arguments: Budget.seeds(normal: 60, long: 2_000))
  func anyOrder(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let levelsMax = Int.random(in: 1...6, using: &random)
    var steps = UndoSteps<Int>(DocumentUndoPolicy(levelsMax: levelsMax, joinInterval: .seconds(1)))
    var reference = Reference(levelsMax: levelsMax)
    var (contents, expected, now) = (0, 0, MonotonicTime(nanoseconds: 0))
    var undoCount = 0
    for number in 1...200 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<3:
        let count = steps.step(.undo, &contents)
        #expect(count == reference.step(.undo, &expected), "seed \(seed)")
        undoCount += count == nil ? 0 : 1
      case 3..<5: #expect(steps.step(.redo, &contents) == reference.step(.redo, &expected), "seed \(seed)")
      case 5 where Int.random(in: 0..<10, using: &random) == 0:
        steps.removeAll()
        reference = Reference(levelsMax: levelsMax)
      default:
        // Half of them follow the one before fast enough to belong to its step.
        now = now.advanced(by: .milliseconds(Bool.random(using: &random) ? 10 : 2_000))
        let former = steps.keepsContents(at: now) ? contents : nil
        contents = number
        expected = number
        steps.note(former, at: now)
        reference.note(former)
      }
      #expect(contents == expected && steps.canUndo == !reference.undone.isEmpty, "seed \(seed)")
      #expect(steps.canRedo == !reference.redone.isEmpty, "seed \(seed)")
    }
    #expect(undoCount > 0)
  }

  @Test("CD-11: Without a policy no step is kept; one level at least is, whatever the policy says")
  func policies() {
    var steps = UndoSteps<Int>(nil)
    let now = MonotonicTime(nanoseconds: 0)
    #expect(!steps.keepsContents(at: now))
    steps.note(1, at: now)
    #expect(!steps.canUndo)
    var policy = DocumentUndoPolicy()
    policy.levelsMax = 0
    var one = UndoSteps<Int>(policy)
    for number in 0..<3 { one.note(number, at: now) }
    var contents = 3
    #expect(one.step(.undo, &contents) == 1 && contents == 2)
    #expect(one.step(.undo, &contents) == nil)
  }

  @Test("T-81: Contents that can't be gone back to any more are released")
  func release() {
    final class Contents: Sendable {}
    var steps = UndoSteps<Contents>(DocumentUndoPolicy(levelsMax: 2))
    let now = MonotonicTime(nanoseconds: 0)
    var (first, last) = (Contents(), Contents())
    weak let formerFirst = first
    weak let formerLast = last
    steps.note(first, at: now)
    first = Contents()
    #expect(formerFirst != nil)
    for _ in 0..<2 { steps.note(Contents(), at: now) }
    #expect(formerFirst == nil)
    steps.note(last, at: now)
    last = Contents()
    #expect(formerLast != nil)
    steps.removeAll()
    #expect(formerLast == nil)
  }

  @Test("T-81: Once there are as many steps as may be, another one needs no memory")
  func memory() {
    var steps = UndoSteps<Int>(DocumentUndoPolicy(levelsMax: 10))
    let now = MonotonicTime(nanoseconds: 0)
    func places() -> [UnsafeRawPointer?] {
      [
        steps.undone.contents.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) },
        steps.undone.editCounts.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) },
      ]
    }
    for number in 0..<10 { steps.note(number, at: now) }
    let before = places()
    for number in 10..<1_000 { steps.note(number, at: now) }
    #expect(places() == before && steps.undone.contents.count == 10)
  }
}
