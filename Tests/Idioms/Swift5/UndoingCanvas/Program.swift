// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A canvas of the time before there were actors: its undo manager is optional, and it's used from wherever.

class Canvas: NSObject {
  var undoManager: UndoManager? = UndoManager()
  private(set) var shapes: [String] = []
  private(set) var isEdited = false

  override init() {
    super.init()
    NotificationCenter.default.addObserver(
      forName: NSNotification.Name.NSUndoManagerDidCloseUndoGroup, object: undoManager, queue: nil
    ) { [weak self] _ in self?.isEdited = true }.retain(in: self)
  }

  fileprivate var observers: [NSObjectProtocol] = []

  deinit {
    undoManager?.removeAllActions(withTarget: self)
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  func add(_ shape: String) {
    shapes.append(shape)
    undoManager?.registerUndo(
      withTarget: self,
      handler: { target in
        target.remove(shape)
      })
    if undoManager?.isUndoing == false { undoManager?.setActionName("Add " + shape) }
  }

  func remove(_ shape: String) {
    guard let index = shapes.firstIndex(of: shape) else { return }
    shapes.remove(at: index)
    undoManager?.registerUndo(withTarget: self) { $0.add(shape) }
  }

  func removeAll() {
    undoManager?.beginUndoGrouping()
    for shape in shapes { remove(shape) }
    undoManager?.setActionName("Clear")
    undoManager?.endUndoGrouping()
  }
}

extension NSObjectProtocol {
  fileprivate func retain(in canvas: Canvas) { canvas.observers.append(self) }
}

func runCanvas() {
  let canvas = Canvas()
  canvas.undoManager!.groupsByEvent = false
  for shape in ["circle", "square"] {
    canvas.undoManager!.beginUndoGrouping()
    canvas.add(shape)
    canvas.undoManager!.endUndoGrouping()
  }
  canvas.removeAll()
  Scene.check(canvas.isEdited, "no notification")
  Scene.check(canvas.undoManager!.undoMenuItemTitle == "Undo Clear", canvas.undoManager!.undoMenuItemTitle)
  canvas.undoManager!.undo()
  Scene.check(canvas.shapes.sorted() == ["circle", "square"], "\(canvas.shapes)")
  canvas.undoManager!.undo()
  Scene.check(canvas.shapes == ["circle"], "\(canvas.shapes)")
  canvas.undoManager!.redo()
  Scene.check(canvas.shapes.count == 2, "\(canvas.shapes)")
}

/// Nobody serves the main queue meanwhile, so all is one step.
func runWithoutTurns() {
  let canvas = Canvas()
  canvas.add("circle")
  canvas.add("square")
  canvas.undoManager!.undo()
  Scene.check(canvas.shapes.isEmpty && !canvas.undoManager!.canUndo, "\(canvas.shapes)")
}

/// With a run loop, a pass of it is a turn.
func runWithRunLoop() {
  let canvas = Canvas()
  for shape in ["circle", "square"] {
    RunLoop.main.perform { canvas.add(shape) }
    while canvas.undoManager!.groupingLevel > 0 || canvas.shapes.last != shape {
      Scene.check(RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 10)), "the run loop")
    }
  }
  Scene.check(canvas.undoManager!.undoCount == 2, "\(canvas.undoManager!.undoCount) steps")
}

/// On a thread without a queue the group is closed by `undo`.
func runOnThread() {
  let isDone = DispatchSemaphore(value: 0)
  Thread {
    runWithoutTurns()
    isDone.signal()
  }.start()
  Scene.wait(isDone, "the thread")
}

@main
struct Program {
  static func main() {
    runCanvas()
    runWithoutTurns()
    runWithRunLoop()
    runOnThread()
    Scene.finish()
  }
}
