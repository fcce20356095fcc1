import Foundation
import FoundationCompatibility
import Testing

@Suite("Notifications and misuse of UndoManager") @MainActor
struct UndoManagerNotificationTests {
  /// Writes down the notifications of a manager.
  @MainActor private final class Observer {
    private(set) var names: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ manager: UndoManager) {
      let all: [(Notification.Name, String)] = [
        (.NSUndoManagerCheckpoint, "checkpoint"), (.NSUndoManagerDidOpenUndoGroup, "opened"),
        (.NSUndoManagerWillCloseUndoGroup, "closing"), (.NSUndoManagerDidCloseUndoGroup, "closed"),
        (.NSUndoManagerWillUndoChange, "undoing"), (.NSUndoManagerDidUndoChange, "undone"),
        (.NSUndoManagerWillRedoChange, "redoing"), (.NSUndoManagerDidRedoChange, "redone"),
      ]
      for (name, text) in all {
        tokens.append(
          NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [weak self] note in
            let isDiscardable = note.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool
            MainActor.assumeIsolated { self?.note(isDiscardable == true ? text + ", discardable" : text) }
          })
      }
    }

    private func note(_ name: String) { names.append(name) }

    func take() -> [String] {
      defer { names = [] }
      return names
    }

    isolated deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
  }

  private func makeText() -> UndoableText {
    _ = Sandbox.domain
    let text = UndoableText()
    text.undoManager.groupsByEvent = false
    return text
  }

  @Test("UD-14: Groups, undo and redo post their notifications in order")
  func order() {
    let text = makeText()
    let (manager, observer) = (text.undoManager, Observer(text.undoManager))
    manager.beginUndoGrouping()
    #expect(observer.take() == ["opened"])
    manager.beginUndoGrouping()
    #expect(observer.take() == ["checkpoint", "opened"])
    text.append("a")
    #expect(observer.take() == [])
    manager.endUndoGrouping()
    #expect(observer.take() == ["checkpoint", "closing", "closed"])
    manager.undo()
    #expect(observer.take() == ["checkpoint", "checkpoint", "closing", "closed", "checkpoint", "undoing", "undone"])
    manager.redo()
    #expect(observer.take() == ["checkpoint", "redoing", "redone"])
    _ = manager.canRedo
    #expect(observer.take() == ["checkpoint"])
    _ = manager.canUndo
    #expect(observer.take() == [])
  }

  @Test("ND-8: Notifications about a group that need not be saved say so, and the step that reverses it is such a one")
  func discardable() {
    let text = makeText()
    let (manager, observer) = (text.undoManager, Observer(text.undoManager))
    manager.beginUndoGrouping()
    text.append("scrolled")
    manager.setActionIsDiscardable(true)
    _ = observer.take()
    manager.endUndoGrouping()
    #expect(observer.take() == ["checkpoint", "closing, discardable", "closed, discardable"])
    #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
    manager.undo()
    #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
  }

  @Test("UD-14: A handler that an observer of the checkpoint registers is in the group that's about to be closed")
  func checkpoint() {
    let text = makeText()
    let other = UndoableText(text.undoManager)
    text.undoManager.beginUndoGrouping()
    text.append("a")
    let token = NotificationCenter.default.addObserver(
      of: text.undoManager, for: UndoManager.CheckpointMessage.self
    ) { _ in if other.lines.isEmpty { other.append("pending") } }
    text.undoManager.endUndoGrouping()
    NotificationCenter.default.removeObserver(token)
    #expect(text.undoManager.undoCount == 1)
    text.undoManager.undo()
    #expect(text.lines.isEmpty && other.lines.isEmpty)
  }

  @Test("UD-14: Each notification is posted as a message too")
  func messages() {
    let (text, center) = (makeText(), NotificationCenter.default)
    let manager = text.undoManager
    var seen: [String] = []
    let tokens = [
      center.addObserver(of: manager, for: .checkpoint) { _ in seen.append("checkpoint") },
      center.addObserver(of: manager, for: .didOpenUndoGroup) { _ in seen.append("opened") },
      center.addObserver(of: manager, for: .willCloseUndoGroup) { seen.append("closing \($0.groupIsDiscardable)") },
      center.addObserver(of: manager, for: .didCloseUndoGroup) { seen.append("closed \($0.groupIsDiscardable)") },
      center.addObserver(of: manager, for: .willUndoChange) { _ in seen.append("undoing \(manager.isUndoing)") },
      center.addObserver(of: manager, for: .didUndoChange) { _ in seen.append("undone \(manager.isUndoing)") },
      center.addObserver(of: manager, for: .willRedoChange) { _ in seen.append("redoing \(manager.isRedoing)") },
      center.addObserver(of: manager, for: .didRedoChange) { _ in seen.append("redone \(manager.isRedoing)") },
    ]
    manager.beginUndoGrouping()
    text.append("a")
    manager.setActionIsDiscardable(true)
    manager.endUndoGrouping()
    #expect(seen == ["opened", "checkpoint", "closing true", "closed true"])
    seen = []
    manager.undo()
    manager.redo()
    #expect(
      seen == [
        "checkpoint", "checkpoint", "undoing true", "undone false", "checkpoint", "redoing true", "redone false",
      ])
    for token in tokens { center.removeObserver(token) }
  }

  @Test("CD-11: A registration is noticed without any further call: the turn's group is opened")
  func opening() async {
    let text = UndoableText()
    let observer = Observer(text.undoManager)
    text.append("a")
    #expect(observer.take() == ["opened"])
    text.append("b")
    #expect(observer.take() == [])
    await nextTurn()
    #expect(observer.take() == ["checkpoint", "closing", "closed"])
  }

  @Test("UD-14: Misuse is reported, and nothing is lost by it")
  func misuse() {
    let text = makeText()
    let manager = text.undoManager
    func isReported(_ problem: String) -> Bool {
      Sandbox.misuse.entries.contains { $0.contains("UndoManager: \(problem)") }
    }
    manager.endUndoGrouping()
    #expect(isReported("endUndoGrouping() without beginUndoGrouping()"))
    manager.enableUndoRegistration()
    #expect(isReported("enableUndoRegistration() without") && manager.isUndoRegistrationEnabled)
    manager.levelsOfUndo = -1
    #expect(isReported("levelsOfUndo = -1") && manager.levelsOfUndo == 0)
    text.append("a")
    #expect(isReported("a registration without a group") && manager.undoCount == 1)
    manager.beginUndoGrouping()
    manager.beginUndoGrouping()
    text.append("b")
    manager.undo()
    #expect(isReported("undo() while 2 groups are open") && text.lines == ["a", "b"])
    manager.undoNestedGroup()
    #expect(isReported("undoNestedGroup() with handlers outside") && text.lines == ["a", "b"])
    manager.endUndoGrouping()
    manager.registerUndo(withTarget: text) { text in
      text.undoManager.undo()
      text.undoManager.redo()
      text.undoManager.undoNestedGroup()
      text.undoManager.endUndoGrouping()
      text.undoManager.beginUndoGrouping()
      text.append("from the handler")
    }
    manager.undo()
    for call in ["undo()", "redo()", "undoNestedGroup()"] { #expect(isReported("\(call) in a handler")) }
    #expect(isReported("handlers of an undo or redo have left 1 groups open"))
    #expect(text.lines == ["a"] || text.lines == ["a", "b"], "\(text.lines)")
    #expect(manager.undoCount == 1 && manager.redoCount == 1 && manager.groupingLevel == 0)
  }
}
