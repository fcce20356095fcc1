public import SystemInterface

/// One thing that is otherwise than it was when the watcher told the last time.
///
/// - Note: ``TreeWatcher``.
public struct TreeChange: Hashable, Sendable {
  /// What is otherwise.
  public enum Action: Hashable, Sendable {
    /// It wasn't there.
    case added
    /// It isn't there any more.
    case removed
    /// It was under another path, and with it everything in it, of which only what was moved as well is told.
    case moved(from: SystemPath)
    /// A file has other contents or attributes, or another file has come in its place; a directory has other permissions or another owner.
    case modified
  }

  /// The absolute path, byte by byte: where it is, or was if it's removed.
  public let path: SystemPath
  /// What is otherwise.
  public let action: Action
  /// What it is, or was.
  public let kind: FileKind

  /// The path under which it isn't any more: of what was removed or moved.
  public var vacatedPath: SystemPath? {
    switch action {
    case .removed: path
    case .moved(let from): from
    case .added, .modified: nil
    }
  }

  /// The path under which it's new or has altered: of everything but what was removed.
  public var currentPath: SystemPath? { action == .removed ? nil : path }

  /// Makes a change, as a test of code that takes changes does.
  ///
  /// - Parameters:
  ///   - path: Where it is, or was if it's removed.
  ///   - action: What is otherwise.
  ///   - kind: What it is, or was.
  public init(_ path: SystemPath, _ action: Action, _ kind: FileKind) {
    self.path = path
    self.action = action
    self.kind = kind
  }
}

/// What makes the trees as they are now out of what they were when the watcher told the last time.
///
/// A difference of two states and no record: what was made and removed again meanwhile isn't in it, a file that was written ten times
/// is modified once, and one that was saved by way of another file is modified; that one, if it was told before, is removed.
///
/// To bring a copy up to date, go through the changes in their order and delete what was removed, and take what was moved out of its old place;
/// then go through what was moved and added, sorted by its path, and put it there; then bring over what was modified.
public struct TreeUpdate: Hashable, Sendable {
  /// What is otherwise: first what was removed or moved, what was in a directory before the directory; then what was added, directories
  /// before what is in them; then what was modified.
  public let changes: [TreeChange]
  /// How well the trees are followed.
  public let health: ScopeHealth
  /// What is in directories that were moved, if the update is a watcher's.
  private let difference: TreeDifference?

  /// Makes an update, as a test of code that takes updates does.
  ///
  /// - Parameters:
  ///   - changes: What is otherwise.
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
  /// For those who know files and no directories, such as an index of documents.
  ///
  /// - Complexity: O(*n* log *n*) in the number of files in directories that were moved.
  public var expandedChanges: [TreeChange] {
    guard let difference else { return changes }
    let vacated = changes.filter { $0.vacatedPath != nil } + difference.movesInside
    let order = vacated.map { (from: $0.vacatedPath ?? $0.path, change: $0) }.sorted { $0.from > $1.from }
    return order.map(\.change) + changes.filter { $0.vacatedPath == nil }
  }

  /// Whether both tell the same.
  public static func == (left: Self, right: Self) -> Bool {
    left.changes == right.changes && left.health == right.health
  }

  /// Feeds the changes.
  public func hash(into hasher: inout Hasher) { hasher.combine(changes) }
}
