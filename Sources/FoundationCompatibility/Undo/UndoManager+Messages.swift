#if !canImport(ObjectiveC)
  public import Foundation

  // The typed forms of the notifications, one type for each.

  extension UndoManager {
    /// Observers that hold back changes register them now: the typed form of the notification `NSUndoManagerCheckpoint`.
    public struct CheckpointMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerCheckpoint }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// A group was opened: the typed form of the notification `NSUndoManagerDidOpenUndoGroup`.
    public struct DidOpenUndoGroupMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerDidOpenUndoGroup }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The handlers of an undo are about to run: the typed form of the notification `NSUndoManagerWillUndoChange`.
    public struct WillUndoChangeMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerWillUndoChange }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The handlers of an undo have run: the typed form of the notification `NSUndoManagerDidUndoChange`.
    public struct DidUndoChangeMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerDidUndoChange }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The handlers of a redo are about to run: the typed form of the notification `NSUndoManagerWillRedoChange`.
    public struct WillRedoChangeMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerWillRedoChange }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The handlers of a redo have run: the typed form of the notification `NSUndoManagerDidRedoChange`.
    public struct DidRedoChangeMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerDidRedoChange }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is UndoManager ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// A group is about to be closed: the typed form of the notification `NSUndoManagerWillCloseUndoGroup`.
    public struct WillCloseUndoGroupMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Whether the group as a whole need not be saved.
      public var groupIsDiscardable: Bool

      /// Makes the message.
      ///
      /// - Parameter groupIsDiscardable: Whether the group as a whole need not be saved.
      public init(groupIsDiscardable: Bool) { self.groupIsDiscardable = groupIsDiscardable }

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerWillCloseUndoGroup }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        guard notification.object is UndoManager else { return nil }
        let isDiscardable = notification.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool
        return Self(groupIsDiscardable: isDiscardable ?? false)
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification {
        let userInfo = message.groupIsDiscardable ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil
        return Notification(name: name, userInfo: userInfo)
      }
    }

    /// A group was closed: the typed form of the notification `NSUndoManagerDidCloseUndoGroup`.
    public struct DidCloseUndoGroupMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UndoManager

      /// Whether the group as a whole need not be saved.
      public var groupIsDiscardable: Bool

      /// Makes the message.
      ///
      /// - Parameter groupIsDiscardable: Whether the group as a whole need not be saved.
      public init(groupIsDiscardable: Bool) { self.groupIsDiscardable = groupIsDiscardable }

      /// The name of the notification.
      public static var name: Notification.Name { .NSUndoManagerDidCloseUndoGroup }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        guard notification.object is UndoManager else { return nil }
        let isDiscardable = notification.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool
        return Self(groupIsDiscardable: isDiscardable ?? false)
      }

      /// The notification that stands for a message; its sender isn't known.
      @MainActor public static func makeNotification(_ message: Self) -> Notification {
        let userInfo = message.groupIsDiscardable ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil
        return Notification(name: name, userInfo: userInfo)
      }
    }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.CheckpointMessage> {
    /// Observers that hold back changes register them now.
    public static var checkpoint: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.DidOpenUndoGroupMessage> {
    /// A group was opened.
    public static var didOpenUndoGroup: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.WillUndoChangeMessage> {
    /// The handlers of an undo are about to run.
    public static var willUndoChange: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.DidUndoChangeMessage> {
    /// The handlers of an undo have run.
    public static var didUndoChange: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.WillRedoChangeMessage> {
    /// The handlers of a redo are about to run.
    public static var willRedoChange: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.DidRedoChangeMessage> {
    /// The handlers of a redo have run.
    public static var didRedoChange: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.WillCloseUndoGroupMessage> {
    /// A group is about to be closed.
    public static var willCloseUndoGroup: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UndoManager.DidCloseUndoGroupMessage> {
    /// A group was closed.
    public static var didCloseUndoGroup: Self { Self() }
  }
#endif
