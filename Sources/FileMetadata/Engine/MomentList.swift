internal import CompactContainers
internal import FileWatching
internal import MetadataPredicates

/// The moments from which on the result of a query for a file may differ though the file doesn't change.
struct MomentList {
  private typealias Token = PriorityHeap<MetadataDate, FileNumber>.Token

  private var heap = PriorityHeap<MetadataDate, FileNumber>()
  private var tokens: [FileNumber: Token] = [:]

  /// The first moment.
  var first: MetadataDate? { heap.least }

  /// Notes the moment of a file, in the place of the one before.
  ///
  /// - Complexity: O(log *n*) in the number of files that have one.
  mutating func set(_ moment: MetadataDate?, for number: FileNumber) {
    if let old = tokens.removeValue(forKey: number) { _ = heap.remove(old) }
    guard let moment, !moment.secondsSince2001.isNaN else { return }
    _ = heap.insert(at: moment) { token in
      tokens[number] = token
      return number
    }
  }

  /// Takes the files whose moment has come.
  mutating func takeDue(at now: MetadataDate) -> [FileNumber] {
    var due: [FileNumber] = []
    while let number = heap.popFirst(upTo: now) {
      tokens[number] = nil
      due.append(number)
    }
    return due
  }
}
