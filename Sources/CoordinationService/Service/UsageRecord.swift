internal import FileAccessArbiter

/// How often each process has used a directory lately, to delegate the directory to a process that's alone with it.
///
/// A directory that has to be recalled often is delegated ever more seldom. So two processes in turn don't pay for a
/// delegation at each turn.
struct UsageRecord: Hashable, Sendable {
  struct Use: Hashable, Sendable {
    var count = 0
    var needed: Int
    var isReadOnly = true
    var isEnough: Bool { count >= needed }
  }

  private struct Entry: Hashable, Sendable {
    var client: ClientID
    var use: Use
  }

  /// Others are forgotten all at once: a use more or less does no harm.
  private static let entryCountMax = 4096
  private static let neededMax = 1024
  /// How often a process has to use a directory alone the first time.
  var initiallyNeeded = 3
  private var entries: [ItemPath: Entry] = [:]

  mutating func note(_ directory: ItemPath, by client: ClientID, isWrite: Bool) -> Use {
    if entries.count >= Self.entryCountMax { entries = [:] }
    var entry = entries[directory] ?? Entry(client: client, use: Use(needed: initiallyNeeded))
    if entry.client != client {
      entry.client = client
      entry.use.count = 0
      entry.use.isReadOnly = true
    }
    entry.use.count += 1
    if isWrite { entry.use.isReadOnly = false }
    entries[directory] = entry
    return entry.use
  }

  mutating func noteRecall(_ root: ItemPath) {
    for directory in [root, root.parent].compactMap(\.self) where entries[directory] != nil {
      let needed = entries[directory]?.use.needed ?? 0
      entries[directory]?.use.needed = min(needed * 2, Self.neededMax)
      entries[directory]?.use.count = 0
      entries[directory]?.use.isReadOnly = true
    }
  }
}
