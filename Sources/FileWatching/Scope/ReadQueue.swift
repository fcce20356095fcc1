/// Directories that are to be read, each once; the last one that was added comes first.
struct ReadQueue {
  private var stack: [FileNumber] = []
  private var members: Set<FileNumber> = []

  var isEmpty: Bool { members.isEmpty }
  var count: Int { members.count }

  mutating func push(_ directory: FileNumber) {
    if members.insert(directory).inserted { stack.append(directory) }
  }

  mutating func pop() -> FileNumber? {
    while let directory = stack.popLast() {
      if members.remove(directory) != nil { return directory }
    }
    return nil
  }

  mutating func remove(_ directory: FileNumber) { members.remove(directory) }
}
