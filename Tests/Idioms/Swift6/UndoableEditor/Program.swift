import Foundation
import FoundationCompatibility
import Scene

// A view model with undo, as people write it beside an interface, and menu items that follow its notifications.

extension UndoManager.UserInfoKey {
  static let symbol: UndoManager.UserInfoKey = "symbol"
}

@MainActor
final class OutlineModel {
  private(set) var items: [String] = []
  let undoManager = UndoManager()

  func insert(_ item: String, at index: Int? = nil) {
    let index = index ?? items.count
    items.insert(item, at: index)
    undoManager.setActionUserInfoValue("plus", forKey: .symbol)
    undoManager.registerUndo(withTarget: self) { model in
      model.remove(at: index)
    }
    if !undoManager.isUndoing && !undoManager.isRedoing {
      undoManager.setActionName("Insert \(item)")
    }
  }

  func remove(at index: Int) {
    let item = items.remove(at: index)
    undoManager.registerUndo(withTarget: self) { $0.insert(item, at: index) }
  }

  /// Several changes that are one step.
  func replaceAll(with new: [String]) {
    undoManager.beginUndoGrouping()
    defer { undoManager.endUndoGrouping() }
    while !items.isEmpty { remove(at: items.count - 1) }
    for item in new { insert(item) }
    undoManager.setActionName("Replace All")
  }
}

@MainActor
final class MenuState {
  private(set) var undoTitle = ""
  private(set) var redoTitle = ""
  private var tokens: [any NSObjectProtocol] = []

  init(_ undoManager: UndoManager) {
    let names: [Notification.Name] = [
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerDidUndoChange, .NSUndoManagerDidRedoChange,
    ]
    for name in names {
      tokens.append(
        NotificationCenter.default.addObserver(forName: name, object: undoManager, queue: nil) { [weak self] _ in
          MainActor.assumeIsolated {
            self?.undoTitle = undoManager.canUndo ? undoManager.undoMenuItemTitle : "Can't Undo"
            self?.redoTitle = undoManager.canRedo ? undoManager.redoMenuItemTitle : "Can't Redo"
          }
        })
    }
  }
}

@main
struct Program {
  @MainActor
  static func main() async {
    let model = OutlineModel()
    let menu = MenuState(model.undoManager)
    model.undoManager.levelsOfUndo = 10

    // Two clicks of the user.
    await click { model.insert("a") }
    Scene.check(menu.undoTitle == "Undo Insert a", menu.undoTitle)
    await click { model.replaceAll(with: ["b", "c"]) }
    Scene.check(model.undoManager.undoCount == 2, "\(model.undoManager.undoCount) steps")
    Scene.check(menu.undoTitle == "Undo Replace All", menu.undoTitle)

    await click { model.undoManager.undo() }
    Scene.check(model.items == ["a"], "\(model.items)")
    Scene.check(menu.undoTitle == "Undo Insert a" && menu.redoTitle == "Redo Replace All", "\(menu.redoTitle)")
    await click { model.undoManager.redo() }
    Scene.check(model.items == ["b", "c"], "\(model.items)")
    await click {
      model.undoManager.undo()
      model.undoManager.undo()
    }
    Scene.check(model.items.isEmpty && menu.undoTitle == "Can't Undo", "\(model.items)")
    Scene.check(model.undoManager.redoActionUserInfoValue(forKey: .symbol) as? String == "plus", "no symbol")

    // An edit after an undo takes away the redo.
    await click { model.insert("d") }
    Scene.check(!model.undoManager.canRedo && menu.redoTitle == "Can't Redo", menu.redoTitle)
    model.undoManager.removeAllActions()
    Scene.check(!model.undoManager.canUndo, "actions are left")
    Scene.finish()
  }

  /// The action of an event, and the end of its turn.
  @MainActor
  private static func click(_ action: @MainActor () -> Void) async {
    action()
    await withCheckedContinuation { end in DispatchQueue.main.async { end.resume() } }
  }
}
