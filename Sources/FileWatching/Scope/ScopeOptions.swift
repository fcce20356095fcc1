public import FoundationEssentials

/// The extent of a scope, and the resources that it may use.
///
/// Queries and tree watchers of a program share one index of the same places if their options are equal.
public struct ScopeOptions: Hashable, Sendable {
  /// The facts that a first search reads about files before it's over.
  public enum GatheringDepth: Hashable, Sendable {
    /// All that the file system has: results show the files at one moment.
    case attributes
    /// Names and kinds, which takes a third of the time, as long as no query searches for more or sorts by it.
    ///
    /// Everything else is read right afterwards. Until then sizes, dates and owners of an item are read from its file
    /// when they're asked for, and a file that was changed in the moment in which its name was read may be reported as
    /// changed once more.
    case names
  }

  /// Whether file systems that are mounted inside the scope belong to it.
  public var includesMountedVolumes: Bool
  /// How many directories may be watched; the others are polled.
  ///
  /// All programs of a user share the kernel's limit, `max_user_watches`.
  public var watchCountMax: Int
  /// The facts that a first search reads before it's over.
  public var gatheringDepth: GatheringDepth
  /// How often unwatched directories are polled; less often where that would take more than a twentieth of the time.
  public var pollingInterval: Duration

  /// Names of directories inside the scope that aren't entered, such as `.git` and `node_modules`.
  ///
  /// Each is a name or a pattern of glob(7), compared with the name of the directory; upper and lower case differ. The
  /// directory itself is found, and counts as one without members. It's neither read nor watched, so it's cheap. Places
  /// that were asked for are entered under any name.
  public var unenteredNames: [String]

  /// Whether the targets of symbolic links belong to the scope.
  ///
  /// A target is found under its own path, without links, and once, however many links lead to it; so loops end by
  /// themselves. A new file at the target of a link is found, and a target without any link left is gone. A link adds
  /// nothing if it leads to a file in the scope or to a directory around a requested place, or if it has, or leads to,
  /// a name of ``unenteredNames``. Links that lead through other links are resolved again every ``pollingInterval``,
  /// because there are no events for changes of the others.
  ///
  /// Costs two system calls for each link, and again when directories are renamed.
  ///
  /// - Note: Rule L9.
  public var followsSymbolicLinks: Bool

  /// The file URL of a directory in which the index is kept from one run of a program to the next; `nil` to read
  /// everything each time.
  ///
  /// Only with ``GatheringDepth/names``, for otherwise everything is read of each file anyway. A first search watches
  /// each directory of the kept index and compares its times: if they're the same, nothing has come into it or gone,
  /// and it isn't read. That's so on local file systems, all others are read as always;
  /// ``ScopeHealth/unalteredDirectoryCount`` counts. Sizes, dates and owners aren't kept: they're read afterwards.
  /// Results that a query reports before its first search is over may be gone by now, which it reports as well by the
  /// end.
  ///
  /// One file for each combination of places and options, of about 30 bytes for each file in them; read and replaced
  /// whole, so several programs may use a directory. It's made if it isn't there, for this user alone. The index is
  /// kept when the last query or watcher ends, unless the program ends before that's written, and whenever
  /// `saveIndex()` of either is called. A file that can't be used, because it's damaged, of another user or of another
  /// version, is ignored.
  public var indexDirectory: URL?

  /// Makes options.
  ///
  /// - Parameters:
  ///   - includesMountedVolumes: Whether file systems that are mounted inside the scope belong to it.
  ///   - watchCountMax: How many directories may be watched.
  ///   - gatheringDepth: The facts that a first search reads before it's over.
  ///   - pollingInterval: How often unwatched directories are polled.
  ///   - unenteredNames: Names and patterns of directories that aren't entered.
  ///   - followsSymbolicLinks: Whether the targets of symbolic links belong to the scope.
  ///   - indexDirectory: A directory in which the index is kept from one run to the next.
  public init(
    includesMountedVolumes: Bool = true, watchCountMax: Int = .max, gatheringDepth: GatheringDepth = .attributes,
    pollingInterval: Duration = .seconds(1), unenteredNames: [String] = [],
    followsSymbolicLinks: Bool = false, indexDirectory: URL? = nil
  ) {
    self.followsSymbolicLinks = followsSymbolicLinks
    self.indexDirectory = indexDirectory
    self.unenteredNames = unenteredNames
    self.pollingInterval = pollingInterval
    self.gatheringDepth = gatheringDepth
    self.includesMountedVolumes = includesMountedVolumes
    self.watchCountMax = watchCountMax
  }
}
