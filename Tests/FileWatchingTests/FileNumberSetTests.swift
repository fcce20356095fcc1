import SeededRandom
import Testing

@testable import FileWatching

@Suite("Sets of files")
struct FileNumberSetTests {
  @Test("Each number is there once, in whatever order they come", arguments: 0..<UInt64(50))
  func agreement(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var set = FileNumberSet()
    var expected: Set<FileNumber> = []
    for _ in 0..<60 {
      let first = UInt32(random.below(40)) + (seed % 5 == 0 ? .max - 39 : 0)
      for number in first...(first + min(UInt32(random.below(5)), .max - first)) {
        set.insert(FileNumber(number))
        expected.insert(FileNumber(number))
      }
      #expect(set.count == expected.count && Set(set) == expected && Array(set).count == expected.count)
      #expect(expected.allSatisfy(set.contains) && !set.contains(FileNumber(100)))
    }
    #expect(!set.isEmpty)
  }

  @Test("Nothing is in an empty set")
  func empty() {
    let set = FileNumberSet()
    #expect(set.isEmpty && Array(set).isEmpty && !set.contains(FileNumber(0)))
  }
}
