internal import FileWatching
internal import SystemInterface

/// The names on the way to places, each directory watched for changes of the names that matter: a value that decides.
///
/// It gives orders and takes their outcomes, see ``PlaceOrder``. It uses no file, thread, lock or clock, and shares no
/// memory with readers: ``PlaceHands`` carries its orders out. Between an order and its outcome the files may change in
/// any way.
///
/// Three rules make the answer right. A directory is watched *before* a name in it is looked up. A place is registered with
/// every name on its way *before* the changes are taken in that came meanwhile. A change makes every place stale whose way
/// leads through the name. So a place that isn't stale is where the system would lead to now, or was when the queue of changes
/// was last found empty.
///
/// Everything is bounded: places, watches, steps and attempts.
struct PlaceCore: WatchingCore, Sendable {
  typealias Order = PlaceOrder
  typealias Outcome = PlaceOutcome

  /// How many places are kept; the one not asked for the longest is forgotten for the next.
  static let placeCountMax = 1024
  /// How many directories are watched.
  static let watchCountMax = 2048
  /// How many names are looked up for one place, those of links included.
  static let stepCountMax = 256
  /// How many links are followed for one place, as many as the system follows: path_resolution(7).
  static let linkCountMax = 40
  /// How often a place is looked up again because something changed meanwhile.
  static let attemptCountMax = 3

  /// An attempt to find where a spelled path leads.
  struct Attempt: Hashable, Sendable {
    let id: PlaceID
    let spelled: SystemPath
    /// From 1.
    let number: Int
  }

  /// The purpose of a place that makes room.
  enum Room: Hashable, Sendable { case place, watch }

  /// The purpose of the result of the last order.
  enum Question: Hashable, Sendable {
    case watch
    case look
    case searchable(canonical: SystemPath)
    case use(PlaceID, Room)
    /// For an attempt, if the changes are those that came meanwhile.
    case changes(Attempt?)
    case registered(Attempt)
  }

  let limits: ResolutionCache.Limits
  var names = NameTree()
  /// The directories with each watch: two paths may lead to one directory.
  var watched: [NameWatch: [NameNode.ID]] = [:]
  var places: [PlaceID: Place] = [:]
  var placeIDs: [SystemPath: PlaceID] = [:]
  /// The places in the order of a clock, whose hand searches for the next to forget.
  var ring: [PlaceID] = []
  var hand = 0
  var lastPlace: UInt64 = 0
  /// The path that is being followed.
  var walk: PlaceWalk?
  /// Present while the last order has a result that is still to come.
  var question: Question?
  /// Orders that haven't been given yet, of which only the last one may have a result.
  var agenda = OrderQueue<PlaceOrder>()
  private var answer: Result<Place, PlaceRefusal>?

  init(limits: ResolutionCache.Limits) { self.limits = limits }

  /// The recorded place that a spelled path leads to; the library may have marked the record without asking the core.
  func place(at spelled: SystemPath) -> Place? { placeIDs[spelled].flatMap { places[$0] } }

  /// Whether everything is done that was to be done.
  var isIdle: Bool { walk == nil && question == nil && agenda.isEmpty }

  private func requireIdleness() {
    precondition(isIdle, "something else is required while \(question.map { "\($0)" } ?? "\(agenda)") is open")
  }
}

// MARK: - Requests

extension PlaceCore {
  /// Finds where a spelled path leads by looking names up; a recorded place of that path doesn't hold any more.
  ///
  /// - Parameter spelled: An absolute path without `.` and spare slashes.
  mutating func lookUp(_ spelled: SystemPath) {
    requireIdleness()
    if let outdated = placeIDs[spelled] { forget(outdated, .stale) }
    begin(spelled, attempt: 1)
  }

  /// Takes in all changes of names so far.
  mutating func absorbChanges() {
    requireIdleness()
    order(.takeChanges, .changes(nil))
  }

  /// The result of the last ``lookUp(_:)``.
  ///
  /// A place that wasn't stale after the changes were taken in, or the reason why the system has to be asked instead.
  mutating func takeAnswer() -> Result<Place, PlaceRefusal>? {
    defer { answer = nil }
    return answer
  }

  mutating func conclude(_ result: Result<Place, PlaceRefusal>) { answer = result }
}

// MARK: - Orders

extension PlaceCore {
  mutating func next() -> PlaceOrder? { agenda.takeFirst() }

  mutating func take(_ outcome: PlaceOutcome) {
    if case .done = outcome { return }
    guard let question else { preconditionFailure("no order has the result \(outcome)") }
    self.question = nil
    switch (question, outcome) {
    case (.watch, .watched(let result)): takeWatch(result)
    case (.look, .looked(let kind)): takeLook(kind)
    case (.searchable(let canonical), .searchable(let isSearchable)): takeSearchable(isSearchable, canonical)
    case (.use(let id, let room), .used(let isUsed)): takeUse(isUsed, of: id, room)
    case (.changes(let attempt), .changes(let changes)): takeChanges(changes, attempt)
    case (.registered(let attempt), .checked(let isKept)): takeCheck(isKept, attempt)
    case (.watch, _), (.look, _), (.searchable, _), (.use, _), (.changes, _), (.registered, _):
      preconditionFailure("\(outcome) is no answer to \(question)")
    }
  }

  /// Gives an order that has a result.
  mutating func order(_ order: PlaceOrder, _ question: Question) {
    agenda.append(order)
    self.question = question
  }
}

// MARK: - Changes

extension PlaceCore {
  private mutating func takeChanges(_ changes: [NameChange], _ attempt: Attempt?) {
    for change in changes { apply(change) }
    agenda.append(.endChanges)
    guard let attempt else { return }
    if places[attempt.id] == nil {
      tryAgain(attempt)
    } else {
      order(.check(attempt.id), .registered(attempt))
    }
  }

  private mutating func takeCheck(_ isKept: Bool, _ attempt: Attempt) {
    guard let place = places[attempt.id] else { preconditionFailure("\(attempt) was forgotten while it was checked") }
    if isKept { return conclude(.success(place)) }
    forget(attempt.id, .stale)
    tryAgain(attempt)
  }

  private mutating func tryAgain(_ attempt: Attempt) {
    if attempt.number < Self.attemptCountMax {
      begin(attempt.spelled, attempt: attempt.number + 1)
    } else {
      conclude(.failure(.irregular))
    }
  }

  /// Takes in a change: a place is stale if its way leads through a name that changed.
  private mutating func apply(_ change: NameChange) {
    switch change {
    case .name(let watch, let name):
      forEachDirectory(with: watch) { core, directory in
        core.invalidate(core.names[directory].children(concernedBy: name))
      }
    case .directory(let watch):
      forEachDirectory(with: watch) { core, directory in core.invalidate(core.names[directory].allChildren) }
    case .ended(let watch):
      let directories = watched.removeValue(forKey: watch) ?? []
      for directory in directories { names[directory].watch = nil }
      for directory in directories where names.contains(directory) { invalidate(names[directory].allChildren) }
    case .everything: invalidate(names[names.root].allChildren)
    }
  }

  private mutating func forEachDirectory(
    with watch: NameWatch, _ body: (inout PlaceCore, NameNode.ID) -> Void
  ) {
    // `body` may remove some of these directories, and adds none.
    for directory in watched[watch] ?? [] where names.contains(directory) { body(&self, directory) }
  }

  private mutating func invalidate(_ nodes: [NameNode.ID]) {
    for node in nodes where names.contains(node) {
      for place in names[node].dependents { forget(place, .stale) }
    }
  }
}
