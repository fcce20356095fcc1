/// How well a scope is followed.
public struct ScopeHealth: Hashable, Sendable {
  /// How many directories the kernel tells about.
  public var watchedDirectoryCount = 0
  /// How many directories, and ways to places that were asked for, are looked at from time to time instead, so that what happens there
  /// is seen late.
  public var polledDirectoryCount = 0
  /// How many directories can't be read; what is in them isn't found.
  public var unreadableDirectoryCount = 0
  /// How often the kernel lost events, so that everything has to be read again.
  public var overflowCount = 0
  /// Whether events were lost, and it isn't begun yet to read everything again.
  ///
  /// That's done at once if somebody waits for what is current, such as `waitUntilCurrent()` and `catchUp()` do, or if it's the first time.
  /// Otherwise, as long as events are lost again and again, it's put off for up to twenty times as long as reading takes; some of what
  /// happens is told late then.
  public var isBehind = false
  /// How many of the places that were asked for have nothing there; what comes there is found.
  public var missingRootCount = 0
  /// How many directories all queries and tree watchers of the process may watch together: half of what the kernel allows all programs of the user.
  public var processWatchCountMax = 0
  /// How many directories weren't read, because nothing in them has changed since a former run; see ``ScopeOptions/indexDirectory``.
  public var unalteredDirectoryCount = 0
  /// Whether there are more files than can be counted.
  public var isFull = false
  /// Why the first directory that isn't watched isn't: in words.
  public var pollingReason: String?

  /// Makes the health of a scope in which nothing is.
  public init() {}

  /// Whether everything is found, and every change is seen at once.
  public var isComplete: Bool {
    polledDirectoryCount == 0 && unreadableDirectoryCount == 0 && missingRootCount == 0 && !isFull && !isBehind
  }
}
