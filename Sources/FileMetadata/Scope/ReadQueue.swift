/// Directories that are to be read, each once; the last one that was added comes first.
struct ReadQueue {
  private var stack: [FileNumber] = []
  /// Whether everything below is to be read again as well.
  private var depths: [FileNumber: Bool] = [:]

  var isEmpty: Bool { depths.isEmpty }

  mutating func push(_ directory: FileNumber, deep: Bool = false) {
    guard let known = depths[directory] else {
      depths[directory] = deep
      stack.append(directory)
      return
    }
    depths[directory] = known || deep
  }

  mutating func pop() -> (directory: FileNumber, deep: Bool)? {
    while let directory = stack.popLast() {
      if let deep = depths.removeValue(forKey: directory) { return (directory, deep) }
    }
    return nil
  }

  mutating func remove(_ directory: FileNumber) { depths[directory] = nil }
}
