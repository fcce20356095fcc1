#if !canImport(ObjectiveC)
  public import Foundation

  extension NSNotification.Name {
    /// The first search begins.
    public static let NSMetadataQueryDidStartGathering =
      NSNotification.Name("NSMetadataQueryDidStartGatheringNotification")

    /// The first search has found something; carries the added, changed and removed results.
    public static let NSMetadataQueryGatheringProgress =
      NSNotification.Name("NSMetadataQueryGatheringProgressNotification")

    /// The first search is over, perhaps without results.
    public static let NSMetadataQueryDidFinishGathering =
      NSNotification.Name("NSMetadataQueryDidFinishGatheringNotification")

    /// Something has changed after the first search; carries the added, changed and removed results.
    public static let NSMetadataQueryDidUpdate = NSNotification.Name("NSMetadataQueryDidUpdateNotification")
  }

  extension NSMetadataQuery {
    /// The first search begins: the typed form of the notification `NSMetadataQueryDidStartGathering`.
    ///
    /// On Linux, `NotificationCenter` doesn't turn one form into the other, so a query posts both.
    public struct DidStartGatheringMessage: NotificationCenter.AsyncMessage {
      /// The sender.
      public typealias Subject = NSMetadataQuery

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSMetadataQueryDidStartGathering }

      /// The message that a notification stands for.
      public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is NSMetadataQuery ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The first search is over: the typed form of the notification `NSMetadataQueryDidFinishGathering`.
    ///
    /// On Linux, `NotificationCenter` doesn't turn one form into the other, so a query posts both.
    public struct DidFinishGatheringMessage: NotificationCenter.AsyncMessage {
      /// The sender.
      public typealias Subject = NSMetadataQuery

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSMetadataQueryDidFinishGathering }

      /// The message that a notification stands for.
      public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is NSMetadataQuery ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// The first search has found something: the typed form of the notification `NSMetadataQueryGatheringProgress`.
    ///
    /// Apple has a type for this as well, of which neither the name nor the contents are known here; both are this
    /// library's until they are. The added, changed and removed results are in the notification only: items can't be
    /// sent between threads.
    public struct GatheringProgressMessage: NotificationCenter.AsyncMessage {
      /// The sender.
      public typealias Subject = NSMetadataQuery

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSMetadataQueryGatheringProgress }

      /// The message that a notification stands for.
      public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is NSMetadataQuery ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }

    /// Something has changed after the first search: the typed form of the notification `NSMetadataQueryDidUpdate`.
    ///
    /// Apple has a type for this as well, of which neither the name nor the contents are known here; both are this
    /// library's until they are. The added, changed and removed results are in the notification only: items can't be
    /// sent between threads.
    public struct DidUpdateMessage: NotificationCenter.AsyncMessage {
      /// The sender.
      public typealias Subject = NSMetadataQuery

      /// Makes the message.
      public init() {}

      /// The name of the notification.
      public static var name: Notification.Name { .NSMetadataQueryDidUpdate }

      /// The message that a notification stands for.
      public static func makeMessage(_ notification: Notification) -> Self? {
        notification.object is NSMetadataQuery ? Self() : nil
      }

      /// The notification that stands for a message; its sender isn't known.
      public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
    }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<NSMetadataQuery.DidStartGatheringMessage> {
    /// Names the messages of queries whose first search begins.
    public static var didStartGathering: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<NSMetadataQuery.DidFinishGatheringMessage> {
    /// Names the messages of queries whose first search is over.
    public static var didFinishGathering: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<NSMetadataQuery.GatheringProgressMessage> {
    /// Names the messages of queries whose first search has found something.
    public static var gatheringProgress: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<NSMetadataQuery.DidUpdateMessage> {
    /// Names the messages of queries whose results have changed after the first search.
    public static var didUpdate: Self { Self() }
  }
#endif
