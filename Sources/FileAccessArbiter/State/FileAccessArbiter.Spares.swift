internal import CompactContainers

extension FileAccessArbiter {
  /// Memory that isn't needed any more, for the next access that asks presenters: in the steady state its messages allocate nothing.
  ///
  /// It has no part in any decision. Copies of the arbiter share it, and a copy that uses shared memory makes some of its own.
  struct Spares: Sendable {
    fileprivate var ofAccesses: [Access.SpareDetails] = []
    fileprivate var ofPresenters: [Presenter.SpareDetails] = []
    fileprivate var concerned: [ConcernedPresenter] = []

    /// How much of each kind is kept.
    fileprivate static let countMax = 16
    /// Longer lists of presenters aren't kept.
    fileprivate static let keptConcernedCountMax = 64
  }

  /// A presenter that an access concerns, and the questions to it.
  struct ConcernedPresenter: Sendable {
    let presenter: PresenterID
    var questions: MessageRules.Questions
    /// The use of the item that concerns the presenter.
    var itemAccess: ItemAccess
  }

  /// An access is about to need details.
  mutating func provideDetails(ofAccess id: AccessID) {
    let place = accesses.present(id)
    if accesses[at: place].hasDetails { return }
    if let spare = spares.ofAccesses.popLast() { accesses[at: place].provide(spare) }
  }

  mutating func keep(_ spare: Access.SpareDetails) {
    if spares.ofAccesses.count < Spares.countMax { spares.ofAccesses.append(spare) }
  }

  /// A presenter is about to need details.
  mutating func provideDetails(ofPresenter id: PresenterID) {
    let place = presenters.present(id)
    if presenters[at: place].hasDetails { return }
    if let spare = spares.ofPresenters.popLast() { presenters[at: place].provide(spare) }
  }

  mutating func dropUselessDetails(ofPresenter place: Int32) {
    guard let spare = presenters[at: place].takeUselessDetails() else { return }
    if spares.ofPresenters.count < Spares.countMax { spares.ofPresenters.append(spare) }
  }

  /// An empty list, with room if one has been given back.
  mutating func takeConcernedList() -> [ConcernedPresenter] { exchange(&spares.concerned, with: []) }

  mutating func reuse(_ list: inout [ConcernedPresenter]) {
    var list = exchange(&list, with: [])
    if list.capacity > Spares.keptConcernedCountMax { return }
    list.removeAll(keepingCapacity: true)
    spares.concerned = list
  }
}
