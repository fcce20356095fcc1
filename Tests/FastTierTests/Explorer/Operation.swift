/// The next operation of a model thread.
struct Operation: Hashable {
  enum Kind: UInt64 {
    /// The program has ended.
    case done
    // Memory.
    case load, store, exchange, compareExchange, add, allocate, free
    /// Takes the host's lock; the result names the value that it guards.
    case lock
    /// Puts the value back that `first` names, and releases the lock.
    case unlock
    /// Sleeps until woken; a wake that came before counts.
    case sleep
    /// Wakes the thread `first`.
    case wake
    // Statements of the programs about claims; `first` is the claim, or the presenter.
    /// A claim begins: presenters that are registered by now must be asked.
    case begins
    /// The holder believes from here on that its claim is granted; `second` says whether presenters were asked.
    case granted
    /// The holder is about to end its claim.
    case ends
    case registered, deregisters
    /// Claims that are granted now must be in the snapshot.
    case snapshotBegins
    /// `first` are the claims in it.
    case snapshotEnds
    /// The program found something that can't be; `first` is the index of a message.
    case violation
  }

  static let done = Kind.done.rawValue
  static let load = Kind.load.rawValue
  static let store = Kind.store.rawValue
  static let unlock = Kind.unlock.rawValue
  static let lock = Kind.lock.rawValue
  static let sleep = Kind.sleep.rawValue
  /// Kinds by number: the operation after one of these belongs to it.
  static let belongingToNext = mask([.begins, .ends, .deregisters])
  /// Kinds by number: those of which no operation of another thread can meet one, now or later.
  static let alwaysQuiet = mask([
    .allocate, .wake, .granted, .registered, .snapshotBegins, .snapshotEnds, .violation,
  ])

  private static func mask(_ kinds: [Kind]) -> UInt64 { kinds.reduce(0) { $0 | 1 << $1.rawValue } }

  var kind: Kind
  var address = 0
  var first: UInt64 = 0
  var second: UInt64 = 0
  /// Of an operation on a word.
  var ordering = Ordering.sequentiallyConsistent
}

/// The order that an operation on a word demands of others, as in C++.
enum Ordering: UInt64, CaseIterable, Hashable {
  case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent

  @inline(__always)
  var acquires: Bool { self != .relaxed && self != .releasing }
  @inline(__always)
  var releases: Bool { self != .relaxed && self != .acquiring }
}

/// A model thread stops here, because the result of its next operation isn't known yet.
struct TurnOver: Error {}

/// The program of a model thread: always the same operations, as long as they have the same results.
typealias Program = (ModelMemory) throws(TurnOver) -> Void
