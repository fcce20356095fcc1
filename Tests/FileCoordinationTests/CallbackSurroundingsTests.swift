import FoundationEssentials
import Synchronization
import Testing

@testable import FileAccessArbiter
@testable import FileCoordination

/// The surroundings of callbacks, which a task uses again for its next one unless something refers to them.
@Suite("The surroundings of callbacks", .timeLimit(.minutes(2)))
struct CallbackSurroundingsTests {
  /// Notes in each callback what's around it, and starts a task there that outlives it.
  private final class OutlivingPresenter: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToReader, .saveChanges]
    /// The context of each callback, and a task that it started, which returns its own context later.
    let tasks = Mutex<[(around: ExecutionContext?, task: Task<ExecutionContext?, Never>)]>([])
    private let gate: Task<Void, Never>

    init(_ url: URL, until gate: Task<Void, Never>) {
      presentedItemURL = url
      self.gate = gate
    }

    func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
      note()
      return { self.note() }
    }

    func savePresentedItemChanges(origin: AccessOrigin) async throws { note() }

    private func note() {
      let task = Task { [gate] in
        await gate.value
        return Lineage.current?.message
      }
      tasks.withLock { $0.append((Lineage.current?.message, task)) }
    }
  }

  @Test("A task that a callback started stays inside of that callback, however many callbacks follow")
  func outlived() async throws {
    let url = URL(filePath: "/nowhere/surroundings")
    let domain = CoordinationDomain()
    let (stream, opening) = AsyncStream<Never>.makeStream()
    let gate = Task { for await _ in stream {} }
    let presenter = OutlivingPresenter(url, until: gate)
    let registration = try await domain.register(presenter)
    defer { registration.end() }
    for _ in 0..<20 { try await FileCoordinator(domain: domain).read(url) { _ in } }
    opening.finish()
    let tasks = presenter.tasks.withLock { $0 }
    // The last reacquirer may still be on its way.
    #expect(tasks.count >= 59)
    #expect(Set(tasks.map(\.around)).count == tasks.count)
    for (around, task) in tasks {
      #expect(around != nil)
      #expect(await task.value == around)
    }
  }

  @Test("Surroundings of a callback that has returned are used again, unless something refers to them")
  func usedAgain() {
    let host = CoordinationDomain().host
    var former: Lineage?
    let first = Lineage.reusing(&former, MessageID(1), of: host, callback: CallbackUnderWay(MessageID(1), of: host))
    let address = ObjectIdentifier(first)
    #expect(first.callback != nil)
    former = consume first
    Lineage.forget(&former)
    #expect(former?.callback == nil)
    var second: Lineage? = Lineage.reusing(&former, MessageID(2), of: host)
    #expect(former == nil)
    #expect(second.map(ObjectIdentifier.init) == address)
    #expect(second?.message == .message(MessageID(2)))
    #expect(second?.depth == 1)
    former = second
    let third = Lineage.reusing(&former, MessageID(3), of: host)
    #expect(ObjectIdentifier(third) != address)
    #expect(second?.message == .message(MessageID(2)))
    former = second
    Lineage.forget(&former)
    #expect(former == nil)
    second = nil
  }
}

extension Lineage {
  /// The known context; `nil` for a claim.
  fileprivate var message: ExecutionContext? { if case .known(let context) = context { context } else { nil } }
}
