internal import FileAccessArbiter

// Accesses whose accessors run, and that no service has any more. Their code goes on, so a request inside of one is inside of the
// accesses and callbacks around it.

extension ClientCore {
  /// The surroundings of the code of an access.
  struct Surroundings: Hashable, Sendable {
    /// The access or callback that is the next one around it.
    let context: ExecutionContext?
    /// Whether that certainly waits for it.
    let isAwaitedByContext: Bool
    let ownPresenter: PresenterID?

    init(of request: AccessRequest) {
      context = request.context
      isAwaitedByContext = request.isAwaitedByContext
      ownPresenter = request.ownPresenter
    }
  }

  /// Others may be inside of the items of a held access: no service has it any more.
  ///
  /// Nothing happens if it has been released, and the service hadn't read that.
  mutating func lose(_ id: AccessID) {
    guard let access = accesses[id] else { return }
    lost[id] = Surroundings(of: access.request)
    forget(id)
    effects.append(.noteLoss(id))
  }

  /// The surroundings of the code of an access that hasn't ended, whether a service has it or not.
  func surroundings(of id: AccessID) -> Surroundings? { accesses[id].map { Surroundings(of: $0.request) } ?? lost[id] }

  /// The same request inside of the innermost access or callback around it that a service has.
  ///
  /// It's awaited by that if everything between them is awaited. The presenter of the innermost lost one that has one is named, because it
  /// may wait for the code in there.
  ///
  /// - Complexity: O(lost accesses around it).
  func insideSurvivors(_ request: AccessRequest) -> AccessRequest {
    if lost.isEmpty || has(.surroundingsOfLostForgotten) { return request }
    var request = request
    while case .access(let id) = request.context, let around = lost[id] {
      request.context = around.context
      if request.presenterAround == nil, around.ownPresenter != request.ownPresenter {
        request.presenterAround = around.ownPresenter
      }
      if !around.isAwaitedByContext { request.isAwaitedByContext = false }
    }
    return request
  }
}
