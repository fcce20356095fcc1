import SeededRandom
import Testing
import UndoStacks

/// A call of a stack.
private enum Call: CaseIterable {
  case begin, end, register, undo, undoInner, redo, label, mark, unmark, removeSome, removeAll, disable, enable, levels

  /// The calls whose sequences are enumerated completely; the others are less about order.
  static let enumerated: [Call] = [.begin, .end, .register, .undo, .undoInner, .redo, .mark, .removeSome]
}

/// Carries out calls on a stack as a program does, and writes down what can be seen.
private struct Runner<Machine: UndoMachine> {
  var machine: Machine
  var log: [String] = []
  private var actionCount = 0
  /// The source of the calls that are made within handlers, from time to time.
  private var random: SplitMix

  init(_ machine: Machine, seed: UInt64) {
    self.machine = machine
    random = SplitMix(seed: seed)
  }

  mutating func run(_ call: Call) {
    do throws(UndoStack<Int, String>.Misuse) {
      switch call {
      case .begin: machine.beginGroup()
      case .end: try machine.endGroup()
      case .register: register()
      case .undo: if try machine.beginUndo() { perform() }
      case .undoInner: if try machine.beginUndoOfInnerGroup() { perform() }
      case .redo: if try machine.beginRedo() { perform() }
      case .label:
        actionCount += 1
        let name = "name \(actionCount)"
        machine.updateLabel { $0 = name }
      case .mark: machine.markDiscardable(true)
      case .unmark: machine.markDiscardable(false)
      case .removeSome: machine.removeAll { $0 % 3 == 1 }
      case .removeAll: machine.removeAll()
      case .disable: machine.disable()
      case .enable: try machine.enable()
      case .levels: machine.levelsMax = (machine.levelsMax + 2) % 5
      }
    } catch {
      log.append("\(call): \(error)")
    }
    log.append(
      "\(call): \(machine.level) open, \(machine.undoCount) \(machine.label(.undo) ?? "-") \(machine.isDiscardable(.undo)), "
        + "\(machine.redoCount) \(machine.label(.redo) ?? "-") \(machine.isDiscardable(.redo)), "
        + "\(machine.performing.map { "\($0)" } ?? "at rest")")
  }

  private mutating func register() {
    actionCount += 1
    let isKept = machine.register(actionCount)
    log.append("\(actionCount) \(isKept)")
  }

  private mutating func perform() {
    while let action = machine.nextAction() {
      log.append("perform \(action)")
      // An action that reverses it, and now and then something that handlers had better not do.
      switch random.below(8) {
      case 0: break
      case 1: run(random.pick(Call.allCases))
      case 2:
        run(.begin)
        register()
      default: register()
      }
    }
    log.append("left open \(machine.endPerforming())")
  }
}

@Suite("Exploration of undo stacks")
struct UndoStackExplorationTests {
  private func compare(_ calls: [Call], seed: UInt64) -> String? {
    var stack = Runner(UndoStack<Int, String>(), seed: seed)
    var model = Runner(ReferenceStack(), seed: seed)
    for call in calls {
      stack.run(call)
      model.run(call)
      let violations = stack.machine.invariantViolations()
      if !violations.isEmpty { return "\(calls), seed \(seed): \(violations)" }
      if stack.log != model.log {
        let pairs = zip(stack.log, model.log).first { $0 != $1 }
        return "\(calls), seed \(seed): \(pairs.map { "\($0)" } ?? "logs of different lengths")"
      }
    }
    return nil
  }

  @Test("UD-14: In every sequence of calls a stack does what a tree of groups does")
  func allSequences() {
    let lengthMax = Budget.isComplete ? 6 : 5
    var sequenceCount = 0
    func explore(_ calls: [Call]) {
      if calls.count == lengthMax {
        sequenceCount += 1
        if let problem = compare(calls, seed: UInt64(sequenceCount)) { Issue.record("\(problem)") }
        return
      }
      for call in Call.enumerated { explore(calls + [call]) }
    }
    explore([])
    #expect(sequenceCount == (0..<lengthMax).reduce(1) { count, _ in count * Call.enumerated.count })
  }

  @Test(
    "UD-14: In long random sequences a stack does what a tree of groups does",
    arguments: Budget.seeds(normal: 300, long: 4_000))
  func longSequences(seed: UInt64) {
    var random = SplitMix(seed: seed)
    // Registration is what programs do most.
    let calls = (0..<120).map { _ in random.chance(1, in: 3) ? .register : random.pick(Call.allCases) }
    if let problem = compare(calls, seed: seed) { Issue.record("\(problem)") }
  }
}

@Suite("Undo stacks of a document")
struct UndoStackDocumentTests {
  /// A text whose edits register what reverses them.
  private struct Document {
    enum Edit: Equatable {
      case insert(Int, at: Int)
      case remove(at: Int)
    }

    var text: [Int] = []
    var stack = UndoStack<Edit, String>()

    mutating func apply(_ edit: Edit) {
      switch edit {
      case .insert(let element, let place):
        text.insert(element, at: place)
        stack.register(.remove(at: place))
      case .remove(let place): stack.register(.insert(text.remove(at: place), at: place))
      }
    }

    mutating func finish() {
      while let edit = stack.nextAction() { apply(edit) }
      stack.endPerforming()
    }

    mutating func undo() throws -> Bool {
      guard try stack.beginUndo() else { return false }
      finish()
      return true
    }

    mutating func redo() throws -> Bool {
      guard try stack.beginRedo() else { return false }
      finish()
      return true
    }
  }

  @Test(
    "CD-10: Every undo leads to the text before a step and every redo to the one after it, also when steps nest",
    arguments: Budget.seeds(normal: 200, long: 4_000))
  func texts(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var document = Document()
    document.stack.levelsMax = random.pick([0, 0, 3, 8])
    // The texts from the oldest one that can be undone to, and where the document is among them.
    var texts: [[Int]] = [[]]
    var place = 0
    for _ in 0..<60 {
      if random.chance(2, in: 3) {
        document.stack.beginGroup()
        edit(&document, &random, depth: 0)
        try document.stack.endGroup()
        texts = texts[...place] + [document.text]
        place += 1
        if document.stack.levelsMax > 0, place > document.stack.levelsMax {
          texts.removeFirst()
          place -= 1
        }
      } else if random.chance(2, in: 3) {
        #expect(try document.undo() == (place > 0))
        place = max(0, place - 1)
      } else {
        #expect(try document.redo() == (place < texts.count - 1))
        place = min(texts.count - 1, place + 1)
      }
      #expect(document.text == texts[place], "seed \(seed)")
      #expect(document.stack.undoCount == place && document.stack.redoCount == texts.count - 1 - place, "seed \(seed)")
    }
  }

  private func edit(_ document: inout Document, _ random: inout SplitMix, depth: Int) {
    for number in 0...random.below(3) {
      if number > 0 && depth < 4 && random.chance(1, in: 3) {
        document.stack.beginGroup()
        edit(&document, &random, depth: depth + 1)
        #expect(throws: Never.self) { try document.stack.endGroup() }
      } else if document.text.isEmpty || random.chance(2, in: 3) {
        document.apply(.insert(random.below(1_000), at: random.below(document.text.count + 1)))
      } else {
        document.apply(.remove(at: random.below(document.text.count)))
      }
    }
  }
}
