internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// From when on files may be something else to a query though nothing happens to them.
struct MomentList {
  private typealias Token = DeadlineHeap<FileNumber>.Token

  private var heap = DeadlineHeap<FileNumber>()
  private var tokens: [FileNumber: Token] = [:]

  /// The first moment.
  var first: MetadataDate? { heap.earliest.map(MetadataDate.init) }

  /// Notes the moment of a file, in the place of the one before.
  ///
  /// - Complexity: O(log *n*) in the number of files that have one.
  mutating func set(_ moment: MetadataDate?, for number: FileNumber) {
    if let old = tokens.removeValue(forKey: number) { _ = heap.remove(old) }
    guard let time = moment.flatMap(MonotonicTime.init) else { return }
    _ = heap.insert(at: time) { token in
      tokens[number] = token
      return number
    }
  }

  /// Takes the files whose moment has come.
  mutating func takeDue(at now: MetadataDate) -> [FileNumber] {
    guard let time = MonotonicTime(now) else { return [] }
    var due: [FileNumber] = []
    while let number = heap.popDue(at: time) {
      tokens[number] = nil
      due.append(number)
    }
    return due
  }
}

extension MonotonicTime {
  /// - Returns: `nil` for a moment that nobody lives to see, 292 years before or behind 2001.
  fileprivate init?(_ date: MetadataDate) {
    guard let nanoseconds = Int64(exactly: (date.secondsSince2001 * 1e9).rounded(.up)) else { return nil }
    self.init(nanoseconds: nanoseconds)
  }
}

extension MetadataDate {
  fileprivate init(_ time: MonotonicTime) { self.init(secondsSince2001: Double(time.nanoseconds) / 1e9) }
}
