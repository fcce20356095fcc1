#if !canImport(ObjectiveC)
  public import FileCoordination
  public import Foundation

  /// An object that shows or holds a file or directory, and is asked before others access it and notified afterwards.
  ///
  /// Apple's protocol. Register a presenter with `NSFileCoordinator.addFilePresenter(_:)`; it isn't kept alive.
  ///
  /// **Optional methods.** All but the first two requirements are optional: they have default implementations. Methods
  /// with a completion handler may be written in their `async` form instead; of a presenter that has both, the one with
  /// the handler is called. Swift can't detect on Linux whether a class has written a method. So each class is tried
  /// with each kind of message: the method of its first concerned presenter is called on its queue. If that's the
  /// default implementation, the class is remembered as one without the method. From then on it's neither asked nor
  /// waited for, and counts by the rules for presenters that don't implement the method (a package whose class has
  /// written no subitem method receives `presentedItemDidChange`; an eviction is refused). So a class that wrote
  /// nothing costs others at most one turn on its queue for each kind of message. Until a class has once answered a
  /// kind of message, a queue that doesn't begin it is waited for one second, or five before a read of possibly unsaved
  /// changes, and before something is deleted. Then the access goes on, the message comes when the queue runs, and
  /// `NSFileCoordinator.unansweredPresenters` names the presenters that were passed over. Methods that a class is known
  /// to have written are waited for until the deadline. All objects of a class, and of its subclasses, share this
  /// knowledge. ``writtenCallbacks`` states it.
  ///
  /// A method that only a *subclass* of the conforming class adds is never called, because there's no Objective-C runtime that
  /// could find it. Write it in the class that conforms, if only with an empty body, and override it.
  ///
  /// **Where methods are called.** On ``presentedItemOperationQueue``, one message at a time, in order; `async` methods
  /// begin in turn and run where they are isolated to. Operations that are cancelled don't take messages along. While a
  /// thread of a serial queue is blocked, because the program waits for access on it, presenters of that queue are
  /// asked on that thread; they're notified there of moves too, and other news come when the queue is free.
  ///
  /// **Waiting.** An access to the item waits until the methods that ask have been answered. A handler that's dropped
  /// answers with an error, one that's never called is waited for until the deadline of the access (see
  /// `NSFileCoordinator.deadlines`), and one that's called twice counts once (C-186, C-188).
  ///
  /// - Note: Rules C-030…C-112, C-181…C-209, N-6 and N-7; <doc:FoundationNameRules> explains the numbers.
  @preconcurrency
  public protocol NSFilePresenter: NSObjectProtocol {
    /// Where the presented item is; `nil` while it has never been saved. May be asked on any thread.
    var presentedItemURL: URL? { get }

    /// Where the presenter gets its messages. May be asked on any thread.
    var presentedItemOperationQueue: OperationQueue { get }

    /// The item that this one belongs to, for sandboxes; has no effect here.
    var primaryPresentedItemURL: URL? { get }

    /// The ubiquity attributes to be notified of; all unless written. Read when the presenter gets a location (C-207).
    var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> { get }

    /// Whether to watch the item in the file system as well, for changes by programs that don't coordinate; the value
    /// of ``NSFileCoordinator/observesUncoordinatedChanges`` unless written.
    ///
    /// Not of Apple's protocol, where it's a property of the class and has no effect. Read when the presenter is
    /// registered. Changes by strangers come through the methods that notify, late and without relinquishing (C-200),
    /// and not all of them (C-201). A change is reported when the item has been left alone for a tenth of a second, so
    /// that one write is one message, and a new file too. A directory is watched with everything inside, which takes a
    /// watch for each directory; directories that can't be watched are reported to
    /// `NSFileCoordinator.setMisuseHandler(_:)` when the presenter is registered.
    var observesUncoordinatedChanges: Bool { get }

    /// The methods that the class has written, if it states them; `nil`, and they're detected, unless written.
    ///
    /// Not of Apple's protocol. A class that states them is never guessed about: it's sent exactly these messages, and
    /// accesses that ask wait for it, even if its queue isn't free. Either form of a method counts. May be asked on any
    /// thread.
    var writtenCallbacks: FilePresenterCallbacks? { get }

    /// Another party is about to read the item. Call `reader` when the presenter has let go of it.
    ///
    /// - Parameter reader: Takes the reacquirer, which runs on the presenter's queue when the reader has finished, if
    ///   any.
    func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)

    /// Another party is about to write the item. Call `writer` when the presenter has let go of it.
    ///
    /// - Parameter writer: Takes the reacquirer, which runs on the presenter's queue when the writer has finished, if
    ///   any.
    func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void)

    /// Save unsaved changes now: another party needs them in the file.
    ///
    /// - Parameter completionHandler: Takes an error to fail the access that asked.
    func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Save unsaved changes now: another party needs them in the file.
    ///
    /// - Throws: An error to fail the access that asked.
    func savePresentedItemChanges() async throws

    /// The item is about to be deleted or replaced. Close it, or answer with an error to prevent that.
    ///
    /// - Parameter completionHandler: Takes an error to fail the access that asked.
    func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item is about to be deleted or replaced. Close it, or throw to prevent that.
    ///
    /// - Throws: An error to fail the access that asked.
    func accommodatePresentedItemDeletion() async throws

    /// The item's contents are about to be removed from this machine. Close it and remove the presenter, or answer with an error.
    ///
    /// Not to write this method is a veto (C-208).
    ///
    /// - Parameter completionHandler: Takes an error to keep the contents.
    func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// The item's contents are about to be removed from this machine. Close it and remove the presenter, or throw.
    ///
    /// - Throws: An error to keep the contents.
    func accommodatePresentedItemEviction() async throws

    /// Something inside the presented directory is about to be deleted or replaced.
    ///
    /// - Parameters:
    ///   - url: The item inside the directory.
    ///   - completionHandler: Takes an error to fail the access that asked.
    func accommodatePresentedSubitemDeletion(
      at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Something inside the presented directory is about to be deleted or replaced.
    ///
    /// - Parameter url: The item inside the directory.
    /// - Throws: An error to fail the access that asked.
    func accommodatePresentedSubitemDeletion(at url: URL) async throws

    /// The item was moved or renamed, or a directory around it was; sent when the mover's accessor has ended.
    ///
    /// - Parameter newURL: Where it is now.
    func presentedItemDidMove(to newURL: URL)

    /// The item may have changed: another party had write access to it. Check before discarding anything (C-202).
    ///
    /// Also sent to a directory whose class has written no method about subitems, when an entry comes, goes or is
    /// renamed (C-058).
    func presentedItemDidChange()

    /// Ubiquity attributes of the item were announced to have changed.
    ///
    /// - Parameter attributes: Those that changed and are observed.
    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>)

    /// A version of the item was added.
    ///
    /// - Parameter version: The version.
    func presentedItemDidGain(_ version: NSFileVersion)

    /// A version of the item was removed.
    ///
    /// - Parameter version: The version.
    func presentedItemDidLose(_ version: NSFileVersion)

    /// A conflict between versions of the item was resolved.
    ///
    /// - Parameter version: The version.
    func presentedItemDidResolveConflict(_ version: NSFileVersion)

    /// A new item is inside the presented directory, at any depth. A class that hasn't written this is notified that it
    /// has changed.
    ///
    /// - Parameter url: The new item.
    func presentedSubitemDidAppear(at url: URL)

    /// An item inside the presented directory was moved, perhaps out of it. A class that hasn't written this is
    /// notified that both of its places have changed, as far as they're inside.
    ///
    /// - Parameters:
    ///   - oldURL: Where it was.
    ///   - newURL: Where it is now.
    func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL)

    /// An item inside the presented directory may have changed, or is gone.
    ///
    /// - Parameter url: The item.
    func presentedSubitemDidChange(at url: URL)

    /// A version of an item inside the presented directory was added.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - version: The version.
    func presentedSubitem(at url: URL, didGain version: NSFileVersion)

    /// A version of an item inside the presented directory was removed.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - version: The version.
    func presentedSubitem(at url: URL, didLose version: NSFileVersion)

    /// A conflict between versions of an item inside the presented directory was resolved.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - version: The version.
    func presentedSubitem(at url: URL, didResolve version: NSFileVersion)
  }
#endif
