import FileMetadata
import SeededRandom
import TestSupport
import Testing

@Suite("Exact differences of results")
struct ListDifferenceTests {
  /// Changes a list and checks everything that a difference promises.
  private func check(_ old: [Note], _ new: [Note], touched: Set<Int>, capacity: Int = 4) -> ListDifference<Note> {
    let before = Dictionary(uniqueKeysWithValues: old.map { ($0.name, $0) })
    let after = Dictionary(uniqueKeysWithValues: new.map { ($0.name, $0) })
    let names = touched.union(before.keys).union(after.keys).sorted().filter { name in
      before[name] != after[name] || (touched.contains(name) && before[name] != nil)
    }
    var list = OrderedList(NoteOrder(), of: old, capacity: capacity)
    let oldList = list.elements
    let difference = list.apply(names.map { ListUpdate(old: before[$0], new: after[$0]) })
    let newList = new.sorted(by: NoteOrder().precedes)
    #expect(list.elements == newList)
    #expect(list.violations == [])
    #expect(difference.applied(to: oldList) == newList)
    #expect(difference.removed.allSatisfy { oldList[$0.position] == $0.element && after[$0.element.name] == nil })
    #expect(difference.added.allSatisfy { newList[$0.position] == $0.element && before[$0.element.name] == nil })
    #expect(
      difference.changed.allSatisfy { oldList[$0.oldPosition] == $0.old && newList[$0.newPosition] == $0.new })
    let told =
      difference.removed.map(\.element.name) + difference.added.map(\.element.name) + difference.changed.map(\.old.name)
    #expect(told.sorted() == names)
    return difference
  }

  /// Every list of some notes with one of two keys or absent.
  private static func lists(_ count: Int) -> [[Note]] {
    var lists: [[Note]] = [[]]
    for name in 0..<count {
      lists = lists.flatMap { list in [list] + (0..<2).map { list + [Note(name: name, key: $0)] } }
    }
    return lists
  }

  @Test("R14, R17: each change between any two small lists is told once, and leads from one to the other")
  func exhaustive() async {
    await LongRun.run { [self] in
      for old in Self.lists(4) {
        for new in Self.lists(4) {
          for touched in [[], [1], [0, 1, 2, 3]] as [Set<Int>] { _ = check(old, new, touched: touched) }
        }
      }
    }
  }

  @Test("Many new elements at once are told as if they had come one by one", arguments: [0, 1, 100, 500])
  func growth(count: Int) {
    var random = SplitMix(seed: UInt64(count))
    let old = (0..<count).map { Note(name: $0, key: random.below(50)) }
    let new = old + (count..<(count + 60)).map { Note(name: $0, key: random.below(50)) }
    let difference = check(old, new, touched: [])
    #expect(difference.added.count == 60 && difference.changed.isEmpty && difference.removed.isEmpty)
  }

  @Test(
    "Many new elements behind all others are told as if they had come one by one, and a copy stays as it was",
    arguments: [0, 1, 5, 100, 500])
  func growthBehind(count: Int) {
    let old = (0..<count).map { Note(name: $0, key: 0) }
    let difference = check(old, old + (count..<(count + 60)).map { Note(name: $0, key: 1) }, touched: [])
    #expect(difference.added.map(\.position) == Array(count..<(count + 60)))
    var list = OrderedList(NoteOrder(), of: old, capacity: 4)
    let copy = list
    _ = list.apply((count..<(count + 60)).map { ListUpdate(old: nil, new: Note(name: $0, key: 1)) })
    for name in 0..<(count + 60) { list.remove(Note(name: name, key: name < count ? 0 : 1)) }
    #expect(list.count == 0)
    #expect(copy.elements == old && copy.violations == [])
  }

  @Test("No more elements move than have to, as long as only named ones may", arguments: 0..<40)
  func fewMoves(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let old = (0..<7).map { Note(name: $0, key: random.below(4)) }
    var new = old
    var touched: Set<Int> = []
    for _ in 0..<3 {
      let name = random.below(7)
      touched.insert(name)
      new[name].key = random.below(4)
    }
    let difference = check(old, new, touched: touched)
    let oldOrder = old.sorted(by: NoteOrder().precedes).map(\.name)
    let newOrder = new.sorted(by: NoteOrder().precedes).map(\.name)
    // All sets of touched elements: the smallest one without which both orders are the same.
    let least = (0..<(1 << 7)).map { bits in Set((0..<7).filter { bits >> $0 & 1 == 1 }) }
      .filter { $0.isSubset(of: touched) }
      .filter { moving in
        oldOrder.filter { !moving.contains($0) } == newOrder.filter { !moving.contains($0) }
      }
      .map(\.count).min()
    #expect(difference.changed.count(where: \.isMove) == least)
  }

  @Test("R13: an element that only says something else is changed in its place")
  func changedInPlace() {
    let old = [Note(name: 0, key: 0), Note(name: 1, key: 1)]
    let new = [Note(name: 0, key: 0), Note(name: 1, key: 1, text: 5)]
    let difference = check(old, new, touched: [])
    #expect(difference.changed.map(\.isMove) == [false])
    #expect(difference.changed.first?.new.text == 5)
  }

  @Test("R16: A file that's made again under another number is changed, not removed and added")
  func replaced() {
    var list = OrderedList(NoteOrder(), of: [Note(name: 0, key: 0), Note(name: 1, key: 1)])
    let difference = list.apply([ListUpdate(old: Note(name: 0, key: 0), new: Note(name: 7, key: 0))])
    #expect(difference.changed.map(\.new.name) == [7])
    #expect(difference.removed.isEmpty && difference.added.isEmpty)
  }

  @Test("Large lists with many changes at once", arguments: 0..<3)
  func large(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let old = (0..<500).map { Note(name: $0, key: random.below(50)) }
    let new = (100..<600).map { name in
      name < 500 && random.chance(3, in: 4) ? old[name] : Note(name: name, key: random.below(50))
    }
    _ = check(old, new, touched: [120, 130, 140], capacity: 8)
  }
}
