import SeededRandom

extension Model {
  /// Three or four threads with one or two acts each.
  static func random(seed: UInt64) -> Model {
    var numbers = SplitMix(state: seed)
    let threadCount = Int.random(in: 3...4, using: &numbers)
    let threads = (0..<threadCount).map { _ in
      (0..<Int.random(in: 1...2, using: &numbers)).map { _ in Act.random(&numbers) }
    }
    let words = threads.map { $0.map(\.description).joined(separator: ", ") }
    return Model("seed \(seed): \(words.joined(separator: " | "))", threads) {
      $0.interestCapacityMin = [1, 2, 8].randomElement(using: &numbers) ?? 8
      $0.areShardsAnnounced = .random(using: &numbers)
      $0.slotsPerShard = Int.random(in: 1...2, using: &numbers)
    }
  }
}

extension Act {
  fileprivate static func random(_ numbers: inout SplitMix) -> Act {
    let items: [ModelItem] = [.file, .file, .file, .file, .directory, .directory, .sibling, .other, .twin, .mate]
    let item = items.randomElement(using: &numbers) ?? .file
    return switch Int.random(in: 0..<17, using: &numbers) {
    case 0..<3: .read(item)
    case 3: .patient(.read(item))
    case 4..<7: .write(item)
    case 7: .patient(.write(item))
    case 8: .hostRead(item)
    case 9..<11: .hostWrite(item)
    case 11..<13: .deepWrite(item)
    case 13: .present(item)
    case 14: .snapshot
    case 15: .readAndPresent(item)
    // Inner claims belong to the one around them, so that no claim waits for one that waits for it.
    default: .nested(.deepWrite(.directory), [.read(.file), .write(.sibling)])
    }
  }
}
