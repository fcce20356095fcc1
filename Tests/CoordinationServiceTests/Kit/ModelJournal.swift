/// What was promised to whom so far.
struct ModelJournal: Hashable, Sendable {
  struct Party: Hashable, Sendable {
    let client: Int
    let number: UInt64
  }

  struct Pair: Hashable, Sendable {
    let first: Party
    let second: Party
  }

  /// Presenters whose registration has been answered.
  var presenters: Set<Party> = []
  /// Presenters that some service has heard of.
  var known: Set<Party> = []
  /// The presenters that each write has to tell after it: it began when they had been answered, or became known to the
  /// service after them.
  var watched: [Party: Set<Party>] = [:]
  /// The presenters that each write had to ask before it: it was granted when they were known.
  var asked: [Party: Set<Party>] = [:]
  /// How often each presenter is to be told yet.
  var untold: [Party: Int] = [:]
  /// A move has put these together.
  var tolerated: Set<Pair> = []
  /// Granted by a service that wasn't the right one any more.
  var untrusted: Set<Party> = []
  /// While they weren't trusted, others were granted what conflicts with them.
  var overtaken: Set<Party> = []
  /// Clients that haven't noticed in time that the service is another one.
  var late: Set<Int> = []
}
