import SeededRandom
import Testing

@testable import CompactContainers

@Suite("Containers")
struct ContainerTests {
  /// Tells when it's gone, so that a hole that keeps its element alive is noticed.
  private final class Token: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  @Test("A slab holds what an array with holes would, and its copies don't see each other", arguments: UInt64(1)...12)
  func slab(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var slab = Slab<Token>()
    var model: [Int32: Int] = [:]
    var copies: [(slab: Slab<Token>, model: [Int32: Int])] = []
    for number in 0..<2_000 {
      // Phases of growing and of shrinking, so that chunks fill up and are given back.
      let grows = Int.random(in: 0..<10, using: &random) < (number / 400 % 2 == 0 ? 8 : 2)
      if grows || model.isEmpty {
        let index = slab.insert(Token(number))
        #expect(model.updateValue(number, forKey: index) == nil)
      } else if let index = model.keys.sorted().randomElement(using: &random) {
        weak let token = slab[index]
        slab.remove(index)
        model[index] = nil
        if copies.isEmpty { #expect(token == nil) }
      }
      if number % 500 == 250 { copies.append((slab, model)) }
      if number % 700 == 699 { copies.removeAll() }
    }
    copies.append((slab, model))
    for (slab, model) in copies {
      #expect(slab.count == model.count)
      #expect(slab.indices == model.keys.sorted())
      #expect(model.allSatisfy { slab[$0].number == $1 })
      #expect(!slab.contains(-1) && !slab.contains(1_000_000))
    }
  }

  @Test("A slab of many blocks keeps what is in it while others come and go", arguments: UInt64(1)...4)
  func blocks(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var slab = Slab<Token>()
    var live: [(index: Int32, number: Int)] = []
    var copy: (slab: Slab<Token>, live: [(index: Int32, number: Int)])?
    // Up to five blocks, down to a part of the first, and up again.
    for (phase, count) in [18_000, 3_000, 1_000, 9_000, 5_000].enumerated() {
      while live.count != count {
        if live.count < count {
          let number = phase * 100_000 + live.count
          live.append((slab.insert(Token(number)), number))
        } else {
          live.swapAt(Int.random(in: live.indices, using: &random), live.count - 1)
          slab.remove(live.removeLast().index)
        }
      }
      #expect(slab.count == count && Set(live.map(\.index)).count == count)
      let broken = live.filter { slab[$0.index].number != $0.number }
      #expect(broken.isEmpty)
      if phase == 1 { copy = (slab, live) }
    }
    for (index, _) in live { slab.remove(index) }
    #expect(slab.count == 0 && slab.indices == [])
    guard let copy else { return }
    #expect(copy.slab.count == 3_000 && copy.live.allSatisfy { copy.slab[$0.index].number == $0.number })
  }

  @Test("A slab gives back each block that has become empty but one, and that one when few elements are left")
  func blocksGivenBack() {
    var slab = Slab<(UInt64, UInt64)>()
    let blockBytes = Slab<(UInt64, UInt64)>.chunkSize * Slab<(UInt64, UInt64)>.blockSize * 16
    let indices = (0..<40_960).map { slab.insert((UInt64($0), 0)) }
    let full = slab.reservedByteCount
    #expect(full >= 10 * blockBytes && full < 11 * blockBytes)
    for index in indices[8_192...] { slab.remove(index) }
    // Of nine blocks, one is full, and one is empty and kept.
    #expect((full - slab.reservedByteCount + blockBytes / 2) / blockBytes == 7)
    // Coming and going at the edge of a block neither takes memory nor gives it back.
    let atTheEdge = slab.reservedByteCount
    for _ in 0..<10 {
      let index = slab.insert((0, 0))
      #expect(slab.reservedByteCount == atTheEdge)
      slab.remove(index)
      #expect(slab.reservedByteCount == atTheEdge)
    }
    for index in indices[64..<8_192] { slab.remove(index) }
    #expect(slab.count == 64 && slab.reservedByteCount < blockBytes / 2)
    #expect(indices[..<64].allSatisfy { slab[$0].0 == UInt64($0) })
  }

  @Test("A slab starts from the beginning when everything has gone")
  func emptySlab() {
    var slab = Slab<Int>()
    let indices = (0..<1000).map { slab.insert($0) }
    indices.forEach { slab.remove($0) }
    #expect(slab.count == 0 && slab.indices == [])
    #expect(slab.insert(7) == 0)
  }

  @Test("A stale index traps instead of reading what was there")
  func staleIndex() async {
    await #expect(processExitsWith: .failure) {
      var slab = Slab<Int>()
      let index = slab.insert(1)
      slab.remove(index)
      _ = slab.insert(2)
      slab.remove(index)
      print(slab[index])
    }
  }

  @Test("A short list is a list, whether it has one element or several", arguments: 0...4)
  func shortList(count: Int) {
    var list = ShortList<Int>()
    for number in 0..<count { list.append(number) }
    #expect(Array(list) == Array(0..<count))
    for index in list.indices { list[index] += 10 }
    #expect(list.map(\.self) == (0..<count).map { $0 + 10 })
    var reserved = ShortList<Int>()
    reserved.reserveCapacity(count)
    for number in 0..<count { reserved.append(number) }
    #expect(Array(reserved) == Array(0..<count))
  }

