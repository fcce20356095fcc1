import Foundation
import FoundationCompatibility
import SeededRandom
import Testing

/// A text with an undo manager, as programs have it.
@MainActor final class UndoableText {
  let undoManager: UndoManager
  private(set) var lines: [String] = []

  init(_ undoManager: UndoManager = UndoManager()) { self.undoManager = undoManager }

  func append(_ line: String) {
    lines.append(line)
    undoManager.registerUndo(withTarget: self) { $0.removeLast() }
  }

  func removeLast() {
    let line = lines.removeLast()
    undoManager.registerUndo(withTarget: self) { $0.append(line) }
  }

  /// In the form with a method.
  func replaceAll(_ lines: [String]) {
    undoManager.registerUndo(withTarget: self, selector: UndoableText.replaceAll, object: self.lines)
    self.lines = lines
  }
}

/// Waits for the end of this turn of the main queue.
@MainActor func nextTurn() async {
  await withCheckedContinuation { turn in DispatchQueue.main.async { turn.resume() } }
}

@Suite("UndoManager") @MainActor
struct UndoManagerTests {
  /// A text whose groups are the test's own.
  private func textWithoutTurns() -> UndoableText {
    let text = UndoableText()
    text.undoManager.groupsByEvent = false
    return text
  }

  private func group(_ text: UndoableText, _ body: () -> Void) {
    text.undoManager.beginUndoGrouping()
    body()
    text.undoManager.endUndoGrouping()
  }

  @Test("UD-14: Handlers that are registered in one turn of the main queue are one step, and no run loop is needed")
  func turns() async {
    let text = UndoableText()
    let manager = text.undoManager
    text.append("a")
    text.append("b")
    #expect(manager.groupingLevel == 1 && manager.canUndo && manager.undoCount == 1)
    await nextTurn()
    #expect(manager.groupingLevel == 0 && manager.undoCount == 1)
    text.append("c")
    await nextTurn()
    #expect(manager.undoCount == 2)
    manager.undo()
    #expect(text.lines == ["a", "b"])
    manager.undo()
    #expect(text.lines.isEmpty && !manager.canUndo && manager.redoCount == 2)
    manager.redo()
    #expect(text.lines == ["a", "b"])
    manager.redo()
    #expect(text.lines == ["a", "b", "c"] && !manager.canRedo)
    await nextTurn()
    manager.undo()
    #expect(text.lines == ["a", "b"])
  }

  @Test("UD-14: Actors' jobs on the main actor are turns as well, and one that was queued before belongs to the first")
  func jobs() async {
    let text = UndoableText()
    let first = Task { text.append("a") }
    await first.value
    await nextTurn()
    let second = Task { text.append("b") }
    await second.value
    await nextTurn()
    #expect(text.undoManager.undoCount == 2 && text.undoManager.groupingLevel == 0)
  }

  @Test("UD-14: An undo in the turn of the change closes the group, and a change after it is a step of its own")
  func undoInTurn() async {
    let text = UndoableText()
    text.append("a")
    text.undoManager.undo()
    #expect(text.lines.isEmpty && text.undoManager.groupingLevel == 0)
    text.append("b")
    text.undoManager.endUndoGrouping()
    text.append("c")
    #expect(text.undoManager.undoCount == 2 && !text.undoManager.canRedo)
    await nextTurn()
    #expect(text.undoManager.groupingLevel == 0 && text.undoManager.undoCount == 2)
  }

  @Test(
    "UD-14: Groups of the program are inside of the turn's, which is closed in the turn in which the last of them is")
  func groupOverTurns() async {
    let text = UndoableText()
    text.undoManager.beginUndoGrouping()
    #expect(text.undoManager.groupingLevel == 2)
    text.append("a")
    await nextTurn()
    #expect(text.undoManager.groupingLevel == 2)
    text.append("b")
    text.undoManager.endUndoGrouping()
    #expect(text.undoManager.groupingLevel == 1)
    await nextTurn()
    #expect(text.undoManager.groupingLevel == 0 && text.undoManager.undoCount == 1)
    text.undoManager.undo()
    #expect(text.lines.isEmpty)
  }

