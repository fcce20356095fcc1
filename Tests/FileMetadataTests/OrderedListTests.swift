import FileMetadata
import SeededRandom
import Testing

@Suite("Results in order, by position")
struct OrderedListTests {
  @Test("A list is what a sorted array is, whatever is put in and taken out", arguments: 0..<6)
  func agreement(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var list = OrderedList(NoteOrder(), capacity: 4)
    var model: [Note] = []
    for step in 0..<600 {
      let note = Note(name: random.below(60), key: random.below(5))
      // Grows in the first half and shrinks in the second.
      if random.chance(step < 300 ? 3 : 1, in: 4) {
        if !model.contains(note) {
          list.insert(note)
          model.append(note)
          model.sort(by: NoteOrder().precedes)
        }
      } else {
        #expect(list.remove(note) == (model.contains(note) ? note : nil))
        model.removeAll { $0 == note }
      }
      #expect(list.violations == [])
      #expect(list.elements == model)
      #expect(list.place(of: note).isMember == model.contains(note))
      #expect(list.place(of: note).position == model.count { NoteOrder().precedes($0, note) })
      if let position = model.indices.randomElement(using: &random) { #expect(list[position] == model[position]) }
    }
  }

  @Test("A list made at once is like one made step by step", arguments: [0, 1, 2, 3, 4, 5, 12, 13, 49, 300])
  func making(count: Int) {
    let notes = (0..<count).map { Note(name: $0, key: $0 * 7 % 31) }
    let list = OrderedList(NoteOrder(), of: notes, capacity: 4)
    #expect(list.violations == [])
    #expect(list.elements == notes.sorted(by: NoteOrder().precedes))
  }

  @Test("A copy stays as it was")
  func copies() {
    var list = OrderedList(NoteOrder(), of: (0..<200).map { Note(name: $0, key: 0) }, capacity: 4)
    var copies: [(OrderedList<NoteOrder>, [Note])] = []
    for name in 0..<200 {
      copies.append((list, list.elements))
      if name.isMultiple(of: 2) {
        list.remove(Note(name: name, key: 0))
      } else {
        list.insert(Note(name: name, key: 1))
      }
    }
    for (copy, elements) in copies {
      #expect(copy.elements == elements)
      #expect(copy.violations == [])
    }
  }

  @Test(
    "T-49: k changes in n results compare in proportion to k log n",
    arguments: [1_000, 30_000] + (Budget.isLong ? [1_000_000] : []))
  func cost(count: Int) {
    let order = CountedOrder()
    var list = OrderedList(order, of: (0..<count).map { Note(name: $0, key: $0) })
    let updates = (0..<100).map { number in
      let name = number * (count / 100)
      return ListUpdate(old: Note(name: name, key: name), new: Note(name: name, key: (name * 17 + 5) % count))
    }
    order.counter.value = 0
    let difference = list.apply(updates)
    #expect(difference.changed.count == 100)
    // Four descents for each: two to find positions, one to take out, one to put in.
    let levels = Double.log2(count)
    #expect(Double(order.counter.value) < 100 * 4 * (levels + 6))
  }
}

extension Double {
  fileprivate static func log2(_ count: Int) -> Double { Double(Int.bitWidth - count.leadingZeroBitCount) }
}
