#if !canImport(ObjectiveC)
  public import Foundation
  internal import FileDocuments

  extension UIDocument {
    /// A change of a document's contents.
    public enum ChangeKind: Int, Sendable {
      /// Something new.
      case done = 0
      /// The last change was taken back.
      case undone = 1
      /// A change that was taken back was made again.
      case redone = 2
      /// The contents count as saved.
      case cleared = 3
    }

    /// Why a document is saved.
    public enum SaveOperation: Int, Sendable {
      /// To make its file.
      case forCreating = 0
      /// To replace what its file has.
      case forOverwriting = 1
    }

    /// The conditions of a document; several may hold at once.
    ///
    /// The raw values are Apple's.
    public struct State: OptionSet, Hashable, Sendable {
      /// The bits.
      public let rawValue: UInt

      /// Makes a set.
      ///
      /// - Parameter rawValue: The bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// Nothing is wrong.
      public static let normal: State = []
      /// It isn't open, it couldn't be opened, or its file was deleted or is about to be.
      public static let closed = State(rawValue: 1 << 0)
      /// The file has conflict versions that aren't resolved.
      public static let inConflict = State(rawValue: 1 << 1)
      /// The last attempt to save, or to read what another program wrote, has failed.
      public static let savingError = State(rawValue: 1 << 2)
      /// The contents must not be changed right now.
      public static let editingDisabled = State(rawValue: 1 << 3)
      /// There's a ``UIDocument/progress``: while a large file is read or written.
      public static let progressAvailable = State(rawValue: 1 << 4)

      init(_ state: DocumentState) {
        var bits: State = []
        if !state.conditions.isDisjoint(with: [.closed, .deleted]) { bits.insert(.closed) }
        if state.conditions.contains(.inConflict) { bits.insert(.inConflict) }
        if !state.conditions.isDisjoint(with: [.savingError, .readingError]) { bits.insert(.savingError) }
        if state.conditions.contains(.editingDisabled) { bits.insert(.editingDisabled) }
        self = bits
      }
    }
  }

  extension DocumentEdit {
    init(_ change: UIDocument.ChangeKind) {
      switch change {
      case .done: self = .done
      case .undone: self = .undone
      case .redone: self = .redone
      case .cleared: self = .cleared
      }
    }
  }

  // MARK: - Notifications

  extension UIDocument {
    /// Posted in the main queue when ``documentState`` has changed.
    public nonisolated static let stateChangedNotification = NSNotification.Name("UIDocumentStateChangedNotification")

    /// Posted in the main queue when a document from a place that can't be written was saved elsewhere.
    ///
    /// The former place is in the user info, at ``didMoveToWritableLocationOldURLKey``.
    public nonisolated static let didMoveToWritableLocationNotification =
      NSNotification.Name("UIDocumentDidMoveToWritableLocationNotification")

    /// Where the former URL is in the user info of ``didMoveToWritableLocationNotification``.
    public nonisolated static let didMoveToWritableLocationOldURLKey = "UIDocumentDidMoveToWritableLocationOldURLKey"

    /// The state has changed: the typed form of ``stateChangedNotification``.
    ///
    /// On Linux, `NotificationCenter` doesn't turn one form into the other, so a document posts both.
    public struct StateChangedMessage: NotificationCenter.MainActorMessage {
      /// The sender.
      public typealias Subject = UIDocument

      /// The document.
      public var document: UIDocument

      /// Makes the message.
      ///
      /// - Parameter document: The document.
      public init(document: UIDocument) { self.document = document }

      /// The name of the notification.
      public static var name: Notification.Name { UIDocument.stateChangedNotification }

      /// The message that a notification stands for.
      @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
        (notification.object as? UIDocument).map(Self.init)
      }

      /// The notification that stands for a message.
      @MainActor public static func makeNotification(_ message: Self) -> Notification {
        Notification(name: name, object: message.document)
      }
    }

    /// The document was saved elsewhere: the typed form of ``didMoveToWritableLocationNotification``.
    public struct DidMoveToWritableLocationMessage: NotificationCenter.AsyncMessage {
      /// The sender.
      public typealias Subject = UIDocument

      /// The document.
      public var document: UIDocument
      /// Where it was.
      public var oldURL: URL

      /// Makes the message.
      ///
      /// - Parameters:
      ///   - document: The document.
      ///   - oldURL: Where it was.
      public init(document: UIDocument, oldURL: URL) {
        self.document = document
        self.oldURL = oldURL
      }

      /// The name of the notification.
      public static var name: Notification.Name { UIDocument.didMoveToWritableLocationNotification }

      /// The message that a notification stands for.
      public static func makeMessage(_ notification: Notification) -> Self? {
        guard let document = notification.object as? UIDocument,
          let url = notification.userInfo?[UIDocument.didMoveToWritableLocationOldURLKey] as? URL
        else { return nil }
        return Self(document: document, oldURL: url)
      }

      /// The notification that stands for a message.
      public static func makeNotification(_ message: Self) -> Notification {
        Notification(
          name: name, object: message.document,
          userInfo: [UIDocument.didMoveToWritableLocationOldURLKey: message.oldURL])
      }
    }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UIDocument.StateChangedMessage> {
    /// Names the messages of documents whose state has changed.
    public static var stateChanged: Self { Self() }
  }

  extension NotificationCenter.MessageIdentifier
  where Self == NotificationCenter.BaseMessageIdentifier<UIDocument.DidMoveToWritableLocationMessage> {
    /// Names the messages of documents that were saved elsewhere.
    public static var didMoveToWritableLocation: Self { Self() }
  }
#endif
