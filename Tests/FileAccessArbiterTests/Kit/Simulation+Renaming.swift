@testable import FileAccessArbiter

extension Simulation {
  /// The same for states that behave alike, from the text that people read.
  ///
  /// ``key`` says the same in less time; ``StateKeyTests`` compares the two.
  var keyByDescription: [UInt8] {
    var text = world.arbiter.stateDescription
    for worker in workers {
      text += "\n\(worker.name) \(worker.awaited.map { "awaits \($0.id)" } ?? "")"
      for frame in worker.frames { text += " \(frame.next)\(frame.access.map { " in \($0)" } ?? "")" }
      text += " turns \(worker.frames.map(\.turn)) awaits \(worker.awaitedTurn as Any)"
      text += " \(worker.isElsewhere) \(worker.later == nil)"
      if let message = worker.message { text += " for \(message)" }
      if let context = worker.context { text += " \(context)" }
    }
    text += "\n\(unstarted.sorted()) \(activeReactions) \(departed.sorted())"
    text += "\n\(world.owedReacquirers.keys.sorted()) \(world.removed.sorted()) \(turns)"
    return Renaming.canonical(text)
  }
}

/// Replaces the numbers of accesses, messages and private purposes by the order in which they are mentioned.
enum Renaming {
  private static let words = ["access ", "message ", "purpose 1"].map { Array($0.utf8) }

  static func canonical(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var names: [[UInt64: UInt8]] = [[:], [:], [:]]
    var index = 0
    while index < bytes.count {
      guard let word = word(at: index, in: bytes) else {
        result.append(bytes[index])
        index += 1
        continue
      }
      index += words[word].count
      var number: UInt64 = 0
      while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 {
        number = number * 10 + UInt64(bytes[index] - 0x30)
        index += 1
      }
      let name = names[word][number] ?? UInt8(truncatingIfNeeded: names[word].count)
      names[word][number] = name
      result += [UInt8(ascii: "#"), UInt8(word), name]
    }
    return result
  }

  private static func word(at index: Int, in bytes: [UInt8]) -> Int? {
    switch bytes[index] {
    case UInt8(ascii: "a"): matches(0, index, bytes) ? 0 : nil
    case UInt8(ascii: "m"): matches(1, index, bytes) ? 1 : nil
    case UInt8(ascii: "p"): matches(2, index, bytes) ? 2 : nil
    default: nil
    }
  }

  private static func matches(_ word: Int, _ index: Int, _ bytes: [UInt8]) -> Bool {
    let pattern = words[word]
    guard index + pattern.count <= bytes.count else { return false }
    for offset in pattern.indices where bytes[index + offset] != pattern[offset] { return false }
    return true
  }
}
