/// All runs of something that makes choices: each run replays the choices of the last one, but for the last that isn't exhausted.
struct Choices {
  private var path: [(chosen: Int, count: Int)] = []
  private var position = 0

  /// Chooses one of several.
  mutating func pick<Option>(_ options: [Option]) -> Option { options[next(options.count)] }

  private mutating func next(_ count: Int) -> Int {
    if position == path.count { path.append((0, count)) }
    precondition(path[position].count == count, "a run isn't the same the second time")
    position += 1
    return path[position - 1].chosen
  }

  /// Runs `body` with all choices, and counts the runs.
  static func explore(_ body: (inout Choices) throws -> Void) rethrows -> Int {
    var choices = Choices()
    var count = 0
    while true {
      choices.position = 0
      try body(&choices)
      count += 1
      while let last = choices.path.last, last.chosen + 1 == last.count { choices.path.removeLast() }
      guard let last = choices.path.popLast() else { return count }
      choices.path.append((last.chosen + 1, last.count))
    }
  }
}
