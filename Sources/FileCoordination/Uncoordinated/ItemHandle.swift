internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Holds an item itself, at any place to which it's moved, until it's closed.
///
/// An open descriptor without access to the contents (`O_PATH`, open(2)): the kernel shows where the item is, by
/// proc_pid_fd(5). While it's open the file system can't be unmounted.
///
/// A held item for which the ``HandleBudget`` has no descriptor is identified all the same, but is found only at its
/// expected place.
struct ItemHandle: Hashable, Sendable {
  let identity: FileIdentity
  let kind: FileKind
  private let path: ItemPath
  /// Absent when the process has none to spare.
  private let descriptor: FileDescriptor?

  /// How often the kernel is asked of an item that is moved all the time.
  private static let attemptCountMax = 8
  private static let deletionMark = Array(" (deleted)".utf8)

  /// Fails when nothing is there, or when it can't be looked at.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - files: The door through which it's opened.
  ///   - budget: The budget that the descriptor is taken from.
  ///   - former: A held item that is closed right after, and whose descriptor makes room for this one.
  init?(
    _ path: ItemPath, in files: any FileSystem, _ budget: HandleBudget, insteadOf former: ItemHandle? = nil
  ) {
    let hasTaken = former?.isHeld == true ? budget.takeAhead() : budget.take()
    let opened = hasTaken ? Self.open(path, in: files, budget) : nil
    let status = if let opened { try? files.status(of: opened) } else { files.statusWithoutLinks(of: path) }
    guard let status else {
      if let opened { Self.close(opened, in: files, budget) }
      return nil
    }
    self.path = path
    descriptor = opened
    identity = status.identity
    kind = status.kind
  }

  /// Releases the item; this value must not be used afterwards.
  func close(in files: any FileSystem, _ budget: HandleBudget) {
    if let descriptor { Self.close(descriptor, in: files, budget) }
  }

  /// Opens an item for a descriptor that was taken from the budget.
  private static func open(_ path: ItemPath, in files: any FileSystem, _ budget: HandleBudget) -> FileDescriptor? {
    if let opened = try? files.openWithoutLinks(path) { return opened }
    budget.giveBack()
    return nil
  }

  private static func close(_ descriptor: FileDescriptor, in files: any FileSystem, _ budget: HandleBudget) {
    try? files.close(descriptor)
    budget.giveBack()
  }

  /// Whether the item is found wherever it goes.
  var isHeld: Bool { descriptor != nil }

  /// Where the item is now.
  ///
  /// - Parameters:
  ///   - place: Where it may have gone, for an item that isn't held.
  ///   - files: The door through which it was opened.
  /// - Returns: Its path; `nil` when it's gone, or out of sight.
  func currentPath(orAt place: ItemPath?, in files: any FileSystem) -> ItemPath? {
    guard let descriptor else { return [path, place].compactMap { $0 }.first { isHere($0.systemPath, in: files) } }
    let door = SystemPath("/proc/self/fd/\(descriptor.rawValue)")
    var former: SystemPath?
    for _ in 0..<Self.attemptCountMax {
      guard let target = try? files.readLink(door, at: .workingDirectory), target.isAbsolute, target != former else {
        return nil
      }
      // One that's gone is marked, but a name may end like the mark.
      let unmarked =
        target.bytes.hasSuffix(Self.deletionMark)
        ? SystemPath(bytes: target.bytes.dropLast(Self.deletionMark.count)) : nil
      for path in [target, unmarked].compactMap(\.self) where isHere(path, in: files) {
        return ItemPath(canonical: path.bytes)
      }
      // Moved since, perhaps.
      former = target
    }
    return nil
  }

  private func isHere(_ path: SystemPath, in files: any FileSystem) -> Bool {
    ((try? files.statusIfPresent(of: path)) ?? nil)?.identity == identity
  }
}

/// The number of descriptors that held items take together.
///
/// A program may present more items than it may have files open. So held items take no more than one in
/// ``shareOfDescriptors`` of its descriptors.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `takenCount` | itself: atomic | bridges take and give back under their own locks |
final class HandleBudget: Sendable {
  /// That of this process.
  static let shared = HandleBudget()
  /// Handles take one in so many of the descriptors that the process may have.
  static let shareOfDescriptors = 4

  private let fixedCountMax: Int?
  private let takenCount = Atomic<Int>(0)

  /// - Parameter countMax: How many; `nil` for the share of the limit that the process has at the time.
  init(countMax: Int? = nil) { fixedCountMax = countMax }

  private var countMax: Int { fixedCountMax ?? HostProcess.descriptorCountMax / Self.shareOfDescriptors }

  /// - Returns: Whether there was one to take.
  func take() -> Bool {
    if takenCount.wrappingAdd(1, ordering: .relaxed).newValue <= countMax { return true }
    giveBack()
    return false
  }

  /// Takes one even if there's none left, before another one is given back.
  ///
  /// - Returns: `true`.
  func takeAhead() -> Bool {
    takenCount.wrappingAdd(1, ordering: .relaxed)
    return true
  }

  func giveBack() { takenCount.wrappingSubtract(1, ordering: .relaxed) }
}

extension Array where Element: Equatable {
  fileprivate func hasSuffix(_ other: [Element]) -> Bool { suffix(other.count).elementsEqual(other) }
}

extension FileSystem {
  /// The status of the file at a canonical path; `nil` when nothing is there, also when a directory on the way has become a
  /// symbolic link: the target of that link has another canonical path.
  func statusWithoutLinks(of path: ItemPath) -> FileStatus? {
    do throws(SystemError) {
      let opened = try openWithoutLinks(path)
      defer { try? close(opened) }
      return try status(of: opened)
    } catch {
      // Without a descriptor to spare, links on the way go unnoticed.
      return error.isAbsence || error.number == .tooManySymbolicLinkLevels
        ? nil : (try? statusIfPresent(of: path.systemPath)) ?? nil
    }
  }

  /// Opens a file without access to its contents, unless a symbolic link is on the way.
  fileprivate func openWithoutLinks(_ path: ItemPath) throws(SystemError) -> FileDescriptor {
    do {
      return try openWithoutSymbolicLinks(path.systemPath, at: .workingDirectory, flags: [.pathOnly, .noFollow])
    } catch {
      // Linux before 5.6 doesn't report it.
      guard error.number == .noFunction else { throw error }
      return try open(path.systemPath, at: .workingDirectory, flags: [.pathOnly, .noFollow], mode: 0)
    }
  }
}