  @Test("UD-14: Without groups by event the groups of the program are the steps")
  func explicitGroups() {
    let text = textWithoutTurns()
    group(text) { text.append("a") }
    group(text) {
      text.append("b")
      group(text) { text.append("c") }
    }
    // Without a registration there's no step.
    group(text) {}
    #expect(text.undoManager.undoCount == 2)
    text.undoManager.undo()
    #expect(text.lines == ["a"])
    text.undoManager.redo()
    #expect(text.lines == ["a", "b", "c"])
  }

  @Test("UD-14: The last complete group of an open one is undone alone")
  func nestedUndo() {
    let text = textWithoutTurns()
    group(text) {
      text.append("a")
      group(text) { text.append("b") }
      text.undoManager.undoNestedGroup()
      #expect(text.lines == ["a"] && text.undoManager.groupingLevel == 1 && text.undoManager.redoCount == 1)
      text.undoManager.redo()
      #expect(text.lines == ["a", "b"] && text.undoManager.redoCount == 0)
    }
    text.undoManager.undoNestedGroup()
    #expect(text.lines.isEmpty)
  }

  @Test("UD-14: Targets aren't kept alive; steps of targets that are gone aren't offered")
  func weakTargets() {
    let manager = UndoManager()
    manager.groupsByEvent = false
    let kept = UndoableText(manager)
    group(kept) { kept.append("a") }
    weak var reference: UndoableText?
    do {
      let gone = UndoableText(manager)
      reference = gone
      group(gone) { gone.append("b") }
      manager.setActionName("of the object that goes")
      #expect(manager.undoCount == 2)
    }
    #expect(reference == nil)
    #expect(manager.canUndo && manager.undoCount == 1 && manager.undoActionName.isEmpty)
    manager.undo()
    #expect(kept.lines.isEmpty && !manager.canUndo)
  }

  @Test("UD-14: The handlers of a target are forgotten, also while it's deallocated")
  func removalOfTarget() {
    @MainActor final class Leaving {
      let manager: UndoManager
      init(_ manager: UndoManager) { self.manager = manager }
      isolated deinit { manager.removeAllActions(withTarget: self) }
    }
    let text = textWithoutTurns()
    let other = UndoableText(text.undoManager)
    group(text) {
      text.append("a")
      other.append("b")
    }
    text.undoManager.removeAllActions(withTarget: other)
    var leaving: Leaving? = Leaving(text.undoManager)
    if let leaving {
      group(text) { text.undoManager.registerUndo(withTarget: leaving) { _ in Issue.record("called") } }
    }
    leaving = nil
    #expect(text.undoManager.undoCount == 1)
    text.undoManager.undo()
    #expect(text.lines.isEmpty && other.lines == ["b"])
    text.undoManager.removeAllActions(withTarget: 5)
    #expect(text.undoManager.canRedo)
  }

  @Test("UD-14: A method of a target is registered with its argument")
  func methods() {
    let text = textWithoutTurns()
    group(text) { text.replaceAll(["a", "b"]) }
    group(text) { text.replaceAll(["c"]) }
    text.undoManager.undo()
    #expect(text.lines == ["a", "b"])
    text.undoManager.undo()
    #expect(text.lines.isEmpty)
    text.undoManager.redo()
    text.undoManager.redo()
    #expect(text.lines == ["c"])
  }

  @Test("UD-14: Registration that's disabled, as often as it's not enabled again, registers nothing")
  func disabling() {
    let text = textWithoutTurns()
    let manager = text.undoManager
    #expect(manager.isUndoRegistrationEnabled)
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    #expect(!manager.isUndoRegistrationEnabled)
    group(text) { text.append("a") }
    #expect(!manager.canUndo)
    manager.enableUndoRegistration()
    group(text) { text.append("b") }
    #expect(manager.canUndo)
    manager.disableUndoRegistration()
    manager.removeAllActions()
    #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
  }

  @Test("UD-14: Of more steps than levels the oldest are forgotten, also when levels are reduced")
  func levels() {
    let text = textWithoutTurns()
    #expect(text.undoManager.levelsOfUndo == 0)
    text.undoManager.levelsOfUndo = 3
    for number in 0..<10 { group(text) { text.append("\(number)") } }
    #expect(text.undoManager.undoCount == 3)
    text.undoManager.levelsOfUndo = 2
    #expect(text.undoManager.undoCount == 2)
    while text.undoManager.canUndo { text.undoManager.undo() }
    #expect(text.lines.count == 8)
  }

