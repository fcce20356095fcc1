/// The facts of a directory when all names in it were known.
///
/// Adding, removing or renaming an entry of a directory sets its change time to the present, which no program can set
/// back; so the names are the same while that is. Where a change in the same tick of the clock might have followed, a
/// directory isn't trusted; see ``ScopeIndexer/keptState(settledAt:)``.
struct KeptDirectory: Sendable {
  private let facts: FileFacts

  init(_ facts: FileFacts) { self.facts = facts }

  /// Whether no entry of the directory has come or gone since, judged by its present facts.
  func holds(for now: FileFacts) -> Bool {
    facts.identity == now.identity && facts.creationTime == now.creationTime
      && facts.modificationTime == now.modificationTime && facts.changeTime == now.changeTime
  }
}
