/// A deterministic automaton over ASCII: one access to a table for each byte.
struct AutomatonTable: Sendable {
  /// With more states the table isn't worth its memory; the simulation takes over.
  private static let stateCountMax = 256
  /// And it isn't worth its time when states are made of too many others.
  private static let workMax = 2_000_000
  /// The state from which nothing matches.
  private static let failure: UInt16 = 0

  /// Bytes that no step distinguishes share a class.
  private var classes: [UInt8] = Array(repeating: 0, count: 128)
  private var classCount = 0
  private var transitions: [UInt16] = []
  private var isAccepting: [Bool] = []
  private var start: UInt16 = 0

  /// Makes the table; none when it would be too large, or when a step depends on more than the text before it.
  ///
  /// - Parameters:
  ///   - instructions: The automaton.
  ///   - sets: The sets that its steps take.
  init?(_ instructions: [RegularExpression.Instruction], _ sets: [ScalarSet]) {
    let members = makeClasses(sets)
    var builder = Builder(instructions)
    guard let first = builder.closure(of: [0], atStart: true) else { return nil }
    var numbers: [[Int]: UInt16] = [[]: Self.failure]
    var states: [[Int]] = [[]]
    func number(_ states: inout [[Int]], _ state: [Int]) -> UInt16? {
      if let known = numbers[state] { return known }
      if states.count >= Self.stateCountMax { return nil }
      let number = UInt16(states.count)
      numbers[state] = number
      states.append(state)
      return number
    }
    guard let startNumber = number(&states, first) else { return nil }
    start = startNumber
    var index = 0
    while index < states.count {
      isAccepting.append(builder.accepts(states[index], atStart: index == Int(startNumber)))
      for byte in members {
        let targets = states[index].filter { state in
          if case .set(let set) = instructions[state] { return sets[set].contains(ascii: byte) }
          return false
        }.map { $0 + 1 }
        guard let closed = builder.closure(of: targets, atStart: false), builder.work < Self.workMax,
          let target = number(&states, closed)
        else { return nil }
        transitions.append(target)
      }
      index += 1
    }
  }

  var stateCount: Int { isAccepting.count }

  /// Whether the whole text fits; `nil` if it isn't ASCII.
  func matches(_ text: String) -> Bool? {
    let bytes = text.utf8Span.span
    var state = start
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 128 { return nil }
      state = transitions[Int(state) * classCount + Int(classes[Int(byte)])]
    }
    return isAccepting[Int(state)]
  }

  /// Gives each byte its class, and returns one byte of each.
  ///
  /// Each set divides the classes that there are into those in it and those that aren't.
  private mutating func makeClasses(_ sets: [ScalarSet]) -> [UInt8] {
    var members: [UInt8] = [0]
    for set in sets {
      var numbers: [UInt8?] = Array(repeating: nil, count: 2 * members.count)
      members.removeAll(keepingCapacity: true)
      for byte in UInt8(0)..<128 {
        let part = 2 * Int(classes[Int(byte)]) + (set.contains(ascii: byte) ? 1 : 0)
        if numbers[part] == nil {
          numbers[part] = UInt8(members.count)
          members.append(byte)
        }
        classes[Int(byte)] = numbers[part] ?? 0
      }
    }
    classCount = members.count
    return members
  }

  /// Finds which states belong together.
  private struct Builder {
    let instructions: [RegularExpression.Instruction]
    var work = 0

    init(_ instructions: [RegularExpression.Instruction]) { self.instructions = instructions }

    /// The states reached without taking a byte, sorted; `nil` if that depends on the bytes around.
    mutating func closure(of states: [Int], atStart: Bool) -> [Int]? {
      var found: Set<Int> = []
      var pending = states
      while let state = pending.popLast() {
        if !found.insert(state).inserted { continue }
        switch instructions[state] {
        case .jump(let target): pending.append(target)
        case .split(let first, let second): pending += [first, second]
        case .assertion(.textStart): if atStart { pending.append(state + 1) }
        case .assertion(.textEnd), .set, .match: break
        case .assertion: return nil
        }
      }
      work += found.count
      // Only these matter for the next step.
      return found.filter { state in
        switch instructions[state] {
        case .set, .match, .assertion(.textEnd): true
        case .jump, .split, .assertion: false
        }
      }.sorted()
    }

    /// Whether the text may end here.
    func accepts(_ states: [Int], atStart: Bool) -> Bool {
      var found: Set<Int> = []
      var pending = states
      while let state = pending.popLast() {
        if !found.insert(state).inserted { continue }
        switch instructions[state] {
        case .match: return true
        case .jump(let target): pending.append(target)
        case .split(let first, let second): pending += [first, second]
        case .assertion(.textStart): if atStart { pending.append(state + 1) }
        // A step past a set that was reached without taking a byte isn't one.
        case .assertion: pending.append(state + 1)
        case .set: break
        }
      }
      return false
    }
  }
}
