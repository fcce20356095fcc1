public import FoundationEssentials

/// How far a scope reaches, and what it may use.
///
/// Queries and tree watchers of a program share what they know of the same places if their options are equal.
public struct ScopeOptions: Hashable, Sendable {
  /// What a first search finds out about files before it's over.
  public enum GatheringDepth: Hashable, Sendable {
    /// All that the file system tells: results are what files were at one moment.
    case attributes
    /// Names and kinds, which takes a third of the time, as long as no query looks for more or sorts by it.
    ///
    /// Everything else is found out right afterwards. Until then sizes, dates and owners of an item are read from its file when they're
    /// asked for, and a file that was changed in the moment in which its name was read may be told as changed once more.
    case names
  }

  /// Whether what is mounted inside the scope belongs to it.
  public var includesMountedVolumes: Bool
  /// How many directories may be watched; the others are looked at from time to time.
  ///
  /// All programs of a user share the kernel's limit, `max_user_watches`.
  public var watchCountMax: Int
  /// What a first search finds out before it's over.
  public var gatheringDepth: GatheringDepth
  /// How often what isn't watched is looked at; less often where that would take more than a twentieth of the time.
  public var pollingInterval: Duration

  /// Names of directories inside the scope that aren't entered, such as `.git` and `node_modules`.
  ///
  /// Each is a name or a pattern of glob(7), compared with the name of the directory; upper and lower case differ. The directory itself is found, and
  /// counts as one without members. It's neither read nor watched, which is what makes it cheap. Places that were asked for are entered whatever
  /// they are called.
  public var unenteredNames: [String]

  /// Whether what symbolic links lead to belongs to the scope.
  ///
  /// It's found under its own path, without links, and once, however many links lead to it; so loops end by themselves. What comes to a
  /// place that a link leads to is found, and what no link leads to any more is gone. Links to what is in the scope anyway add nothing, nor
  /// do those to a directory around a place that was asked for, nor those that have, or lead to, a name of ``unenteredNames``. Links that lead
  /// through other links are looked at every ``pollingInterval``, for nobody tells when the others alter.
  ///
  /// Costs two system calls for each link, and again when directories are renamed.
  ///
  /// - Note: Rule L9.
  public var followsSymbolicLinks: Bool

  /// The file URL of a directory in which what is known is kept from one run of a program to the next; `nil` to read everything each time.
  ///
  /// Only with ``GatheringDepth/names``, for otherwise everything is asked of each file anyway. A first search watches each directory that was
  /// known and compares its times: if they're the same, nothing has come into it or gone, and it isn't read. That's so on local file systems, all
  /// others are read as always; ``ScopeHealth/unalteredDirectoryCount`` counts. Sizes, dates and owners aren't kept: they're asked for afterwards.
  /// What a query tells before its first search is over may be gone by now, which it tells as well by the end.
  ///
  /// One file for each combination of places and options, of about 30 bytes for each file in them; read and replaced whole, so
  /// several programs may use a directory. It's made if it isn't there, for this user alone. Kept is what's known when the last query or
  /// watcher ends, unless the program ends before that's written, and whenever `saveIndex()` of either is called. What can't be used, because
  /// it's damaged, of another user or of another version, is ignored.
  public var indexDirectory: URL?

  /// Makes options.
  ///
  /// - Parameters:
  ///   - includesMountedVolumes: Whether what is mounted inside the scope belongs to it.
  ///   - watchCountMax: How many directories may be watched.
  ///   - gatheringDepth: What a first search finds out before it's over.
  ///   - pollingInterval: How often what isn't watched is looked at.
  ///   - unenteredNames: Names and patterns of directories that aren't entered.
  ///   - followsSymbolicLinks: Whether what symbolic links lead to belongs to the scope.
  ///   - indexDirectory: A directory in which what is known is kept from one run to the next.
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
