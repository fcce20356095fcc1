#if !canImport(ObjectiveC)
  public import Foundation

  /// The order in which Apple's run loops close groups; here no run loop closes any.
  public let NSUndoCloseGroupingRunLoopOrdering = 350_000

  /// In notifications about a group that's closed: true if the group as a whole need not be saved; absent otherwise.
  public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

  extension NSNotification.Name {
    /// A group is about to be closed, or one is opened inside of another, or something is about to be undone or redone: observers that
    /// hold back changes register them now.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")

    /// The handlers of an undo are about to run.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")

    /// The handlers of a redo are about to run.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")

    /// The handlers of an undo have run.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")

    /// The handlers of a redo have run.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")

    /// A group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")

    /// A group is about to be closed; see `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerWillCloseUndoGroup =
      NSNotification.Name("NSUndoManagerWillCloseUndoGroupNotification")

    /// A group was closed; see `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerDidCloseUndoGroup =
      NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  }

  extension UndoManager {
    /// The events of which observers are notified.
    enum News {
      case checkpoint
      case didOpenGroup
      case willCloseGroup(isDiscardable: Bool)
      case didCloseGroup(isDiscardable: Bool)
      case willUndo
      case didUndo
      case willRedo
      case didRedo

      var name: Notification.Name {
        switch self {
        case .checkpoint: .NSUndoManagerCheckpoint
        case .didOpenGroup: .NSUndoManagerDidOpenUndoGroup
        case .willCloseGroup: .NSUndoManagerWillCloseUndoGroup
        case .didCloseGroup: .NSUndoManagerDidCloseUndoGroup
        case .willUndo: .NSUndoManagerWillUndoChange
        case .didUndo: .NSUndoManagerDidUndoChange
        case .willRedo: .NSUndoManagerWillRedoChange
        case .didRedo: .NSUndoManagerDidRedoChange
        }
      }

      var userInfo: [AnyHashable: Any]? {
        switch self {
        case .willCloseGroup(true), .didCloseGroup(true): [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)]
        default: nil
        }
      }
    }

    /// Notifies observers, as a notification and, in the main queue, as a message.
    func post(_ news: News) {
      let center = NotificationCenter.default
      center.post(name: news.name, object: self, userInfo: news.userInfo)
      // Observers of messages count on the main actor.
      guard Self.isInMainQueue else { return }
      switch news {
      case .checkpoint: center.post(CheckpointMessage(), subject: self)
      case .didOpenGroup: center.post(DidOpenUndoGroupMessage(), subject: self)
      case .willCloseGroup(let isDiscardable):
        center.post(WillCloseUndoGroupMessage(groupIsDiscardable: isDiscardable), subject: self)
      case .didCloseGroup(let isDiscardable):
        center.post(DidCloseUndoGroupMessage(groupIsDiscardable: isDiscardable), subject: self)
      case .willUndo: center.post(WillUndoChangeMessage(), subject: self)
      case .didUndo: center.post(DidUndoChangeMessage(), subject: self)
      case .willRedo: center.post(WillRedoChangeMessage(), subject: self)
      case .didRedo: center.post(DidRedoChangeMessage(), subject: self)
      }
    }
  }
#endif
