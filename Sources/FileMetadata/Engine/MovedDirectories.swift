internal import FileWatching

/// Directories that were moved since readers received results, and of whose results nothing else is known to have altered.
///
/// A value. The results in them aren't changes one by one: a batch names the directories, and a reader finds the results.
struct MovedDirectories {
  /// The readers' results, and how to tell one of them.
  struct Basis {
    let list: OrderedList<ResultOrder>
    let before: FileTable
    let after: FileTable
    /// Whether a file is among the readers' results.
    let isResult: (FileNumber) -> Bool
    /// Whether a file is a change by itself.
    let isOther: (FileNumber) -> Bool
  }

  private(set) var numbers: Set<FileNumber> = []
  /// How many results have another path; not more than matter.
  private(set) var count = 0
  /// A result that has another path.
  private var witness: FileNumber?

  var isEmpty: Bool { numbers.isEmpty }

  /// More directories have been moved.
  ///
  /// - Complexity: O(`countMax`), as long as there are that many results in the directories; otherwise O(*n*) in the number
  ///   of their members, but not in more than there are results.
  mutating func insert(_ directories: some Sequence<FileNumber>, _ basis: Basis, countMax: Int) {
    numbers.formUnion(directories)
    search(basis, countMax)
  }

  /// Files have altered, and may not be moved results any more.
  ///
  /// - Complexity: O(1), as long as the result that was found last is one; otherwise as for ``insert(_:_:countMax:)``.
  mutating func settle(_ basis: Basis, countMax: Int) {
    if isEmpty { return }
    var paths = MovedPaths(in: numbers, basis.before, basis.after)
    if let witness, Self.isMoved(witness, basis, &paths) { return }
    search(basis, countMax)
  }

  private mutating func search(_ basis: Basis, _ countMax: Int) {
    count = 0
    witness = nil
    var paths = MovedPaths(in: numbers, basis.before, basis.after)
    func note(_ number: FileNumber) -> Bool {
      guard Self.isMoved(number, basis, &paths) else { return false }
      witness = number
      count += 1
      return count >= countMax
    }
    // A directory in another one of them is searched with that one.
    let tops = numbers.filter { number in basis.after.contains(number) && !isInsideOther(number, basis.after) }
    for top in tops {
      let isStopped = basis.after.stopped(in: top, countMax: basis.list.count) { note($0) }
      if count >= countMax { return }
      if isStopped { return searchAll(basis, countMax) }
    }
    if count == 0 { numbers = [] }
  }

  /// Searches the results, of which there are fewer than files in a directory.
  private mutating func searchAll(_ basis: Basis, _ countMax: Int) {
    count = 0
    var paths = MovedPaths(in: numbers, basis.before, basis.after)
    basis.list.visit { entry in
      let number = FileNumber(entry.number)
      guard !basis.isOther(number), basis.after.contains(number), paths.isMoved(number) else { return false }
      witness = number
      count += 1
      return count >= countMax
    }
    if count == 0 { numbers = [] }
  }

  private func isInsideOther(_ number: FileNumber, _ table: FileTable) -> Bool {
    var current = table[number].parent
    while current != .none, !numbers.contains(current) { current = table[current].parent }
    return current != .none
  }

  private static func isMoved(_ number: FileNumber, _ basis: Basis, _ paths: inout MovedPaths) -> Bool {
    basis.before.contains(number) && basis.after.contains(number) && !basis.isOther(number) && paths.isMoved(number)
      && basis.isResult(number)
  }
}
