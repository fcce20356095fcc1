/// The callbacks that a presenter declares to implement.
///
/// No presenter is sent a message that it didn't declare.
package struct PresenterCallbacks: OptionSet, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let relinquishToReader = Self(rawValue: 1 << 0)
  package static let relinquishToWriter = Self(rawValue: 1 << 1)
  package static let saveChanges = Self(rawValue: 1 << 2)
  package static let accommodateDeletion = Self(rawValue: 1 << 3)
  package static let accommodateEviction = Self(rawValue: 1 << 4)
  package static let accommodateSubitemDeletion = Self(rawValue: 1 << 5)
  package static let itemDidMove = Self(rawValue: 1 << 6)
  package static let itemDidChange = Self(rawValue: 1 << 7)
  package static let itemDidChangeUbiquityAttributes = Self(rawValue: 1 << 8)
  package static let itemVersions = Self(rawValue: 1 << 9)
  package static let subitemDidAppear = Self(rawValue: 1 << 10)
  package static let subitemDidMove = Self(rawValue: 1 << 11)
  package static let subitemDidChange = Self(rawValue: 1 << 12)
  package static let subitemVersions = Self(rawValue: 1 << 13)

  /// Not a callback, and not in ``all``: the presenter also observes changes by strangers.
  package static let uncoordinatedChanges = Self(rawValue: 1 << 14)

  /// Not a callback, and not in ``all``: the presenter of a plain directory also receives `itemDidChange` when an entry
  /// comes, goes or is renamed, unless it has declared a callback about subitems (C-058).
  package static let directoryEntries = Self(rawValue: 1 << 15)

  /// Not a callback, and not in ``all``: a callback that's put while another one waits runs on the thread that waits, so the
  /// one below doesn't go on before the one above is over, whatever becomes of its access.
  package static let nestedCallbacks = Self(rawValue: 1 << 30)

  /// The choices of a presenter when it registers, which aren't callbacks.
  package static let choices: Self = [.uncoordinatedChanges, .directoryEntries, .nestedCallbacks]

  package static let all = Self(rawValue: (1 << 14) - 1)

  /// The same choices with other callbacks.
  package func replacing(callbacks: Self) -> Self { intersection(.choices).union(callbacks.subtracting(.choices)) }

  /// The callbacks whose messages report changes inside a directory.
  package static let subitemNews: Self = [.subitemDidAppear, .subitemDidMove, .subitemDidChange]

  private static let presumedShift: UInt32 = 16

  /// Those of the callbacks that the presenter may have or lack.
  ///
  /// A presumed callback is declared like others. But an access that asks by it waits only for a while for the
  /// presenter's queue.
  package var presumed: Self {
    get { Self(rawValue: rawValue >> Self.presumedShift & Self.all.rawValue) }
    set {
      self = Self(
        rawValue: rawValue & ~(Self.all.rawValue << Self.presumedShift)
          | newValue.intersection(.all).rawValue << Self.presumedShift)
    }
  }
}
