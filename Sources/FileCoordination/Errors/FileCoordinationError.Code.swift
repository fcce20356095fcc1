extension FileCoordinationError {
  /// A kind of error.
  ///
  /// A later version may have more of them: a `switch` needs a `default`.
  public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// The number, which stays the same in all versions and is never given to another code.
    public let number: Int
    /// The name in Swift, such as `cancelled`.
    public let name: String

    private init(_ number: Int, _ name: String) {
      self.number = number
      self.name = name
    }

    /// The coordinator or the task was cancelled before the access was granted, or before the awaited state came.
    ///
    /// The accessor hasn't run. There is nothing to do; a coordinator that was cancelled fails its later calls too, so
    /// make another one.
    public static let cancelled = Code(1, "cancelled")
    /// Other accesses were in the way, or a preparation lasted, for longer than the deadline allows.
    ///
    /// ``FileCoordinationError/blockers`` are in the way. Pass a longer deadline, or end them.
    public static let timedOut = Code(2, "timedOut")
    /// Presenters didn't answer within the deadline.
    ///
    /// ``FileCoordinationError/blockers`` names their callbacks. Mend those, pass a longer deadline, or let late
    /// answers proceed.
    public static let presenterUnresponsive = Code(3, "presenterUnresponsive")
    /// A presenter answered with an error, which is the ``FileCoordinationError/underlyingError``.
    ///
    /// The accessor hasn't run. Show the error to the user who asked for the access.
    public static let presenterFailed = Code(4, "presenterFailed")
    /// A presenter keeps the contents of the item from being evicted.
    ///
    /// Close its document first.
    public static let evictionRefused = Code(5, "evictionRefused")
    /// A completion handler was dropped without having been called.
    ///
    /// A mistake of the presenter or of the body of a preparation: call the handler on every path.
    public static let answerDropped = Code(6, "answerDropped")
    /// The access was part of a cycle of waits that nothing could resolve.
    ///
    /// ``FileCoordinationError/deadlock`` has the cycle. Claim all items in one request.
    public static let deadlock = Code(7, "deadlock")
    /// The URL is no file URL.
    ///
    /// Pass a URL that begins with `file:///`.
    public static let notAFileURL = Code(8, "notAFileURL")
    /// The URL is relative, and its meaning would change with the working directory.
    ///
    /// Pass its `absoluteFileURL()`.
    public static let relativeURL = Code(9, "relativeURL")
    /// The path is empty, has a NUL in it, or is encoded wrongly; or the URL has a query or a fragment.
    ///
    /// Pass the URL of one item.
    public static let invalidPath = Code(10, "invalidPath")
    /// The path, or one of its components, is longer than the system allows.
    ///
    /// Shorten it.
    public static let pathTooLong = Code(11, "pathTooLong")
    /// Symbolic links lead to each other.
    ///
    /// Mend one of them.
    public static let symbolicLinkLoop = Code(12, "symbolicLinkLoop")
    /// More than one writing option was given.
    ///
    /// Only the type under Apple's name, `NSFileCoordinator.WritingOptions`, can express that. Pass the option that
    /// describes the change of the item, or none.
    public static let conflictingOptions = Code(13, "conflictingOptions")
    /// The option has no meaning in this call, or doesn't exist.
    ///
    /// Pass it to the access itself, or leave it out.
    public static let optionNotAllowed = Code(14, "optionNotAllowed")
    /// The request names no item.
    ///
    /// Pass at least one URL.
    public static let noItems = Code(15, "noItems")
    /// The request names more items than ``FileCoordinator/itemCountMax``.
    ///
    /// Claim a directory around them, or split the request.
    public static let tooManyItems = Code(16, "tooManyItems")
    /// The data that other processes were to receive, or to send, doesn't fit into one message between processes.
    ///
    /// Split the request, or claim a directory around the items.
    public static let messageTooLong = Code(17, "messageTooLong")
    /// This process has as many accesses, presenters or purposes in a domain of several processes as it may have, or
    /// nests accesses too deep.
    ///
    /// End some of them, share purposes, or claim a directory once.
    public static let limitExceeded = Code(18, "limitExceeded")
    /// The coordinator's purpose identifier can't be set, or not to this.
    ///
    /// Set it once, before the first access, and not to an empty text.
    public static let invalidPurposeIdentifier = Code(19, "invalidPurposeIdentifier")
    /// The coordinator has no presenter, or one without a URL, and was to access the presented item.
    ///
    /// Save the item somewhere first, naming its URL.
    public static let presenterWithoutURL = Code(20, "presenterWithoutURL")
    /// The accessor has returned, and its access was used after that.
    ///
    /// Do the work inside of the accessor.
    public static let accessEnded = Code(21, "accessEnded")
    /// The access only reads the item, and was to write it.
    ///
    /// Write it inside `write`.
    public static let notWritable = Code(22, "notWritable")
    /// The access doesn't cover the items of the announced move.
    ///
    /// Announce the move inside the write that made it.
    public static let moveNotCovered = Code(23, "moveNotCovered")
    /// There is something at the destination, and it was not to be replaced.
    ///
    /// Pass `replacing: true`, or another destination.
    public static let destinationExists = Code(24, "destinationExists")
    /// The processes of the domain can't be reached, so nothing would be coordinated.
    ///
    /// The message names the obstacle; ``FileCoordinationError/systemError`` has the number when a system call failed.
    public static let domainUnreachable = Code(25, "domainUnreachable")
    /// The access was lost: the process could not be reached for so long that others were granted access.
    ///
    /// Read the item again, and repeat the work in a new access.
    public static let accessLost = Code(26, "accessLost")
    /// Not every change by programs that don't coordinate can be seen.
    ///
    /// The message names the limit to raise; otherwise poll the item.
    public static let uncoordinatedChangesMissed = Code(27, "uncoordinatedChangesMissed")
    /// A system call failed; ``FileCoordinationError/systemError`` has its number.
    ///
    /// The remedy depends on the call. ``FileCoordinationError/underlyingError`` is a `SystemError`.
    public static let fileSystem = Code(28, "fileSystem")
    /// The access has ended to which this process belongs by the variable `FILE_COORDINATION_ACCESS` in its environment.
    ///
    /// Let that access last until its child processes have ended, or start this one with
    /// `env -u FILE_COORDINATION_ACCESS`. See <doc:CommandsInsideCommands>.
    public static let outerAccessEnded = Code(29, "outerAccessEnded")
    /// The variable `FILE_COORDINATION_ACCESS` in the environment of this process names no access.
    ///
    /// Pass on the value of ``FileAccess/environment()-60sf7`` as it is, or start the process with
    /// `env -u FILE_COORDINATION_ACCESS`.
    public static let invalidAccessEnvironment = Code(30, "invalidAccessEnvironment")

    /// All codes of this version, by number; a later version may have more.
    public static let allCases: [Code] = [
      .cancelled, .timedOut, .presenterUnresponsive, .presenterFailed, .evictionRefused, .answerDropped, .deadlock,
      .notAFileURL, .relativeURL, .invalidPath, .pathTooLong, .symbolicLinkLoop, .conflictingOptions, .optionNotAllowed,
      .noItems, .tooManyItems, .messageTooLong, .limitExceeded, .invalidPurposeIdentifier, .presenterWithoutURL,
      .accessEnded, .notWritable, .moveNotCovered, .destinationExists, .domainUnreachable, .accessLost,
      .uncoordinatedChangesMissed, .fileSystem, .outerAccessEnded, .invalidAccessEnvironment,
    ]

    /// The name.
    public var description: String { name }

    /// The code with a name, as processes send it to each other; `nil` for one that this version doesn't have.
    package init?(name: String) {
      guard let code = Self.named[name] else { return nil }
      self = code
    }

    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
  }
}
