import FileCoordination
import FoundationEssentials
import SeededRandom
import SystemInterface

/// An active presenter: it's edited, saves, rereads its item after a change, follows moves, and checks the rules
/// itself.
final class StressPresenter: FilePresenter {
  private struct State {
    var url: URL
    var isDirty = false
    var depth = 0
    var handed = 0
    var ran = 0
    var told = 0
    var random: SplitMix
  }

  let world: StressWorld
  let presenterLabel: String
  private let isFile: Bool
  private let state: Guarded<State>

  init(_ url: URL, isFile: Bool, in world: StressWorld, seed: UInt64) {
    self.world = world
    self.isFile = isFile
    presenterLabel = "presenter of \(url.lastPathComponent)"
    state = Guarded(State(url: url, random: SplitMix(seed: seed)))
  }

  var presentedItemURL: URL? { state.withLock { $0.url } }
  var presentedItemCallbacks: FilePresenterCallbacks { .all }

  /// Reacquirers handed over and not run yet, or run too often.
  var reacquirerBalance: Int { state.withLock { $0.handed - $0.ran } }

  private func chance(_ percent: Int) -> Bool { state.withLock { $0.random.chance(percent) } }

  /// Every callback runs inside of this.
  private func callback<Result>(
    _ origin: AccessOrigin, isTold: Bool, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let depth = state.withLock { state in
      state.depth += 1
      if isTold { state.told += 1 }
      return state.depth
    }
    // A callback that was sent while another one waited may begin after that one has failed and returned: alone.
    if depth > 1, !origin.isReentrant || isTold {
      world.report("\(presenterLabel): \(depth) callbacks at once, isReentrant \(origin.isReentrant), told \(isTold)")
    }
    defer { state.withLock { $0.depth -= 1 } }
    return try await body()
  }

  private func relinquish(_ origin: AccessOrigin) async -> FileReacquirer? {
    await callback(origin, isTold: false) {
      if chance(50) { await Task.yield() }
      if chance(30) { return nil }
      state.withLock { $0.handed += 1 }
      return { [self] in
        await Task.yield()
        state.withLock { $0.ran += 1 }
      }
    }
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    await relinquish(origin)
  }
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
    await relinquish(origin)
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    try await callback(origin, isTold: false) {
      let (url, isDirty) = state.withLock { state in
        let isDirty = state.isDirty
        state.isDirty = false
        return (state.url, isDirty)
      }
      if isDirty, isFile { try await access(.write(url)) }
    }
  }

  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws {
    await callback(origin, isTold: false) { await Task.yield() }
  }

  func accommodatePresentedSubitemDeletion(at url: URL, origin: AccessOrigin) async throws {
    await callback(origin, isTold: false) { await Task.yield() }
  }

  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
    await callback(origin, isTold: true) { state.withLock { $0.url = url } }
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    await callback(origin, isTold: true) {
      let isTyping = !world.hasTypingEnded
      state.withLock { state in state.isDirty = state.random.chance(40) && isTyping }
      guard isFile, chance(40), let url = presentedItemURL else { return }
      do { try await access(.read(url)) } catch {
        let code = (error as? FileCoordinationError)?.code
        if code == .deadlock {
          world.count("deadlock in did-change")
        } else {
          world.report("\(presenterLabel): \(error)")
        }
      }
    }
  }

  private func told(_ origin: AccessOrigin) async { await callback(origin, isTold: true) { await Task.yield() } }

  func presentedSubitemDidAppear(at url: URL, origin: AccessOrigin) async { await told(origin) }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async { await told(origin) }
  func presentedSubitemDidChange(at url: URL, origin: AccessOrigin) async { await told(origin) }

  /// An access of its own, inside a callback.
  private func access(_ operation: StressOperation) async throws {
    let coordinator = FileCoordinator(label: presenterLabel, presenter: self, domain: world.domain)
    let identity = StressIdentity(
      actor: presenterLabel, purpose: coordinator.purposeIdentifier, lineage: world.log.newLineage(),
      requested: AccessLog.now)
    let intents = operation.items.map(\.intent)
    try await coordinator.coordinate(intents) { [world] _ in
      let accessor = StressAccessor(operation, at: intents.map(\.url), value: world.nextValue(), identity: identity)
      for step in accessor.steps {
        try step()
        await Task.yield()
      }
      world.log.append(accessor.ended())
    }
  }
}
