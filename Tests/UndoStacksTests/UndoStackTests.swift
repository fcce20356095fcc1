import Testing
import UndoStacks

@Suite("Undo stacks")
struct UndoStackTests {
  private typealias Stack = UndoStack<Int, String>

  /// The actions of a performance.
  private func performed(_ stack: inout Stack) -> [Int] {
    var actions: [Int] = []
    while let action = stack.nextAction() { actions.append(action) }
    stack.endPerforming()
    return actions
  }

  @Test("UD-14: The last step is undone in reverse order, and what is registered meanwhile is redone in reverse order")
  func order() throws {
    var stack = Stack()
    stack.beginGroup()
    for action in 1...3 { stack.register(action) }
    try stack.endGroup()
    #expect(try stack.beginUndo())
    #expect(stack.performing == .undo && stack.level == 1)
    while let action = stack.nextAction() { stack.register(-action) }
    #expect(stack.endPerforming() == 0)
    #expect(stack.undoCount == 0 && stack.redoCount == 1 && stack.performing == nil)
    #expect(try stack.beginRedo())
    #expect(performed(&stack) == [-1, -2, -3])
  }

  @Test("UD-14: An action without a group is a step of its own, and takes away what could be redone")
  func single() throws {
    var stack = Stack()
    stack.register(1)
    stack.register(2)
    #expect(try stack.beginUndo())
    stack.register(3)
    #expect(performed(&stack) == [2])
    #expect(stack.undoCount == 1 && stack.redoCount == 1)
    stack.register(4)
    #expect(stack.undoCount == 2 && stack.redoCount == 0)
  }

  @Test("UD-14: Misuse is an error and changes nothing")
  func misuse() throws {
    var stack = Stack()
    #expect(throws: Stack.Misuse.noOpenGroup) { try stack.endGroup() }
    #expect(throws: Stack.Misuse.alreadyEnabled) { try stack.enable() }
    stack.beginGroup()
    stack.beginGroup()
    stack.register(1)
    #expect(throws: Stack.Misuse.innerGroupsOpen) { try stack.beginUndo() }
    #expect(throws: Stack.Misuse.actionsOutsideGroup) { try stack.beginUndoOfInnerGroup() }
    try stack.endGroup()
    #expect(try stack.beginUndoOfInnerGroup())
    #expect(throws: Stack.Misuse.performing) { try stack.beginUndo() }
    #expect(throws: Stack.Misuse.performing) { try stack.beginUndoOfInnerGroup() }
    #expect(throws: Stack.Misuse.performing) { try stack.beginRedo() }
    #expect(throws: Stack.Misuse.noOpenGroup) { try stack.endGroup() }
    #expect(performed(&stack) == [1])
    #expect(stack.level == 1 && stack.undoCount == 0)
  }

  @Test("UD-14: Groups that a handler leaves open are closed, and counted")
  func unbalancedHandler() throws {
    var stack = Stack()
    stack.register(1)
    #expect(try stack.beginUndo())
    stack.beginGroup()
    stack.register(2)
    stack.beginGroup()
    #expect(stack.endPerforming() == 2)
    #expect(stack.level == 0 && stack.redoCount == 1)
  }

  @Test("UD-14: Only as many steps are kept as allowed, the latest ones", arguments: [1, 2, 7])
  func levels(_ levelsMax: Int) throws {
    var stack = Stack()
    stack.levelsMax = levelsMax
    for action in 1...1_000 { stack.register(action) }
    #expect(stack.undoCount == levelsMax)
    var undone: [Int] = []
    while try stack.beginUndo() { undone += performed(&stack) }
    #expect(undone == Array((1_001 - levelsMax...1_000).reversed()))
    for action in 1...10 { stack.register(action) }
    stack.levelsMax = 0
    for action in 11...20 { stack.register(action) }
    #expect(stack.undoCount == min(levelsMax, 10) + 10)
  }

