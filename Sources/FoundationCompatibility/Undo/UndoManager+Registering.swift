#if !canImport(ObjectiveC)
  internal import Foundation
  internal import UndoStacks

  /// A handler with the object that it changes.
  struct UndoAction {
    private(set) weak var target: AnyObject?
    /// Finds the handlers of a target that is being deallocated, to which there are no weak references any more.
    let identifier: ObjectIdentifier
    private let handler: @MainActor (AnyObject) -> Void

    @MainActor init<Target: AnyObject>(_ target: Target, _ handler: @escaping @MainActor (Target) -> Void) {
      self.target = target
      identifier = ObjectIdentifier(target)
      self.handler = { target in
        if let target = target as? Target { handler(target) }
      }
    }

    /// Calls the handler, unless its target is gone.
    @MainActor func perform() {
      if let target { handler(target) }
    }
  }

  extension UndoManager {
    /// Registers what undoes a change; in a handler of an undo, what does it again.
    ///
    /// Changes that could be redone can't be redone any more, unless this is called in a handler. Without an open group, which is
    /// only while ``groupsByEvent`` is `false`, that's reported as misuse, and the handler is a step of its own.
    ///
    /// - Parameters:
    ///   - target: The object to change. It isn't kept alive, and nothing is done when it's gone.
    ///   - handler: Changes the object, and registers what undoes that. Called on the main actor by ``undo()`` or ``redo()``.
    public final func registerUndo<TargetType>(
      withTarget target: TargetType, handler: @escaping @MainActor (TargetType) -> Void
    ) where TargetType: AnyObject {
      guard stack.isEnabled else { return }
      openAutomaticGroup()
      if stack.level == 0 {
        report("a registration without a group, while groupsByEvent is false: call beginUndoGrouping() first")
      }
      stack.register(UndoAction(target, handler))
    }

    /// Registers a method that undoes a change.
    ///
    /// On Linux there are neither selectors nor messages to objects of any class. In the place of `#selector(Editor.setText(_:))` stands
    /// `Editor.setText`, the method itself, with an object of its own type.
    ///
    /// - Parameters:
    ///   - target: The object whose method is called. It isn't kept alive.
    ///   - selector: The method, of one parameter.
    ///   - anObject: The argument, which is kept.
    public final func registerUndo<TargetType, Argument>(
      withTarget target: TargetType, selector: @escaping @MainActor (TargetType) -> @MainActor (Argument) -> Void,
      object anObject: Argument
    ) where TargetType: AnyObject {
      registerUndo(withTarget: target) { target in selector(target)(anObject) }
    }

    /// Isn't possible on Linux: no object can take messages for another one that it forwards later.
    ///
    /// - Parameter target: The object to change.
    /// - Returns: Nothing.
    @available(
      *, unavailable,
      message:
        "Swift on Linux can't forward messages. Use registerUndo(withTarget:handler:), with the call in the handler"
    )
    public final func prepare(withInvocationTarget target: Any) -> Any { fatalError("unavailable") }
  }
#endif
