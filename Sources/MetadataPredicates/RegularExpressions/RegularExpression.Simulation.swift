extension RegularExpression {
  /// Follows all states of an automaton at once.
  struct Simulation {
    private let instructions: [Instruction]
    private let sets: [ScalarSet]
    private var current: StateList
    private var next: StateList
    private var pending: [Int] = []

    init(_ instructions: [Instruction], _ sets: [ScalarSet]) {
      self.instructions = instructions
      self.sets = sets
      current = StateList(instructions.count)
      next = StateList(instructions.count)
    }

    func matches(_ scalars: [Unicode.Scalar]) -> Bool {
      var runner = self
      return runner.run(scalars)
    }

    private mutating func run(_ scalars: [Unicode.Scalar]) -> Bool {
      add(0, at: 0, in: scalars)
      swap(&current, &next)
      for index in scalars.indices {
        if current.members.isEmpty { return false }
        next.removeAll()
        for state in current.members {
          if case .set(let set) = instructions[state], sets[set].contains(scalars[index]) {
            add(state + 1, at: index + 1, in: scalars)
          }
        }
        swap(&current, &next)
      }
      return current.members.contains { state in
        if case .match = instructions[state] { return true }
        return false
      }
    }

    /// Adds a state and all that are reached from it without taking a scalar.
    private mutating func add(_ state: Int, at index: Int, in scalars: [Unicode.Scalar]) {
      pending.append(state)
      while let state = pending.popLast() {
        if !next.insert(state) { continue }
        switch instructions[state] {
        case .jump(let target): pending.append(target)
        case .split(let first, let second):
          pending.append(second)
          pending.append(first)
        case .assertion(let assertion): if assertion.holds(at: index, in: scalars) { pending.append(state + 1) }
        case .set, .match: break
        }
      }
    }
  }

  /// A set of small numbers that remembers their order and is emptied at once.
  private struct StateList {
    private(set) var members: [Int] = []
    private var positions: [Int]

    init(_ count: Int) { positions = Array(repeating: 0, count: count) }

    mutating func insert(_ state: Int) -> Bool {
      let position = positions[state]
      if position < members.count, members[position] == state { return false }
      positions[state] = members.count
      members.append(state)
      return true
    }

    mutating func removeAll() { members.removeAll(keepingCapacity: true) }
  }
}
