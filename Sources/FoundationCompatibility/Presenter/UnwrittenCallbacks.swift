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

  extension WrittenCallbacks {
    /// The methods that stand for each native callback: with several, any of them does.
    private static let methods: [(callback: FilePresenterCallbacks, methods: WrittenCallbacks)] = [
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

    fileprivate static func callbacks(where isWanted: (WrittenCallbacks) -> Bool) -> FilePresenterCallbacks {
      methods.reduce(into: []) { if isWanted($1.methods) { $0.insert($1.callback) } }
    }

    /// The methods of a class that states its callbacks; which of two forms it has written isn't stated.
    init(allBut callbacks: FilePresenterCallbacks) {
      self = Self.methods.reduce(into: []) { if !callbacks.contains($1.callback) { $0.formUnion($1.methods) } }
    }
  }

  /// The knowledge about the methods of a class.
  struct MethodKnowledge: Hashable, Sendable {
    /// Their default implementations have run.
    var unwritten: WrittenCallbacks = []
    /// They have run, and it wasn't the default.
    var written: WrittenCallbacks = []

    /// The native callbacks that are worth sending.
    var callbacks: FilePresenterCallbacks { WrittenCallbacks.callbacks { !$0.isSubset(of: unwritten) } }

    /// Those that the class may have or lack.
    var presumed: FilePresenterCallbacks {
      WrittenCallbacks.callbacks { !$0.isSubset(of: unwritten) && $0.isDisjoint(with: written) }
    }
  }

  /// The methods that classes of presenters have written and those they haven't, as far as known.
  ///
  /// Knowledge from one object holds for all objects of the class, and of its subclasses: the compiler chooses between
  /// the method and the default where the conformance is declared.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | its lock | default implementations run on any thread |
  final class UnwrittenCallbacks: Sendable {
    static let shared = UnwrittenCallbacks()

    private struct State {
      /// By the class that conforms; as many as a program has.
      var knowledge: [ObjectIdentifier: MethodKnowledge] = [:]
      /// The class that conforms, by the class of the object.
      var conformers: [ObjectIdentifier: ObjectIdentifier] = [:]
    }

    private let state = Guarded(State())

    /// The default implementation has run.
    func note(_ callback: WrittenCallbacks, of presenter: any NSFilePresenter) {
      learn(of: presenter) { $0.unwritten.insert(callback).inserted }
    }

    /// The class's own implementation has run, if the default hasn't.
    func noteCall(of callback: WrittenCallbacks, _ presenter: any NSFilePresenter) {
      learn(of: presenter) { !$0.unwritten.contains(callback) && $0.written.insert(callback).inserted }
    }

    private func learn(of presenter: any NSFilePresenter, _ body: (inout MethodKnowledge) -> Bool) {
      let key = conformer(of: presenter)
      let isNew = state.withLock { state in
        let before = state.knowledge[key] ?? MethodKnowledge()
        var after = before
        guard body(&after) else { return false }
        state.knowledge[key] = after
        return before.callbacks != after.callbacks || before.presumed != after.presumed
      }
      if isNew { PresenterRegistry.shared.classHasTaught(key) }
    }

    /// The knowledge about the presenter's class.
    func knowledge(of presenter: any NSFilePresenter) -> MethodKnowledge {
      let key = conformer(of: presenter)
      return state.withLock { $0.knowledge[key] } ?? MethodKnowledge()
    }

    /// The methods that the presenter's class hasn't written.
    func of(_ presenter: any NSFilePresenter) -> WrittenCallbacks { knowledge(of: presenter).unwritten }

    /// The class that declares the conformance.
    func conformer(of presenter: any NSFilePresenter) -> ObjectIdentifier {
      let type: any NSFilePresenter.Type = type(of: presenter)
      if let known = state.withLock({ $0.conformers[ObjectIdentifier(type)] }) { return known }
      var conformer: AnyClass = type
      while let superclass = _getSuperclass(conformer), superclass is any NSFilePresenter.Type {
        conformer = superclass
      }
      state.withLock { $0.conformers[ObjectIdentifier(type)] = ObjectIdentifier(conformer) }
      return ObjectIdentifier(conformer)
    }
  }
#endif
