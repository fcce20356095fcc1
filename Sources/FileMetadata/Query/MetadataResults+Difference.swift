internal import SystemInterface
internal import FileWatching

extension MetadataQueryChange {
  /// The changes that turn results into others of the same run, be they in another order or of another index.
  ///
  /// A number of the index may stand for another file by now; it's taken for the same one if that has the identity or the path of the other.
  ///
  /// - Parameters:
  ///   - old: The results before.
  ///   - new: The results now.
  ///   - isGathering: Whether the first search goes on.
  ///   - finishesGathering: Whether it's over with this.
  ///   - health: How well the scopes are followed.
  ///   - told: The batches that lead from the one to the other, if they are known: then only the files in them are
  ///     compared.
  init(
    from old: ResultHistory.Remembered, to new: MetadataResults, isGathering: Bool, finishesGathering: Bool,
    health: ScopeHealth, told: ResultHistory.Batches? = nil
  ) {
    let isForeign = old.results.snapshot.source != new.snapshot.source
    let comparison =
      isForeign ? ResultComparison(old.results, ofOtherIndex: new) : ResultComparison(old.results, new, told)
    let difference: ListDifference<ResultEntry>
    if !isForeign, old.results.list.order.descriptors == new.list.order.descriptors {
      var list = old.results.list
      difference = list.apply(comparison.updates)
    } else {
      difference = ListDifference(
        from: old.results.list, to: new.list, altered: comparison.updates, unaltered: comparison.unaltered)
    }
    self.init(
      difference, before: old.results.snapshot, after: new.snapshot, results: new, isGathering: isGathering,
      finishesGathering: finishesGathering, health: health)
  }
}

/// Compares the results at two moments, file by file.
private struct ResultComparison {
  typealias Update = ListUpdate<ResultEntry>

  private let before: FileTable
  private let after: FileTable
  private(set) var updates: [Update] = []
  /// Files that are the same; noted only if the order isn't.
  private(set) var unaltered: [Update] = []

  init(_ old: MetadataResults, _ new: MetadataResults, _ told: ResultHistory.Batches?) {
    before = old.snapshot.table
    after = new.snapshot.table
    let isReordered = old.list.order.descriptors != new.list.order.descriptors
    let touched = isReordered ? nil : told.map(Self.touched)
    var gone = touched?.old ?? Dictionary(uniqueKeysWithValues: old.list.elements.map { ($0.number, $0) })
    var come: [ResultEntry] = []
    for entry in touched.map({ Array($0.new.values) }) ?? new.list.elements {
      if let former = gone[entry.number], isSameFile(entry.number) {
        gone[entry.number] = nil
        if !isReordered && former != entry || hasAltered(entry.number) {
          updates.append(Update(old: former, new: entry))
        } else if isReordered {
          unaltered.append(Update(old: former, new: entry))
        }
      } else {
        come.append(entry)
      }
    }
    pair(Array(gone.values), come)
  }

  /// Of another index, which numbers files by itself: files with the same path are the same, and have altered at least
  /// in that.
  init(_ old: MetadataResults, ofOtherIndex new: MetadataResults) {
    before = old.snapshot.table
    after = new.snapshot.table
    pair(old.list.elements, new.list.elements)
  }

  /// The first and the last entry that batches have for each number that they name.
  private static func touched(
    by batches: ResultHistory.Batches
  ) -> (old: [UInt32: ResultEntry], new: [UInt32: ResultEntry]) {
    var (old, new): ([UInt32: ResultEntry], [UInt32: ResultEntry]) = ([:], [:])
    var numbers: Set<UInt32> = []
    for batch in batches {
      for entry in batch.compactMap(\.old) {
        if numbers.insert(entry.number).inserted { old[entry.number] = entry }
        new[entry.number] = nil
      }
      for entry in batch.compactMap(\.new) {
        numbers.insert(entry.number)
        new[entry.number] = entry
      }
    }
    return (old, new)
  }

  private func isSameFile(_ number: UInt32) -> Bool {
    let number = FileNumber(number)
    return before.facts(of: number).identity == after.facts(of: number).identity
      || before.path(of: number) == after.path(of: number)
  }

  private func hasAltered(_ number: UInt32) -> Bool {
    let number = FileNumber(number)
    return !before.facts(of: number).hold(for: after.facts(of: number))
      || before.path(of: number) != after.path(of: number)
  }

  /// A file that's gone and a new one under the same path are one that has changed.
  ///
  /// - Note: Rule R16.
  private mutating func pair(_ gone: [ResultEntry], _ come: [ResultEntry]) {
    var places: [SystemPath: ResultEntry] = [:]
    for entry in gone { places[before.path(of: FileNumber(entry.number))] = entry }
    for entry in come {
      let former = places.removeValue(forKey: after.path(of: FileNumber(entry.number)))
      updates.append(Update(old: former, new: entry))
    }
    updates += places.values.map { Update(old: $0, new: nil) }
  }
}
