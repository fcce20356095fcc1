public import SystemInterface

/// One change since the watcher's last report.
///
/// - Note: ``TreeWatcher``.
public struct TreeChange: Hashable, Sendable {
  /// The kind of change.
  public enum Action: Hashable, Sendable {
    /// It wasn't there.
    case added
    /// It isn't there any more.
    case removed
    /// It was under another path, and with it everything in it. Of its contents, only files that were moved themselves
    /// are reported.
    case moved(from: SystemPath)
    /// A file has other contents or attributes, or another file has come in its place; a directory has other permissions or another owner.
    case modified
  }

  /// The absolute path, byte by byte: where it is, or was if it's removed.
  public let path: SystemPath
  /// The kind of change.
  public let action: Action
  /// The kind of file that it is, or was.
  public let kind: FileKind

  /// The path under which it isn't any more: for files that were removed or moved.
  public var vacatedPath: SystemPath? {
    switch action {
    case .removed: path
    case .moved(let from): from
    case .added, .modified: nil
    }
  }

  /// The path under which it's new or has altered: for all files but removed ones.
  public var currentPath: SystemPath? { action == .removed ? nil : path }

  /// Makes a change, as a test of code that takes changes does.
  ///
  /// - Parameters:
  ///   - path: Where it is, or was if it's removed.
  ///   - action: The kind of change.
  ///   - kind: The kind of file that it is, or was.
  public init(_ path: SystemPath, _ action: Action, _ kind: FileKind) {
    self.path = path
    self.action = action
    self.kind = kind
  }
}

/// The changes that turn the trees of the watcher's last report into the present ones.
///
/// A difference of two states and no record: a file that was made and removed again meanwhile isn't in it, a file that
/// was written ten times is modified once, and one that was saved by way of another file is modified; that other file,
/// if it was reported before, is removed.
///
/// To bring a copy up to date, go through the changes in their order, delete removed files, and take moved ones out of
/// their old places; then go through moved and added files, sorted by path, and put them there; then copy modified
/// ones.
public struct TreeUpdate: Hashable, Sendable {
  /// The changes: first removed and moved files, the contents of a directory before the directory; then added ones,
  /// directories before their contents; then modified ones.
  public let changes: [TreeChange]
  /// How well the trees are followed.
  public let health: ScopeHealth
  /// The contents of directories that were moved, if the update is a watcher's.
  private let difference: TreeDifference?

  /// Makes an update, as a test of code that takes updates does.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - health: How well the trees are followed.
  public init(_ changes: [TreeChange], health: ScopeHealth = ScopeHealth()) {
    self.changes = changes
    self.health = health
    difference = nil
  }

  init(_ difference: TreeDifference, health: ScopeHealth) {
    changes = difference.changes
    self.health = health
    // Two states of the index, which take room as long as the update lives.
    self.difference = difference.movesDirectories ? difference : nil
  }

  /// The changes, and everything that was moved with a directory around it as a change of its own, in the same order.
  ///
  /// For programs that deal in files and not in directories, such as an index of documents.
  ///
  /// - Complexity: O(*n* log *n*) in the number of files in directories that were moved.
  public var expandedChanges: [TreeChange] {
    guard let difference else { return changes }
    let vacated = changes.filter { $0.vacatedPath != nil } + difference.movesInside
    let order = vacated.map { (from: $0.vacatedPath ?? $0.path, change: $0) }.sorted { $0.from > $1.from }
    return order.map(\.change) + changes.filter { $0.vacatedPath == nil }
  }

  /// Whether both report the same.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.health == right.health
  }

  /// Feeds the changes.
  public func hash(into hasher: inout Hasher) { hasher.combine(changes) }
}
