internal import Glibc

/// A place in a tree of directories, reached name by name, that holds one descriptor however deep it is.
///
/// Going up opens `..` and checks that it is the directory we came from. So another program can't lead the caller out
/// of the tree by moving a directory away.
struct DirectoryCursor {
  /// The directory above the tree; it belongs to the caller.
  private let base: FileDescriptor
  private var opened: FileDescriptor?
  /// The directories from the top of the tree down to the current one.
  private var trail: [(name: SystemPath, identity: FileIdentity)] = []

  init(base: FileDescriptor) {
    self.base = base
  }

  /// The current directory.
  var current: FileDescriptor { opened ?? base }

  /// How many directories below the base.
  var depth: Int { trail.count }

  /// The path of the current directory, relative to the base; for messages only.
  var path: SystemPath {
    trail.reduce(SystemPath("")) { $0.appending($1.name) }
  }

  /// Opens a directory in the current one, and leaves the current one.
  mutating func descend(
    into name: SystemPath, using files: some FileSystem
  ) throws(SystemError) -> FileStatus {
    let child = try files.open(name, at: current, flags: [.directory, .noFollow], mode: 0)
    let status: FileStatus
    do {
      status = try files.status(of: child)
    } catch {
      try? files.close(child)
      throw error
    }
    move(to: child, using: files)
    trail.append((name, status.identity))
    return status
  }

  /// Goes back to the directory above and returns the name of the one left.
  mutating func ascend(using files: some FileSystem) throws(SystemError) -> SystemPath {
    let left = trail.removeLast()
    guard let above = trail.last else {
      move(to: nil, using: files)
      return left.name
    }
    let parent = try files.open(SystemPath(".."), at: current, flags: .directory, mode: 0)
    move(to: parent, using: files)
    if try files.status(of: parent).identity != above.identity {
      throw SystemError(
        call: SystemCall.open.rawValue, paths: [SystemPath("..")], errno: ESTALE,
        advice: "Somebody moved '\(left.name)' out of the tree; try again.")
    }
    return left.name
  }

  /// Closes the descriptor held; the cursor must not be used afterwards.
  mutating func close(using files: some FileSystem) {
    move(to: nil, using: files)
  }

  private mutating func move(to next: FileDescriptor?, using files: some FileSystem) {
    if let opened { try? files.close(opened) }
    opened = next
  }
}
