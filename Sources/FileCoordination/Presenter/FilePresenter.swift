public import FoundationEssentials

/// Takes a presented item back after another party's access has ended.
///
/// Runs once, as one of the presenter's callbacks.
public typealias FileReacquirer = @Sendable () async -> Void

/// A change of a version of an item.
public enum FileVersionChange: String, Hashable, Sendable {
  /// A version was added.
  case gained
  /// A version was removed.
  case lost
  /// A conflict between versions was resolved.
  case resolved
}

/// An object that shows or holds a file or directory, and is asked before others access it and notified afterwards.
///
/// Register a presenter with ``CoordinationDomain/register(_:)-748w0``. Registration is weak: it ends when the returned
/// ``FilePresenterRegistration`` or the presenter goes away.
///
/// **Where callbacks run.** One at a time for each presenter, in the order of events, on ``presentedItemExecutor`` or,
/// for an actor, on the actor. One exception keeps two presenters from waiting for each other: while a callback waits
/// inside an access of its own, the presenter may be asked (never notified) to relinquish, save or accommodate; the
/// origin says ``AccessOrigin/isReentrant`` and the access is granted only after that callback has returned. If the
/// access fails before, by a deadline for instance, its own callback goes on at once. Set
/// ``servesWhileWaiting`` to `false` to opt out; the deadlock is then found and one access fails.
///
/// **Order.** For one access: relinquish, then save or accommodate, then notifications, then the reacquirer. Between
/// presenters there is no order.
///
/// **Waiting.** An access to the item waits until the callbacks that ask have returned, and fails with the error that
/// one of them throws. No access waits for callbacks that notify.
///
/// - Note: Rules C-030…C-112 and C-181…C-207.
public protocol FilePresenter: AnyObject, Sendable {
  /// Where the presented item is; `nil` while it has never been saved.
  ///
  /// Read when the presenter registers and, while it's `nil`, after each access made on the presenter's behalf (C-121).
  /// Moves are tracked, so it isn't read again (C-197). May be called on any thread.
  var presentedItemURL: URL? { get }

  /// The callbacks that this presenter implements. Read once, when it registers.
  var presentedItemCallbacks: FilePresenterCallbacks { get }

  /// The name of the presenter in reports; the name of its type unless stated otherwise.
  ///
  /// Read when the presenter registers and after each ``presentedItemDidMove(to:origin:)``, so that it may contain the name of the file.
  var presenterLabel: String { get }

  /// Where callbacks run that are not isolated to an actor; `nil` for threads of this library, which may block.
  ///
  /// Callbacks that follow each other, such as relinquish and save, may be one job of the executor: at most eight, if
  /// none of them suspends. Read once, when the presenter registers.
  var presentedItemExecutor: (any TaskExecutor)? { get }

  /// Whether the presenter may be asked while one of its own callbacks waits inside an access. `true` unless stated.
  var servesWhileWaiting: Bool { get }

  /// Whether to be notified of changes by programs that don't coordinate as well. `false` unless stated. Read once,
  /// when it registers.
  ///
  /// The item is then watched in the file system, and a directory with everything inside if a callback about subitems
  /// is declared. The changes come through the same callbacks, with ``AccessOrigin/Kind/uncoordinated``; see
  /// <doc:ProgramsThatDoNotCoordinate> for the changes that are seen and those that aren't (C-200, C-201).
  var observesUncoordinatedChanges: Bool { get }

  /// Whether a presenter of a plain directory receives ``presentedItemDidChange(origin:)`` when an entry of the
  /// directory comes, goes or is renamed. `false` unless stated. Read once, when it registers.
  ///
  /// For presenters that declare no callback about subitems, which would say more; means nothing for others (C-058).
  var observesDirectoryEntries: Bool { get }

  /// The ubiquity attributes to be notified of; `nil` for all. Read when the presenter gets a location (C-207).
  var observedPresentedItemUbiquityAttributes: Set<String>? { get }

  /// Another party is about to read the item. Return when the presenter has let go of it.
  ///
  /// - Parameter origin: The origin of the question.
  /// - Returns: The reacquirer to run when the reader has finished, if any.
  /// - Throws: An error to refuse the access.
  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer?

  /// Another party is about to write the item. Return when the presenter has let go of it.
  ///
  /// - Parameter origin: The origin of the question.
  /// - Returns: The reacquirer to run when the writer has finished, if any.
  /// - Throws: An error to refuse the access.
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer?

  /// Save unsaved changes now: another party needs them in the file.
  ///
  /// Accesses by a coordinator made for this presenter go ahead of accesses that wait for the save, whichever thread or
  /// task makes them (C-119).
  ///
  /// - Parameter origin: The origin of the question.
  /// - Throws: An error to fail the access that asked.
  func savePresentedItemChanges(origin: AccessOrigin) async throws

