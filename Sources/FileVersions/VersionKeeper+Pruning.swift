internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// A policy says which versions go. It's asked while nobody else can change the history: meanwhile any of them may have become a parent.

extension VersionKeeper {
  /// Removes the versions that a policy doesn't keep, a part of them at a time; others may change the history in between.
  ///
  /// - Complexity: O(versions), each of which is read up to about sixteen times.
  func prune(
    _ access: borrowing FileAccess, by policy: FileVersionRetention, at date: Date, _ claimed: Set<SystemPath>
  ) throws -> [FileVersion] {
    var removed: [FileVersion] = []
    var isComplete = false
    while !isComplete {
      let count = removed.count
      defer { for version in removed[count...] { access.didChangeVersion(.lost, version: version.id.description) } }
      let path = access.canonicalPath
      // Those beside the file are conflicts, for which others stay.
      let copies = try addingCopies(to: [], at: path, claimed: claimed)
      isComplete = try withStore(at: [path]) { store in
        guard let item = try store.item(at: path, creating: false) else { return true }
        let kept = try store.versions(of: item).reversed().map { FileVersion($0, in: store) }
        let plan = policy.removals(among: copies + kept, at: date)
        let batch = plan.prefix(max(Self.removalBatchCount, kept.count / Self.pruningBatchCountMax))
        for version in batch {
          guard let stored = version.stored else { throw Self.currentVersionError(version) }
          try remove(stored, from: store, forgetting: false)
          removed.append(version)
        }
        return batch.count == plan.count
      }
    }
    return removed
  }

  /// A batch is at least this part of the versions, so that each of them is read a limited number of times.
  private static let pruningBatchCountMax = 16
}
