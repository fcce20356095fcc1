#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// Optional requirements of `NSFilePresenter`; the two forms of one method count as two.
  struct WrittenCallbacks: OptionSet, Hashable, Sendable {
    let rawValue: UInt32

    static let relinquishToReader = Self(rawValue: 1 << 0)
    static let relinquishToWriter = Self(rawValue: 1 << 1)
    static let save = Self(rawValue: 1 << 2)
    static let saveAsync = Self(rawValue: 1 << 3)
    static let deletion = Self(rawValue: 1 << 4)
    static let deletionAsync = Self(rawValue: 1 << 5)
    static let eviction = Self(rawValue: 1 << 6)
    static let evictionAsync = Self(rawValue: 1 << 7)
    static let subitemDeletion = Self(rawValue: 1 << 8)
    static let subitemDeletionAsync = Self(rawValue: 1 << 9)
    static let itemDidMove = Self(rawValue: 1 << 10)
    static let itemDidChange = Self(rawValue: 1 << 11)
    static let itemAttributes = Self(rawValue: 1 << 12)
    static let itemGain = Self(rawValue: 1 << 13)
    static let itemLoss = Self(rawValue: 1 << 14)
    static let itemResolution = Self(rawValue: 1 << 15)
    static let subitemDidAppear = Self(rawValue: 1 << 16)
    static let subitemDidMove = Self(rawValue: 1 << 17)
    static let subitemDidChange = Self(rawValue: 1 << 18)
    static let subitemGain = Self(rawValue: 1 << 19)
    static let subitemLoss = Self(rawValue: 1 << 20)
    static let subitemResolution = Self(rawValue: 1 << 21)
    static let observedAttributes = Self(rawValue: 1 << 22)
  }

  extension FilePresenterCallbacks {
    /// The native callbacks that are worth sending to a class that hasn't written some methods.
    init(allBut unwritten: WrittenCallbacks) {
      let needs: [(FilePresenterCallbacks, WrittenCallbacks)] = [
        (.relinquishToReader, .relinquishToReader), (.relinquishToWriter, .relinquishToWriter),
        (.saveChanges, [.save, .saveAsync]), (.accommodateDeletion, [.deletion, .deletionAsync]),
        (.accommodateEviction, [.eviction, .evictionAsync]),
        (.accommodateSubitemDeletion, [.subitemDeletion, .subitemDeletionAsync]),
        (.itemDidMove, .itemDidMove), (.itemDidChange, .itemDidChange),
        (.itemDidChangeUbiquityAttributes, .itemAttributes),
        (.itemVersions, [.itemGain, .itemLoss, .itemResolution]), (.subitemDidAppear, .subitemDidAppear),
        (.subitemDidMove, .subitemDidMove), (.subitemDidChange, .subitemDidChange),
        (.subitemVersions, [.subitemGain, .subitemLoss, .subitemResolution]),
      ]
      self = []
      for (callback, methods) in needs where !methods.isSubset(of: unwritten) { insert(callback) }
    }
  }

  /// What classes of presenters haven't written, as far as that's known: their default implementations have run.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `callbacks` | its lock | default implementations run on any thread |
  final class UnwrittenCallbacks: Sendable {
    static let shared = UnwrittenCallbacks()

    /// By class; as many as a program has.
    private let callbacks = Guarded<[ObjectIdentifier: WrittenCallbacks]>([:])

    func note(_ callback: WrittenCallbacks, of presenter: any NSFilePresenter) {
      callbacks.withLock { _ = $0[Self.key(presenter), default: []].insert(callback) }
    }

    /// What the presenter's class hasn't written.
    func of(_ presenter: any NSFilePresenter) -> WrittenCallbacks {
      callbacks.withLock { $0[Self.key(presenter)] ?? [] }
    }

    private static func key(_ presenter: any NSFilePresenter) -> ObjectIdentifier {
      ObjectIdentifier(type(of: presenter))
    }
  }
#endif