  @Test(
    "UD-14: A label names all open groups, or the last step, and the group that reverses a labelled one has its label")
  func labels() throws {
    var stack = Stack()
    stack.updateLabel { $0 = "of nothing" }
    stack.beginGroup()
    stack.updateLabel { $0 = "outer" }
    #expect(stack.label(.undo) == nil)
    stack.register(1)
    #expect(stack.label(.undo) == "outer")
    stack.beginGroup()
    stack.updateLabel { $0 = "inner" }
    try stack.endGroup()
    #expect(stack.label(.undo) == "inner")
    try stack.endGroup()
    stack.updateLabel { $0 = "later" }
    #expect(try stack.beginUndo())
    stack.register(-1)
    #expect(performed(&stack) == [1])
    #expect(stack.label(.undo) == nil && stack.label(.redo) == "later")
    #expect(try stack.beginRedo())
    stack.register(1)
    stack.updateLabel { $0 = ($0 ?? "") + " again" }
    _ = performed(&stack)
    #expect(stack.label(.undo) == "later again")
  }

  @Test("ND-8: A step is discardable if it's marked, or has only groups that are")
  func discardable() throws {
    var stack = Stack()
    stack.beginGroup()
    for action in 1...2 {
      stack.beginGroup()
      stack.register(action)
      stack.markDiscardable(true)
      #expect(stack.isInnermostGroupDiscardable)
      try stack.endGroup()
    }
    #expect(stack.isInnermostGroupDiscardable && stack.isDiscardable(.undo))
    stack.register(3)
    #expect(!stack.isInnermostGroupDiscardable && !stack.isDiscardable(.undo))
    try stack.endGroup()
    #expect(!stack.isDiscardable(.undo))
    stack.markDiscardable(true)
    #expect(stack.isDiscardable(.undo))
    #expect(try stack.beginUndo())
    stack.register(4)
    #expect(performed(&stack) == [3, 2, 1])
    #expect(!stack.isDiscardable(.undo) && stack.isDiscardable(.redo))
  }

  @Test("UD-14: Steps that would do nothing are dropped from the end, and others aren't")
  func uselessSteps() throws {
    var stack = Stack()
    for action in [1, 2, 4, 6] { stack.register(action) }
    stack.dropUselessSteps(.undo) { $0 % 2 == 0 }
    #expect(stack.undoCount == 1)
    stack.beginGroup()
    stack.register(8)
    stack.dropUselessSteps(.undo) { $0 % 2 == 0 }
    #expect(stack.undoCount == 2)
    try stack.endGroup()
    #expect(try stack.beginUndo())
    stack.register(10)
    _ = performed(&stack)
    stack.dropUselessSteps(.redo) { $0 % 2 == 0 }
    #expect(stack.redoCount == 0)
  }

  @Test("UD-14: A hundred thousand groups inside each other are closed, undone and released")
  func deepNesting() throws {
    var stack = Stack()
    let depth = 100_000
    for action in 0..<depth {
      stack.beginGroup()
      stack.register(action)
    }
    #expect(stack.level == depth)
    for _ in 0..<depth { try stack.endGroup() }
    #expect(stack.undoCount == 1)
    #expect(try stack.beginUndo())
    #expect(performed(&stack).count == depth)
  }

  @Test("UD-14: A removal of all stops a performance, and leaves groups open")
  func removal() throws {
    var stack = Stack()
    stack.register(1)
    stack.beginGroup()
    stack.beginGroup()
    stack.register(2)
    stack.disable()
    stack.removeAll()
    #expect(stack.isEnabled && stack.level == 2 && stack.undoCount == 0)
    stack.register(3)
    try stack.endGroup()
    try stack.endGroup()
    #expect(try stack.beginUndo())
    stack.register(4)
    stack.removeAll()
    #expect(stack.nextAction() == nil)
    stack.endPerforming()
    #expect(stack.redoCount == 0)
  }

  @Test("UD-14: Objects in actions are released with the step that goes")
  func release() {
    final class Object {}
    var stack = UndoStack<Object, String>()
    stack.levelsMax = 2
    weak var first: Object?
    do {
      let object = Object()
      first = object
      stack.register(object)
    }
    stack.register(Object())
    #expect(first != nil)
    stack.register(Object())
    #expect(first == nil)
  }
}