  @Test("UD-14: A name may be set before or after the registration, and the redo has it too")
  func names() async {
    let text = UndoableText()
    let manager = text.undoManager
    manager.setActionName("First")
    #expect(manager.undoActionName.isEmpty && manager.undoMenuItemTitle == "Undo")
    text.append("a")
    #expect(manager.undoActionName == "First" && manager.undoMenuItemTitle == "Undo First")
    await nextTurn()
    text.append("b")
    manager.setActionName("Second")
    await nextTurn()
    manager.undo()
    #expect(manager.undoActionName == "First" && manager.redoMenuItemTitle == "Redo Second")
    manager.redo()
    #expect(manager.undoActionName == "Second" && manager.redoMenuItemTitle == "Redo")
    // A name without a change names nothing.
    manager.setActionName("Nothing")
    await nextTurn()
    #expect(manager.undoActionName == "Second" && manager.undoCount == 2)
    text.append("c")
    manager.setActionName("Third")
    manager.setActionName("")
    await nextTurn()
    #expect(manager.undoActionName.isEmpty && manager.undoMenuItemTitle == "Undo")
    #expect(manager.undoMenuTitle(forUndoActionName: "Cut") == "Undo Cut")
    #expect(manager.redoMenuTitle(forUndoActionName: "Cut") == "Redo Cut")
  }

  @Test("UD-14: Values of a step are those of the step that reverses it")
  func values() {
    let (text, key) = (textWithoutTurns(), UndoManager.UserInfoKey("icon"))
    group(text) {
      text.undoManager.setActionUserInfoValue(7, forKey: key)
      text.undoManager.setActionName("Seven")
      text.append("a")
    }
    #expect(text.undoManager.undoActionUserInfoValue(forKey: key) as? Int == 7)
    #expect(text.undoManager.undoActionUserInfoValue(forKey: "other") == nil)
    text.undoManager.undo()
    #expect(text.undoManager.redoActionUserInfoValue(forKey: key) as? Int == 7)
    #expect(text.undoManager.redoActionName == "Seven")
    text.undoManager.redo()
    text.undoManager.setActionUserInfoValue(nil, forKey: key)
    #expect(text.undoManager.undoActionUserInfoValue(forKey: key) == nil)
  }

  @Test("UD-14: A subclass sees every call that the manager makes of itself")
  func subclass() {
    final class Counting: UndoManager {
      private(set) var endCount = 0
      override func endUndoGrouping() {
        endCount += 1
        super.endUndoGrouping()
      }
      override func undoMenuTitle(forUndoActionName actionName: String) -> String { "Rückgängig: \(actionName)" }
    }
    let manager = Counting()
    let text = UndoableText(manager)
    text.append("a")
    manager.setActionName("x")
    #expect(manager.undoMenuItemTitle == "Rückgängig: x")
    manager.undo()
    #expect(manager.endCount == 1)
  }

  @Test(
    "CD-10: Any mixture of changes, undo and redo leads to the texts of before",
    arguments: Budget.seeds(normal: 40, long: 4_000))
  func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let text = textWithoutTurns()
    var (texts, place) = ([text.lines], 0)
    for step in 0..<60 {
      switch random.below(4) {
      case 0, 1:
        group(text) {
          for number in 0...random.below(3) {
            if number > 0 && random.chance(1, in: 2) { group(text) { text.append("\(step) inner") } }
            if text.lines.isEmpty || random.chance(2, in: 3) { text.append("\(step)") } else { text.removeLast() }
          }
        }
        texts = texts[...place] + [text.lines]
        place += 1
      case 2:
        text.undoManager.undo()
        place = max(0, place - 1)
      default:
        text.undoManager.redo()
        place = min(texts.count - 1, place + 1)
      }
      #expect(text.lines == texts[place], "seed \(seed), step \(step)")
      #expect(text.undoManager.canUndo == (place > 0) && text.undoManager.canRedo == (place < texts.count - 1))
    }
  }
}
