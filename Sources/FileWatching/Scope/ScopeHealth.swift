public import SystemInterface

/// How well a scope is followed.
public struct ScopeHealth: Hashable, Sendable {
  /// How many directories the kernel watches.
  public var watchedDirectoryCount = 0
  /// How many directories, and ways to places that were asked for, are polled instead, so that changes there are seen
  /// late.
  public var polledDirectoryCount = 0
  /// How many directories can't be read; their contents aren't found.
  public var unreadableDirectoryCount = 0
  /// The reasons why these directories can't be read, or something in them can't be inspected: one for each, with its path.
  ///
  /// If there are more than ``unreadableErrorCountMax``, the rest is left out.
  public var unreadableErrors: [SystemError] = []
  /// The number of errors that ``unreadableErrors`` has at most.
  public static let unreadableErrorCountMax = 100
  /// The reason why one of these directories can't be read: in words, with its path.
  public var unreadableReason: String? { unreadableErrors.first?.description }
  /// How often the kernel lost events, so that everything has to be read again.
  public var overflowCount = 0
  /// Whether events were lost, and reading everything again hasn't begun yet.
  ///
  /// That's done at once if a caller waits for the current state, such as `waitUntilCurrent()` and `catchUp()` do, or
  /// if it's the first time. Otherwise, as long as events are lost again and again, it's put off for up to twenty times
  /// as long as reading takes; some changes are reported late then.
  public var isBehind = false
  /// How many of the places that were asked for have no file; a file that comes there is found.
  public var missingRootCount = 0
  /// How many directories all queries and tree watchers of the process may watch together: half of the kernel's limit
  /// for all programs of the user.
  public var processWatchCountMax = 0
  /// How many directories weren't read, because nothing in them has changed since a former run; see ``ScopeOptions/indexDirectory``.
  public var unalteredDirectoryCount = 0
  /// Whether there are more files than can be counted.
  public var isFull = false
  /// The reason why the first unwatched directory isn't watched: in words, with its path if it's for that directory alone.
  public var pollingReason: String?

  /// Why the system doesn't let the process wait for changes, such as EMFILE when it has too many descriptors; `nil` if it does.
  ///
  /// As long as that's so, changes are taken once in a second. After an error that won't pass, nothing more is reported.
  public var waitError: SystemError?

  /// Makes the health of an empty scope.
  public init() {}

  /// Whether everything is found, and every change is seen at once.
  public var isComplete: Bool {
    polledDirectoryCount == 0 && unreadableDirectoryCount == 0 && missingRootCount == 0 && !isFull && !isBehind
      && waitError == nil
  }
}

extension SystemError {
  /// Whether the user may not look, rather than that looking has failed.
  var isRefusal: Bool { number == .permissionDenied || number == .notPermitted }

  /// The same error of a watch, with a remedy if it has none.
  var advisingAboutWatches: SystemError {
    guard advice == nil, number == .noSpace else { return self }
    var error = self
    error.advice =
      "The user has as many watches as fs.inotify.max_user_watches allows: raise it with sysctl(8), or end programs that watch files."
    return error
  }
}
