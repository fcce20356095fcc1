#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation
  internal import SystemInterface

  /// A reference to an object of the program, which isn't kept alive.
  ///
  /// `@unchecked Sendable`: the object is used on its queue, and on any thread for questions that are allowed there.
  struct WeakPresenter: @unchecked Sendable {
    private(set) weak var presenter: (any NSFilePresenter)?

    /// - Parameter presenter: The object; if it's being deallocated, there's none.
    init(_ presenter: any NSFilePresenter) { self.presenter = presenter }
  }

  /// The native presenter that stands for one of the program: passes each message on, on the presenter's queue.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `isRegistered` | its lock | set when the presenter is added or removed, read before each message |
  final class PresenterAdapter: PresumedFilePresenter {
    let target: WeakPresenter
    let presenterLabel: String
    let domain: CoordinationDomain
    /// The class that declares the conformance.
    let conformer: ObjectIdentifier
    private let registered = Guarded(false)
    private let declared = Guarded<MethodKnowledge?>(nil)

    init(_ presenter: any NSFilePresenter, _ domain: CoordinationDomain) {
      target = WeakPresenter(presenter)
      presenterLabel = String(describing: type(of: presenter))
      self.domain = domain
      conformer = UnwrittenCallbacks.shared.conformer(of: presenter)
    }

    var isRegistered: Bool {
      get { registered.withLock { $0 } }
      set { registered.withLock { $0 = newValue } }
    }

    var presentedItemURL: URL? { target.presenter?.presentedItemURL?.absoluteURL }

    /// The methods that its class has written, as far as they're known.
    var presentedItemCallbacks: FilePresenterCallbacks {
      let knowledge = knowledge
      declared.withLock { $0 = knowledge }
      return knowledge.callbacks
    }

    /// The knowledge about its class when it was registered.
    var registeredKnowledge: MethodKnowledge? { declared.withLock { $0 } }

    var presumedCallbacks: FilePresenterCallbacks { statedCallbacks == nil ? knowledge.presumed : [] }

    /// The methods that its class states to have written.
    private var statedCallbacks: FilePresenterCallbacks? { target.presenter?.writtenCallbacks }

    /// A class that states its methods is never guessed about.
    var knowledge: MethodKnowledge {
      guard let presenter = target.presenter else { return MethodKnowledge() }
      var knowledge = UnwrittenCallbacks.shared.knowledge(of: presenter)
      if let stated = presenter.writtenCallbacks {
        knowledge.unwritten.formUnion(WrittenCallbacks(allBut: stated))
      }
      return knowledge
    }

    /// Whether its queue may have no other thread than the one that a callback blocks.
    var nestsCallbacks: Bool { target.presenter?.presentedItemOperationQueue.mayHaveNoOtherThread ?? false }

    /// The directory's own dates change with its entries, and many classes read them then (C-058).
    var observesDirectoryEntries: Bool { true }

    var observedPresentedItemUbiquityAttributes: Set<String>? {
      guard let presenter = target.presenter else { return nil }
      let attributes = presenter.observedPresentedItemUbiquityAttributes
      return unwritten.contains(.observedAttributes) ? nil : Set(attributes.map(\.rawValue))
    }

    var observesUncoordinatedChanges: Bool { target.presenter?.observesUncoordinatedChanges ?? false }

    var unwritten: WrittenCallbacks { knowledge.unwritten }

    /// Whether the presented item is treated as one file.
    var presentsPackage: Bool {
      guard let name = presentedItemURL?.lastPathComponent else { return false }
      return domain.configuration.packageExtensions.contains { name.count > $0.count + 1 && name.hasSuffix("." + $0) }
    }

    /// Runs `body` on the presenter's queue, as a message for whose answer an access waits.
    ///
    /// When the presenter's method returns without an answer, its next message can come.
    ///
    /// - Parameters:
    ///   - method: The method that's called. Whether the class has it may be unknown until the queue runs it.
    ///   - absent: The answer of a presenter that's gone or removed.
    ///   - body: Calls the presenter, and ensures an answer.
    /// - Returns: The answer.
    /// - Throws: The error that the presenter answered with, or that it dropped the answer.
    func ask<Answer: Sendable>(
      _ method: WrittenCallbacks, absent: Answer,
      _ body: @escaping @Sendable (any NSFilePresenter, FileAnswer<Answer>) -> Void
    ) async throws -> Answer {
      guard let queue = target.presenter?.presentedItemOperationQueue else { return leave(absent) }
      let nesting = CarriedNesting()
      let callback = CallbackUnderWay.current
      return try await FileAnswer<Answer>.wait { answer in
        PresenterTurns.shared.ask(on: queue) { [self] in
          guard isRegistered, let presenter = target.presenter else { return answer.succeed(leave(absent)) }
          if statedCallbacks == nil, !knowledge.written.contains(method) { callback?.hasBegun() }
          nesting.run { body(presenter, answer) }
          UnwrittenCallbacks.shared.noteCall(of: method, presenter)
          if !answer.isAnswered { callback?.hasReturned() }
        }
      }
    }

    /// Runs `body` on the presenter's queue, as a message for which no access waits.
    ///
    /// Returns when it has run, so that no more than one is in the queue, unless the queue is blocked by a waiting
    /// thread.
    func tell(isServed: Bool = false, _ body: @escaping @Sendable (any NSFilePresenter) -> Void) async {
      guard let queue = target.presenter?.presentedItemOperationQueue else { return leave(()) }
      await run(on: queue, isServed: isServed) { [self] in
        if isRegistered, let presenter = target.presenter { body(presenter) }
      }
    }

    /// Runs something on a presenter's queue, in turn.
    private func run(on queue: OperationQueue, isServed: Bool, _ body: @escaping @Sendable () -> Void) async {
      let nesting = CarriedNesting()
      // It's answered in any case.
      _ = try? await FileAnswer<Void>.wait { answer in
        PresenterTurns.shared.tell(on: queue, isServed: isServed) {
          nesting.run(body)
          answer.succeed()
        } release: {
          answer.succeed()
        }
      }
    }

    /// The closure that takes the item back, on the queue that the presenter had when it relinquished; it runs even if
    /// the presenter is gone (C-165).
    func reacquirer(_ body: @escaping @Sendable () -> Void, on queue: SharedReference<OperationQueue>) -> FileReacquirer
    {
      { [self] in await run(on: queue.value, isServed: true, body) }
    }

    /// The presenter has gone without having been removed.
    private func leave<Answer>(_ answer: Answer) -> Answer {
      if target.presenter == nil { PresenterRegistry.shared.noteGone(self) }
      return answer
    }
  }

  /// A reference to an object of the program that's handed through tasks.
  ///
  /// `@unchecked Sendable`: only used for calls that are safe on any thread, or on the object's queue.
  struct SharedReference<Object>: @unchecked Sendable {
    let value: Object

    init(_ value: Object) { self.value = value }
  }
#endif
