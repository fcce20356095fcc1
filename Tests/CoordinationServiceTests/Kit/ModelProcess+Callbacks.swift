@testable import CoordinationService
@testable import FileAccessArbiter

// The callbacks of a process's presenters, and what a presenter may assume.

extension ModelProcess {
  /// Whether a callback that runs, or its work since it returned, may go on.
  func canAnswer(_ index: Int) -> Bool {
    guard let id = callbacks[index].save ?? callbacks[index].nested.last, let access = accesses[id] else { return true }
    return access.standing != .waiting
  }

  /// The callback goes on: it makes an access, ends one, or returns.
  mutating func answer(_ index: Int) {
    if let save = callbacks[index].save {
      end(save)
    } else if callbacks[index].nestedLeft > 0, !callbacks[index].hasFailed {
      return nest(index)
    } else if let inner = callbacks[index].nested.popLast() {
      return end(inner)
    } else if plan.savesLater, callbacks[index].kind == .saveChanges,
      let path = core.registration(of: callbacks[index].presenter)?.path
    {
      return saveLater(index, path)
    }
    let callback = callbacks.remove(at: index)
    let hasReacquirer = callback.kind.isRelinquish && plan.handsOverReacquirers
    if hasReacquirer { notes.append(.relinquished(callback.presenter, callback.message)) }
    tell(.messageAnswered(callback.message, hasReacquirer: hasReacquirer))
  }

  /// How many accesses a callback that begins now is going to make.
  mutating func nestedCount(in kind: Message.Kind) -> Int {
    guard let nested = plan.nested, nestingCount < nested.callbackCountMax, nested.moments.contains(.init(kind)) else {
      return 0
    }
    nestingCount += 1
    return nested.items.count
  }

  private mutating func nest(_ index: Int) {
    let callback = callbacks[index]
    guard let nested = plan.nested else { return }
    callbacks[index].nestedLeft -= 1
    let item = nested.items[nested.items.count - callback.nestedLeft]
    if core.isFull {
      callbacks[index].hasFailed = true
      return notes.append(.refusedByLimit)
    }
    let id = newAccess()
    callbacks[index].nested.append(id)
    var request = AccessRequest(
      client: ClientID(1), purpose: PurposeID(nested.isOwn ? 10_000 + callback.presenter.rawValue : id.rawValue),
      ownPresenter: nested.isOwn ? callback.presenter : nil, label: "", items: [item])
    request.context = callback.nested.last.map { .access($0) } ?? .message(callback.message)
    if isImpatient { request.limits.stoppedHolders = 0 }
    if mayClaim(item, isPlain: !nested.isOwn && Self.plainAccesses.contains(item.access)) {
      accesses[id] = Access(request: request, outer: callback.nested.last, standing: .claimed, isInTier: true)
      return notes.append(.began(id))
    }
    if let outer = callback.nested.last { adopt(outer) }
    accesses[id] = Access(request: request, outer: callback.nested.last, standing: .waiting)
    tell(.accessRequested(id, request))
  }

  private mutating func newAccess() -> AccessID {
    callbackAccessCount += 1
    return AccessID(UInt64(threads.count) << 8 | callbackAccessCount)
  }

  private mutating func saveLater(_ index: Int, _ path: ItemPath) {
    let callback = callbacks[index]
    let id = newAccess()
    callbacks[index].save = id
    var request = AccessRequest(
      client: ClientID(1), purpose: PurposeID(10_000 + callback.presenter.rawValue), ownPresenter: callback.presenter,
      label: "", items: [AccessRequest.Item(path, .write(.merging))])
    if isImpatient { request.limits.stoppedHolders = 0 }
    tell(.callbackReturned(callback.message))
    accesses[id] = Access(request: request, outer: nil, standing: .waiting)
    tell(.accessRequested(id, request))
  }
}

// MARK: - What a presenter may assume

extension ModelProcess {
  /// Callbacks of one presenter don't run inside of each other, unless an access of its own lies between.
  mutating func checkNesting(of delivery: Delivery) {
    let below = callbacks.filter { $0.presenter == delivery.presenter && $0.save == nil }
    guard let top = below.last, !below.contains(where: \.hasFailed) else { return }
    if !delivery.isReentrant {
      notes.append(.problem("\(delivery.presenter) of session \(session) runs two callbacks at once"))
    } else if top.nested.last.map({ accesses[$0]?.standing != .waiting }) ?? true, !waitsElsewhere(delivery.presenter) {
      notes.append(
        .problem("\(delivery.presenter) of session \(session) runs a callback inside of one that doesn't wait"))
    }
  }

  /// Whether an access of the presenter waits that was made outside of its callbacks, and one of them may wait for that.
  private func waitsElsewhere(_ presenter: PresenterID) -> Bool {
    accesses.contains { id, access in
      access.standing == .waiting && access.request.ownPresenter == presenter
        && !callbacks.contains { $0.nested.contains(id) }
    }
  }

  /// A callback goes on with its access only when those above it are over.
  mutating func checkNothingRunsAbove(_ id: AccessID) {
    guard let index = callbacks.firstIndex(where: { $0.nested.contains(id) }) else { return }
    let presenter = callbacks[index].presenter
    if callbacks[(index + 1)...].contains(where: { $0.presenter == presenter && $0.save == nil }) {
      notes.append(.problem("\(id) of session \(session) is granted while a callback runs above"))
    }
  }
}
