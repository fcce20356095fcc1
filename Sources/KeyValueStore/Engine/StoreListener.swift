internal import KeyValueReplicas
internal import SystemInterface

/// The listeners of a store that still exist.
struct StoreListeners {
  private struct Weak {
    weak var listener: StoreListener?
  }

  private var members: [Weak] = []

  mutating func add() -> StoreListener {
    let listener = StoreListener()
    members.removeAll { $0.listener == nil }
    members.append(Weak(listener: listener))
    return listener
  }

  func current() -> [StoreListener] { members.compactMap(\.listener) }
}

/// The changes that one reader hasn't taken yet.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the store puts changes, a task takes them, and any ends it |
final class StoreListener: Sendable {
  private struct State: Sendable {
    var changes: [StoreChange] = []
    var waiter: CheckedContinuation<StoreChange?, Never>?
    var isEnded = false
  }

  /// A reader that's further behind gets several changes as one.
  static let countMax = 256

  private let state = Guarded(State())

  func put(_ change: StoreChange) {
    let waiter = state.withLock { state -> CheckedContinuation<StoreChange?, Never>? in
      if state.isEnded { return nil }
      if let waiter = state.waiter.take() { return waiter }
      state.changes.append(change)
      if state.changes.count > Self.countMax { state.changes = [StoreChange(merging: state.changes)] }
      return nil
    }
    waiter?.resume(returning: change)
  }

  /// - Returns: The next change; `nil` after the last one, or if the task was cancelled.
  func next() async -> StoreChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (change, isOver) = state.withLock { state -> (StoreChange?, Bool) in
          if !state.changes.isEmpty { return (state.changes.removeFirst(), true) }
          if state.isEnded || Task.isCancelled { return (nil, true) }
          state.waiter = continuation
          return (nil, false)
        }
        if isOver { continuation.resume(returning: change) }
      }
    } onCancel: {
      state.withLock { $0.waiter.take() }?.resume(returning: nil)
    }
  }

  func end() {
    let waiter = state.withLock { state in
      state.isEnded = true
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }
}

extension StoreChange {
  /// Several changes as one, with the reason of the last of them.
  init(merging changes: [StoreChange]) {
    var items = KeyTable<Item>()
    for change in changes {
      for item in change.items {
        items[item.key, default: item].new = item.new
      }
    }
    self.init(
      reason: changes.last?.reason ?? .server,
      items: items.sorted().map(\.value).filter { $0.old != $0.new })
  }
}
