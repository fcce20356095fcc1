#if !canImport(ObjectiveC)
  public import Foundation
  internal import UndoStacks

  /// Records what undoes the changes of a program, in groups, and what does them again.
  ///
  /// Apple's class in Swift: a program registers a handler for each change, and the groups of handlers are the user's steps. The
  /// handlers that are registered during an undo become the redo. A group without a handler is dropped, so that each step has an
  /// effect. The target of a handler is held weakly: when it's gone, its handlers are skipped, and steps that have no other aren't
  /// offered.
  ///
  /// **Automatic groups.** While ``groupsByEvent`` is true, the first registration opens a group, and so does setting an action's name or
  /// value before it. The group is closed at the end of the turn: by a block in the queue of the main thread. No run loop is needed; a
  /// program with an asynchronous `main`, `dispatchMain()` or a run loop serves that queue. Work that stood in the queue at the first
  /// registration still belongs to the group, as it belongs to one pass of a run loop on Apple platforms. In a program whose main thread
  /// never serves its queue, and elsewhere than in that queue, where only programs in Swift 5 mode get, the group is closed by ``undo()``,
  /// ``redo()`` or ``endUndoGrouping()``. A group that a program opens itself is inside of the automatic one, as on Apple platforms; set
  /// ``groupsByEvent`` to `false` for steps of your own.
  ///
  /// **Misuse** that raises an exception on Apple platforms is reported to ``NSFileCoordinator/setMisuseHandler(_:)``, and changes nothing. A
  /// registration outside of any group is reported as well, and is a step of its own.
  ///
  /// Belongs to the main actor, as on Apple platforms. Each notification is also posted as a message: on Linux,
  /// `NotificationCenter` doesn't turn one form into the other.
  ///
  /// - Note: Rules UD-14 and CD-11.
  @MainActor @preconcurrency open class UndoManager: NSObject {
    /// The name and the values of a step.
    struct Label {
      var name = ""
      var values: [UserInfoKey: Any] = [:]
    }

    var stack = UndoStack<UndoAction, Label>()
    private var automaticGroup = AutomaticGroup()

    /// Makes a manager without handlers.
    public override init() { super.init() }

    // MARK: - Groups

    /// Opens a group, inside of those that are open.
    ///
    /// Posts `NSUndoManagerCheckpoint` if it isn't the outermost group and nothing is being undone or redone, then
    /// `NSUndoManagerDidOpenUndoGroup`.
    open func beginUndoGrouping() {
      openAutomaticGroup()
      if stack.performing == nil && stack.level > 0 { post(.checkpoint) }
      stack.beginGroup()
      post(.didOpenGroup)
    }

    /// Closes the innermost group; without one of the program's own, the automatic one.
    ///
    /// Posts `NSUndoManagerCheckpoint`, so that observers can still add to the group, `NSUndoManagerWillCloseUndoGroup` and
    /// `NSUndoManagerDidCloseUndoGroup`. If no group is open, that's reported as misuse.
    open func endUndoGrouping() {
      guard stack.level > (stack.performing == nil ? 0 : 1) else {
        return report("endUndoGrouping() without beginUndoGrouping()")
      }
      post(.checkpoint)
      let isDiscardable = stack.isInnermostGroupDiscardable
      post(.willCloseGroup(isDiscardable: isDiscardable))
      // An observer may have closed it.
      do { try stack.endGroup() } catch {
        return report("endUndoGrouping() in an observer of a group that's being closed")
      }
      if stack.performing == nil && stack.level == 0 { automaticGroup.isOpen = false }
      post(.didCloseGroup(isDiscardable: isDiscardable))
      if stack.performing == nil && stack.level == 1 { closeAutomaticGroupLater() }
    }

    /// How many groups are open, the automatic one included; while something is undone or redone, in the group that reverses it.
    open var groupingLevel: Int { stack.level }

    /// Whether the registrations of one turn of the main queue are one group; true unless set.
    open var groupsByEvent = true

    /// The modes of run loops in which groups were closed on Apple platforms; stored only.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    /// How many steps can be undone at most, and redone; 0, unless set, for any number.
    ///
    /// The oldest are forgotten when there are more. A negative number is reported as misuse.
    open var levelsOfUndo: Int {
      get { stack.levelsMax }
      set {
        if newValue < 0 { return report("levelsOfUndo = \(newValue)") }
        stack.levelsMax = newValue
      }
    }

    // MARK: - Recording

    /// Ignores registrations until as many calls of ``enableUndoRegistration()``.
    open func disableUndoRegistration() { stack.disable() }

    /// Takes back one call of ``disableUndoRegistration()``; without one, that's reported as misuse.
    open func enableUndoRegistration() {
      do { try stack.enable() } catch { report("enableUndoRegistration() without disableUndoRegistration()") }
    }

    /// Whether registrations are kept.
    open var isUndoRegistrationEnabled: Bool { stack.isEnabled }

    // MARK: - Undo and redo

    /// Closes the group that's open, and undoes the last step.
    ///
    /// Posts `NSUndoManagerCheckpoint` first, then what ``endUndoGrouping()`` and ``undoNestedGroup()`` post. Reported as misuse while
    /// several groups are open, or something is being undone or redone.
    open func undo() {
      guard canPerform("undo()") else { return }
      if stack.level > 1 {
        return report("undo() while \(stack.level) groups are open: close them, or call undoNestedGroup()")
      }
      post(.checkpoint)
      if stack.level == 1 { endUndoGrouping() }
      undoNestedGroup()
    }

    /// Undoes the last step; while a group is open, the last complete group in it.
    ///
    /// Posts `NSUndoManagerCheckpoint`, and around the handlers `NSUndoManagerWillUndoChange` and `NSUndoManagerDidUndoChange`.
    /// Reported as misuse if handlers were registered in the open group since a group in it was closed.
    open func undoNestedGroup() {
      guard canPerform("undoNestedGroup()") else { return }
      post(.checkpoint)
      dropUselessSteps(.undo)
      do {
        guard try stack.beginUndoOfInnerGroup() else { return }
      } catch {
        return report("undoNestedGroup() with handlers outside of a complete group: call endUndoGrouping() first")
      }
      post(.willUndo)
      performHandlers()
      post(.didUndo)
    }

    /// Does again what was undone last.
    ///
    /// Posts `NSUndoManagerCheckpoint`, and around the handlers `NSUndoManagerWillRedoChange` and `NSUndoManagerDidRedoChange`.
    /// Reported as misuse while something is being undone or redone.
    open func redo() {
      guard canPerform("redo()") else { return }
      post(.checkpoint)
      // Two redos in one turn stay two steps.
      if stack.level == 1 && automaticGroup.isOpen { endUndoGrouping() }
      dropUselessSteps(.redo)
      guard (try? stack.beginRedo()) == true else { return }
      post(.willRedo)
      performHandlers()
      post(.didRedo)
    }

    /// Whether there's a step to undo, in an open group also.
    open var canUndo: Bool { undoCount > 0 }

    /// Whether there's a step to redo.
    ///
    /// Posts `NSUndoManagerCheckpoint`: observers that hold back changes register them, after which nothing can be redone.
    open var canRedo: Bool {
      post(.checkpoint)
      return redoCount > 0
    }

    /// How many times ``undo()`` has something to do.
    open var undoCount: Int {
      dropUselessSteps(.undo)
      return stack.undoCount
    }

    /// How many times ``redo()`` has something to do.
    open var redoCount: Int {
      dropUselessSteps(.redo)
      return stack.redoCount
    }

    /// Whether handlers of an undo run.
    open var isUndoing: Bool { stack.performing == .undo }

    /// Whether handlers of a redo run.
    open var isRedoing: Bool { stack.performing == .redo }

    // MARK: - Removal

    /// Forgets all handlers, and enables registration; groups that are open stay open.
    open func removeAllActions() { stack.removeAll() }

    /// Forgets the handlers with a target; the target may be about to be deallocated.
    ///
    /// - Parameter target: The target.
    open func removeAllActions(withTarget target: Any) {
      let identifier = ObjectIdentifier(target as AnyObject)
      stack.removeAll { $0.identifier == identifier }
    }

    // MARK: - Names and values

    /// Names the step that's being recorded; an empty name removes it.
    ///
    /// May be called before the first registration of the turn or after it. Without an automatic or other group, it names the last step.
    ///
    /// - Parameter actionName: A localized name, such as "Paste".
    open func setActionName(_ actionName: String) { updateLabel { $0.name = actionName } }

    /// The name of the step that ``undo()`` undoes; empty if it has none, or there's no such step.
    open var undoActionName: String {
      dropUselessSteps(.undo)
      return stack.label(.undo)?.name ?? ""
    }

    /// The name of the step that ``redo()`` does again; empty if it has none, or there's no such step.
    open var redoActionName: String {
      dropUselessSteps(.redo)
      return stack.label(.redo)?.name ?? ""
    }

    /// The title of a menu item for ``undo()``, such as "Undo Paste".
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

    /// The title of a menu item for ``redo()``, such as "Redo Paste".
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// The title of a menu item that undoes a step of a name; in English unless overridden.
    ///
    /// - Parameter actionName: The name; may be empty.
    /// - Returns: The title.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The title of a menu item that does a step of a name again; in English unless overridden.
    ///
    /// - Parameter actionName: The name; may be empty.
    /// - Returns: The title.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
      actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Says whether the step that's being recorded need not be saved, such as one that scrolls.
    ///
    /// - Parameter discardable: Whether that's so.
    open func setActionIsDiscardable(_ discardable: Bool) {
      openAutomaticGroup()
      stack.markDiscardable(discardable)
    }

    /// Whether the step that ``undo()`` undoes was said to be discardable, or has only groups that were.
    open var undoActionIsDiscardable: Bool { stack.isDiscardable(.undo) }

    /// Whether the step that ``redo()`` does again was said to be discardable, or has only groups that were.
    open var redoActionIsDiscardable: Bool { stack.isDiscardable(.redo) }

    /// Gives the step that's being recorded a value of the program's, such as a picture for a menu.
    ///
    /// The step that reverses it has the value as well.
    ///
    /// - Parameters:
    ///   - info: The value; `nil` removes it.
    ///   - key: Its key.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { updateLabel { $0.values[key] = info } }

    /// A value of the step that ``undo()`` undoes.
    ///
    /// - Parameter key: Its key.
    /// - Returns: The value; `nil` if it has none.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { stack.label(.undo)?.values[key] }

    /// A value of the step that ``redo()`` does again.
    ///
    /// - Parameter key: Its key.
    /// - Returns: The value; `nil` if it has none.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { stack.label(.redo)?.values[key] }
  }

  extension UndoManager {
    /// Names values of steps; extend it with your own.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
      /// The text of the key.
      public let rawValue: String

      /// Makes a key.
      ///
      /// - Parameter rawValue: The text of the key.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// Makes a key.
      ///
      /// - Parameter rawValue: The text of the key.
      public init(_ rawValue: String) { self.rawValue = rawValue }

      /// Makes a key.
      ///
      /// - Parameter value: The text of the key.
      public init(stringLiteral value: String) { self.rawValue = value }
    }

    private func updateLabel(_ change: (inout Label) -> Void) {
      openAutomaticGroup()
      stack.updateLabel { label in
        var changed = label ?? Label()
        change(&changed)
        label = changed
      }
    }

    /// Performs the handlers of the step that was begun.
    private func performHandlers() {
      while let action = stack.nextAction() { action.perform() }
      let leftOpen = stack.endPerforming()
      if leftOpen > 0 {
        report("handlers of an undo or redo have left \(leftOpen) groups open: each needs endUndoGrouping()")
      }
    }

    private func canPerform(_ call: String) -> Bool {
      if stack.performing == nil { return true }
      report("\(call) in a handler of an undo or redo")
      return false
    }

    /// Forgets the next steps as long as all their targets are gone.
    private func dropUselessSteps(_ direction: UndoStack<UndoAction, Label>.Direction) {
      stack.dropUselessSteps(direction) { $0.target == nil }
    }

    func report(_ problem: String) { Misuse.report("UndoManager: \(problem)") }
  }

  // MARK: - Automatic groups

  extension UndoManager {
    /// The group of a turn.
    struct AutomaticGroup {
      /// Whether the outermost open group is automatic.
      var isOpen = false
      /// Whether a block that closes it stands in the main queue.
      var isEndScheduled = false
    }

    /// Opens the automatic group if registrations need one.
    func openAutomaticGroup() {
      guard stack.performing == nil else { return }
      if stack.level == 0 && groupsByEvent {
        stack.beginGroup()
        automaticGroup.isOpen = true
        post(.didOpenGroup)
      }
      closeAutomaticGroupLater()
    }

    private func closeAutomaticGroupLater() {
      // Elsewhere nothing may be closed behind the back of the thread that registers.
      guard automaticGroup.isOpen, !automaticGroup.isEndScheduled, Self.isInMainQueue else { return }
      automaticGroup.isEndScheduled = true
      DispatchQueue.main.async { [weak self] in
        MainActor.assumeIsolated { self?.turnEnded() }
      }
    }

    private static let mainQueueMark: DispatchSpecificKey<Bool> = {
      let mark = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: mark, value: true)
      return mark
    }()

    /// Whether this is a turn of the main queue: in programs with an asynchronous `main` or `dispatchMain()`, other threads than the main
    /// one serve it.
    static var isInMainQueue: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueMark) == true }

    private func turnEnded() {
      automaticGroup.isEndScheduled = false
      guard automaticGroup.isOpen else { return }
      // A handler of an undo runs the loop that got here.
      if stack.performing != nil { return closeAutomaticGroupLater() }
      // With groups of the program's in it, the last of those schedules this anew.
      if stack.level == 1 { endUndoGrouping() }
    }
  }
#endif
