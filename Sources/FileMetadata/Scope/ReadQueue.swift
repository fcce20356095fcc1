/// Directories that are to be read, each once; the last one that was added comes first.
struct ReadQueue {
  private var stack: [FileNumber] = []
  /// For each directory whether it's to be watched again as well, because the end of a watch may not have been told.
  private var isWatchedAgain: [FileNumber: Bool] = [:]

  var isEmpty: Bool { isWatchedAgain.isEmpty }

  mutating func push(_ directory: FileNumber, watchingAgain: Bool = false) {
    guard let known = isWatchedAgain[directory] else {
      isWatchedAgain[directory] = watchingAgain
      stack.append(directory)
      return
    }
    isWatchedAgain[directory] = known || watchingAgain
  }

  mutating func pop() -> (directory: FileNumber, watchingAgain: Bool)? {
    while let directory = stack.popLast() {
      if let again = isWatchedAgain.removeValue(forKey: directory) { return (directory, again) }
    }
    return nil
  }

  mutating func remove(_ directory: FileNumber) { isWatchedAgain[directory] = nil }
}
