/// Numbers of files, each once.
///
/// Successive numbers, such as a first search gives, take no memory each.
package struct FileNumberSet: Sendable, Sequence {
  private var run: Range<UInt32> = 0..<0
  private var others: Set<FileNumber> = []

  package init() {}

  package var isEmpty: Bool { run.isEmpty && others.isEmpty }
  package var count: Int { run.count + others.count }

  package func contains(_ number: FileNumber) -> Bool { run.contains(number.rawValue) || others.contains(number) }

  package mutating func insert(_ number: FileNumber) {
    // The greatest number can't be in a range of 32-bit numbers.
    if run.isEmpty, number.rawValue < .max {
      run = number.rawValue..<(number.rawValue + 1)
    } else if number.rawValue == run.upperBound, number.rawValue < .max, others.isEmpty || !others.contains(number) {
      run = run.lowerBound..<(number.rawValue + 1)
    } else if !run.contains(number.rawValue) {
      others.insert(number)
    }
  }

  package mutating func formUnion(_ numbers: some Sequence<FileNumber>) {
    for number in numbers { insert(number) }
  }

  package func makeIterator() -> Iterator { Iterator(run: run, others: others.makeIterator()) }

  /// First the successive numbers, then the others in no order.
  package struct Iterator: IteratorProtocol {
    fileprivate var run: Range<UInt32>
    fileprivate var others: Set<FileNumber>.Iterator

    package mutating func next() -> FileNumber? {
      if run.isEmpty { return others.next() }
      defer { run = (run.lowerBound + 1)..<run.upperBound }
      return FileNumber(run.lowerBound)
    }
  }
}