  /// The item is about to be deleted or replaced. Close it, or throw to prevent that.
  ///
  /// - Parameter origin: The origin of the question.
  /// - Throws: An error to fail the access that asked.
  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws

  /// The item's contents are about to be removed from this machine; the item is kept elsewhere.
  ///
  /// To agree, close the item and unregister before returning. To return and stay registered, to throw, or not to declare
  /// this callback, is a veto (C-208, C-209).
  ///
  /// - Parameter origin: The origin of the question.
  /// - Throws: An error to keep the contents.
  func accommodatePresentedItemEviction(origin: AccessOrigin) async throws

  /// Something inside the presented directory, which may be a package, is about to be deleted or replaced.
  ///
  /// - Parameters:
  ///   - url: The item inside the directory.
  ///   - origin: The origin of the question.
  /// - Throws: An error to fail the access that asked.
  func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws

  /// The item was moved or renamed, or a directory around it was. Sent when the mover's access has ended.
  ///
  /// A move that isn't coordinated may stand for a change right before it as well: check the contents.
  ///
  /// - Parameters:
  ///   - url: Where it is now, in the spelling of ``presentedItemURL``.
  ///   - origin: The origin of the move.
  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async

  /// The item may have changed: another party had write access to it. Check before discarding anything (C-202).
  ///
  /// - Parameter origin: The origin of the access.
  func presentedItemDidChange(origin: AccessOrigin) async

  /// Ubiquity attributes of the item were announced to have changed.
  ///
  /// - Parameters:
  ///   - attributes: Those that changed and are observed.
  ///   - origin: The origin of the announcement.
  func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async

  /// A version of the item was added, removed or resolved. Sent for the presenter's own accesses too (C-112).
  ///
  /// - Parameters:
  ///   - change: The kind of change.
  ///   - version: The name of the version, as its announcer gave it.
  ///   - origin: The origin of the announcement.
  func presentedItemDidChangeVersion(_ change: FileVersionChange, version: String, origin: AccessOrigin) async

  /// A new item is inside the presented directory, at any depth.
  ///
  /// A presenter that doesn't declare this callback receives ``presentedSubitemDidChange(at:origin:)`` instead (C-060).
  ///
  /// - Parameters:
  ///   - url: The new item.
  ///   - origin: The origin of the new item.
  func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async

  /// An item inside the presented directory was moved, perhaps out of it.
  ///
  /// A presenter that doesn't declare this callback receives ``presentedSubitemDidChange(at:origin:)`` instead, for
  /// each of the two places that is inside (C-060).
  ///
  /// - Parameters:
  ///   - oldURL: Where it was.
  ///   - newURL: Where it is now.
  ///   - origin: The origin of the move.
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async

  /// An item inside the presented directory may have changed, or is gone.
  ///
  /// A package that doesn't declare this callback receives ``presentedItemDidChange(origin:)`` instead (C-056). So does
  /// a plain directory whose presenter ``observesDirectoryEntries`` and declares no callback about subitems, for items
  /// that appear or are gone (C-058).
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - origin: The origin of the access.
  func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async

  /// A version of an item inside the presented directory was added, removed or resolved.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - change: The kind of change.
  ///   - version: The name of the version, as its announcer gave it.
  ///   - origin: The origin of the announcement.
  func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async
}

/// The defaults of a presenter: it lets every access go on.
extension FilePresenter {
  /// The name of the presenter's type.
  public var presenterLabel: String { String(describing: type(of: self)) }
  /// Threads of this library.
  public var presentedItemExecutor: (any TaskExecutor)? { nil }
  /// `true`.
  public var servesWhileWaiting: Bool { true }
  /// `false`.
  public var observesUncoordinatedChanges: Bool { false }
  /// `false`.
  public var observesDirectoryEntries: Bool { false }
  /// All of them.
  public var observedPresentedItemUbiquityAttributes: Set<String>? { nil }

  /// Lets go at once, without a reacquirer.
  public func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { nil }
  /// Lets go at once, without a reacquirer.
  public func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? { nil }
  /// Has nothing to save.
  public func savePresentedItemChanges(origin: AccessOrigin) async throws {}
  /// Allows the deletion.
  public func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {}
  /// Stays registered, which is a veto.
  public func accommodatePresentedItemEviction(origin: AccessOrigin) async throws {}
  /// Allows the deletion.
  public func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws {}
  /// Does nothing.
  public func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedItemDidChange(origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedItemDidChangeVersion(
    _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {}
  /// Does nothing.
  public func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async {}
  /// Does nothing.
  public func presentedSubitemDidChangeVersion(
    at url: URL, _ change: FileVersionChange, version: String, origin: AccessOrigin
  ) async {}
}
