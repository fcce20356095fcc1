import FileAccessArbiter

/// The promises that clients have received so far.
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
  /// Presenters that some service has had.
  var known: Set<Party> = []
  /// The presenters that each write has to notify after it: it began when they had been answered, or reached the
  /// service after them.
  var watched: [Party: Set<Party>] = [:]
  /// The presenters that each write had to ask before it: it was granted when they were known.
  var asked: [Party: Set<Party>] = [:]
  /// How many notifications each presenter is still owed.
  var untold: [Party: Int] = [:]
  /// A move has put these together.
  var tolerated: Set<Pair> = []
  /// Where the items of accesses are in the file system since something was moved, of which their holders learn later.
  var places: [Party: ItemPath] = [:]
  /// Granted by a service that wasn't the right one any more.
  var untrusted: Set<Party> = []
  /// While they weren't trusted, others were granted conflicting accesses.
  var overtaken: Set<Party> = []
  /// Clients that haven't noticed in time that the service is another one.
  var late: Set<Int> = []
  /// Clients that have given up once: no answer promises that a service has their presenters.
  var surrendered: Set<Int> = []
}