  @Test("A short list loses and replaces elements like an array", arguments: 0...4)
  func shortListChanges(count: Int) {
    let full = ShortList(0..<count)
    #expect(full.description == Array(0..<count).description)
    for position in 0..<count {
      var (list, array) = (full, Array(0..<count))
      #expect(list.remove(at: position) == array.remove(at: position))
      #expect(Array(list) == array && list != full)
      list.append(7)
      #expect(Array(list) == array + [7])
      (list, array) = (full, Array(0..<count))
      list.removeAll { $0 == position }
      array.removeAll { $0 == position }
      #expect(Array(list) == array)
      (list, array) = (full, Array(0..<count))
      list.replaceSubrange(position..<count, with: [8, 9])
      array.replaceSubrange(position..<count, with: [8, 9])
      #expect(Array(list) == array)
    }
    #expect(Array(full + full) == Array(0..<count) + Array(0..<count))
    #expect(full == ShortList(0..<count))
  }

  @Test("A table finds the newest element and older ones, and none that has gone")
  func tableLookup() {
    struct Named: TableElement {
      let id: Name
      var link: Int32 = -1
    }
    struct Name: TableKey {
      let rawValue: UInt64
      static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }
    var table = Table<Named>()
    let names = (1...40).map { Name(rawValue: $0) }
    for name in names { table.insert(Named(id: name)) }
    for name in names { #expect(table.find(name)?.id == name) }
    for (count, name) in names.reversed().enumerated() {
      table.remove(name)
      #expect(!table.contains(name) && table.count == names.count - count - 1)
      for other in names where other < name { #expect(table.find(other)?.id == other) }
    }
    table.insert(Named(id: names[39]))
    #expect(table.find(names[39])?.id == names[39] && !table.contains(names[0]))
  }

  @Test("Copies of a box share the value until one of them changes it")
  func box() {
    struct Numbers: ~Copyable, Boxed {
      var list: [Int]
      func duplicate() -> Numbers { Numbers(list: list) }
    }
    var box = Box(Numbers(list: [1]))
    let copy = box
    #expect(unsafe box.address == copy.address)
    box.value.list.append(2)
    #expect(box.value.list == [1, 2] && copy.value.list == [1])
    #expect(unsafe box.address != copy.address)
  }
}

@Suite("Tables and dates that several targets share")
struct SharedContainerTests {
  @Test("A probing table finds what a dictionary would, while it grows and while it shrinks", arguments: UInt64(1)...12)
  func probing(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = ProbingTable<UInt64>()
    var model: Set<UInt64> = []
    // Few hashes, so that elements that aren't equal meet.
    func hash(_ element: UInt64) -> UInt64 { element / 3 }
    for step in 0..<3_000 {
      let grows = Int.random(in: 0..<10, using: &random) < (step / 600 % 2 == 0 ? 8 : 2)
      let element = UInt64.random(in: 0..<600, using: &random)
      #expect((table.first(withHash: hash(element)) { $0 == element } != nil) == model.contains(element))
      if grows, model.insert(element).inserted {
        table.insert(element, hash: hash(element), hashOf: hash)
      } else if !grows, let gone = model.sorted().randomElement(using: &random) {
        model.remove(gone)
        table.remove(withHash: hash(gone), where: { $0 == gone }, hashOf: hash)
      }
    }
    #expect(table.count == model.count)
    #expect(table.elements.sorted() == model.sorted())
  }

  @Test("A removed element has to be there")
  func absentElement() async {
    await #expect(processExitsWith: .failure) {
      var table = ProbingTable<UInt64>()
      table.remove(withHash: 1, where: { _ in true }, hashOf: { $0 })
    }
  }

  @Test("Each day of eight hundred years has the date that follows the one before")
  func dates() {
    var expected = (year: 1600, month: 1, day: 1)
    let first = CivilDate.dayNumber(year: 1600, month: 1, day: 1)
    for number in first..<(first + 292_194) {
      let date = CivilDate(dayNumber: number)
      guard (date.year, date.month, date.day) == expected else {
        Issue.record("\(date) isn't \(expected)")
        return
      }
      let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
      let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][date.month - 1]
      expected.day += 1
      if expected.day > length { expected = (date.year, date.month + 1, 1) }
      if expected.month > 12 { expected = (date.year + 1, 1, 1) }
    }
    #expect(expected == (2400, 1, 1))
    #expect(CivilDate(secondsSince1970: -1) == CivilDate(secondsSince1970: -86_400))
    #expect(CivilDate(secondsSince1970: 951_782_400).day == 29)
  }

  @Test("Integers come back from their bytes, at any place")
  func bytes() {
    var bytes: [UInt8] = [7]
    bytes.append(littleEndian: UInt16(0x0102))
    bytes.append(littleEndian: Int64(-2))
    #expect(bytes == [7, 2, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    let span = bytes.span.bytes
    #expect(span.integer(littleEndianAt: 1, as: UInt16.self) == 0x0102)
    #expect(span.integer(littleEndianAt: 3, as: Int64.self) == -2)
    #expect(span.word(at: 0) == 0xffff_ffff_fe01_0207)
    #expect(span.word(at: 8) == 0xff_ffff)
    #expect(span.word(at: 11) == 0)
  }
}
