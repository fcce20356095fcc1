internal import SystemInterface

/// How many directories all queries of a process may watch together: the kernel has one limit for all programs of a user.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `takenCount` | its lock | engines take and return on their threads |
package final class WatchBudget: Sendable {
  /// That of this process: half of the kernel's limit.
  package static let shared = WatchBudget(countMax: hostCountMax)

  package let countMax: Int
  private let takenCount = Guarded(0)

  package init(countMax: Int) { self.countMax = countMax }

  private static var hostCountMax: Int {
    let path = SystemPath("/proc/sys/fs/inotify/max_user_watches")
    guard let text = try? HostFileSystem().contents(of: path),
      let limit = Int(String(decoding: text, as: UTF8.self).filter(\.isNumber))
    else { return .max }
    return max(1, limit / 2)
  }

  /// How many are taken.
  package var count: Int { takenCount.withLock { $0 } }

  /// Takes some.
  ///
  /// - Parameter wanted: The greatest number that is taken.
  /// - Returns: How many there were.
  func take(upTo wanted: Int) -> Int {
    takenCount.withLock { taken in
      let granted = min(wanted, countMax - taken)
      taken += granted
      return granted
    }
  }

  func giveBack(_ count: Int) { takenCount.withLock { $0 -= count } }
}

/// The share of one scope in a ``WatchBudget``, taken and returned in parts.
struct WatchShare: ~Copyable {
  let budget: WatchBudget
  private(set) var takenCount = 0

  private static let partSize = 64

  init(_ budget: WatchBudget) { self.budget = budget }

  /// Makes room for one more watch, if there is any.
  ///
  /// - Parameter usedCount: How many there are.
  /// - Returns: How many there may be.
  mutating func reserve(beyond usedCount: Int) -> Int {
    if usedCount >= takenCount { takenCount += budget.take(upTo: Self.partSize) }
    return takenCount
  }

  /// Returns the unused ones, but for a part.
  mutating func trim(to usedCount: Int) {
    let spare = takenCount - usedCount - Self.partSize
    if spare < Self.partSize { return }
    takenCount -= spare
    budget.giveBack(spare)
  }

  deinit { budget.giveBack(takenCount) }
}
