import FileMetadata

/// A number to sort by, the name of an element, and its further contents.
struct Note: Hashable, Sendable {
  var name: Int
  var key: Int
  var text = 0
}

/// By key, then by name.
struct NoteOrder: TotalOrder {
  func precedes(_ left: Note, _ right: Note) -> Bool { (left.key, left.name) < (right.key, right.name) }
}

/// The same, and counts how often it was asked; for one thread.
struct CountedOrder: TotalOrder {
  final class Counter: @unchecked Sendable { var value = 0 }
  let counter = Counter()

  func precedes(_ left: Note, _ right: Note) -> Bool {
    counter.value += 1
    return (left.key, left.name) < (right.key, right.name)
  }
}
