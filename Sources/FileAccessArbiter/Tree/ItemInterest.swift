/// The accesses that claims and presenters at one item keep others from making without asking the arbiter.
///
/// A host may let others access an item without the arbiter while these sets show no obstacle. They are the conflicts
/// of ``ConflictRules`` and the questions of ``MessageRules`` without regard to purpose and nesting: a party that may
/// not go ahead alone asks the arbiter, which decides by those too.
///
/// | at the item         | reads of it | writes of it | reads below | writes below |
/// | ------------------- | ----------- | ------------ | ----------- | ------------ |
/// | read                | –           | kept         | –           | –            |
/// | read of all         | –           | kept         | –           | kept         |
/// | plain write         | kept        | kept         | –           | –            |
/// | deep write          | kept        | kept         | kept        | kept         |
/// | presenter           | kept        | kept         | –           | kept         |
///
/// A claim counts while it waits as well: later requests wait behind it. A presenter of a directory is notified of
/// writes inside.
///
/// Hosts make sets at each step of the arbiter, so that they are made as numbers in other targets as well.
@usableFromInline
package struct ItemInterest: OptionSet, Hashable, Sendable {
  @usableFromInline package let rawValue: UInt8
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable package static var blocksReading: Self { Self(rawValue: 1 << 0) }
  /// Keeps from plain writes of the item.
  @inlinable package static var blocksWriting: Self { Self(rawValue: 1 << 1) }
  @inlinable package static var blocksReadingBelow: Self { Self(rawValue: 1 << 2) }
  /// Keeps from plain writes of items inside the item.
  @inlinable package static var blocksWritingBelow: Self { Self(rawValue: 1 << 3) }
  /// The item has a presenter, so each access has to ask: trying again soon is no use.
  @inlinable package static var isPresented: Self { Self(rawValue: 1 << 4) }

  /// Of each presenter of the item.
  @inlinable package static var presenter: Self { [.blocksReading, .blocksWriting, .blocksWritingBelow, .isPresented] }

  /// Keeps from everything at the item and below.
  @inlinable package static var everything: Self {
    [.blocksReading, .blocksWriting, .blocksReadingBelow, .blocksWritingBelow]
  }

  /// Of a claim, from its request to its end.
  package init(_ access: ItemAccess) { self.init(LockMode(access)) }

  init(_ mode: LockMode) {
    switch mode {
    case .read: self = .blocksWriting
    case .deepRead: self = [.blocksWriting, .blocksWritingBelow]
    case .write: self = [.blocksReading, .blocksWriting]
    case .deepWrite: self = .everything
    }
  }
}

/// The interests at one item are others than before.
///
/// Two items may have the same fingerprint; each is reported for itself. So a table by fingerprints has to count.
package struct InterestChange: Hashable, Sendable {
  package let fingerprint: PathFingerprint
  package let old: ItemInterest
  package let new: ItemInterest

  package init(fingerprint: PathFingerprint, old: ItemInterest, new: ItemInterest) {
    self.fingerprint = fingerprint
    self.old = old
    self.new = new
  }
}
