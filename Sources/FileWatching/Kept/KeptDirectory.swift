/// What a directory was when it was known which names are in it.
///
/// Whoever adds, removes or renames something in a directory sets its change time to the present, which nobody can set back; so the
/// names are the same while that is. Where a change in the same tick of the clock might have followed, a directory isn't trusted; see
/// ``ScopeIndexer/keptState(settledAt:)``.
struct KeptDirectory: Sendable {
  private let facts: FileFacts

  init(_ facts: FileFacts) { self.facts = facts }

  /// Whether nothing has come into the directory or gone since, if this is what it is now.
  func holds(for now: FileFacts) -> Bool {
    facts.identity == now.identity && facts.creationTime == now.creationTime
      && facts.modificationTime == now.modificationTime && facts.changeTime == now.changeTime
  }
}
