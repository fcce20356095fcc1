import CoordinationService
import FileAccessArbiter
import SeededRandom

// Presenters that coordinate in the middle of their callbacks, while one service takes the place of another.

extension NestedPlan {
  static func reading(
    _ paths: ItemPath..., in moments: Set<Moment> = [.question], callbacks: Int = 1, isOwn: Bool = true
  ) -> NestedPlan {
    NestedPlan(
      items: paths.map { AccessRequest.Item($0, .read(withoutChanges: true)) }, moments: moments,
      callbackCountMax: callbacks, isOwn: isOwn)
  }
}

extension ServiceScenario {
  /// Two readers ask a presenter that reads something else before it answers, and has to wait for that.
  static let nestedRead = ServiceScenario(
    name: "nested read",
    clients: [
      ClientPlan([.present(1, "/d/a")], nested: .reading("/d/b")), ClientPlan([.read("/d/a")]),
      ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1, prologue: [0, 2], usesUntilDelegation: 100)

  /// The same when both readers ask the same service before it ends: one question runs above the other one.
  static let nestedReadOfTwo = ServiceScenario(
    name: "nested read of two",
    clients: [
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true, nested: .reading("/d/b")),
      ClientPlan([.read("/d/a")], [.read("/d/a")]), ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1, prologue: [0, 2, 1], usesUntilDelegation: 100)

  /// A presenter waits in a callback, and another one of the same process doesn't.
  static let nestedBeside = ServiceScenario(
    name: "nested beside",
    clients: [
      ClientPlan([.present(1, "/d/a"), .present(2, "/d/c")], nested: .reading("/d/b")),
      ClientPlan([.read("/d/a")], [.read("/d/c")]), ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1, prologue: [0, 0, 2, 1], usesUntilDelegation: 100)

  /// An access inside of an access inside of a callback.
  static let nestedTwice = ServiceScenario(
    name: "nested twice",
    clients: [
      ClientPlan([.present(1, "/d/a")], nested: .reading("/d/c", "/d/b")), ClientPlan([.read("/d/a")]),
      ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1, prologue: [0, 2, 1], usesUntilDelegation: 100)

  /// A presenter reads what it presents when it gets its turn back.
  static let nestedInReacquirer = ServiceScenario(
    name: "nested in reacquirer",
    clients: [
      ClientPlan(
        [.present(1, "/d/a")], handsOverReacquirers: true, nested: .reading("/d/a", in: [.reacquirer])),
      ClientPlan([.write("/d/a"), .read("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 1], usesUntilDelegation: 100)

  /// A coordinator that doesn't know the presenter reads in its reacquirer, behind a writer that asks the presenter.
  static let nestedBehindAsker = ServiceScenario(
    name: "nested behind asker",
    clients: [
      ClientPlan(
        [.present(1, "/d/a")], handsOverReacquirers: true,
        nested: .reading("/d/a", in: [.reacquirer], isOwn: false)),
      ClientPlan([.write("/d/a"), .write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 1], usesUntilDelegation: 100)

  /// A presenter reads what has changed, and leaves.
  static let nestedInNotification = ServiceScenario(
    name: "nested in notification",
    clients: [
      ClientPlan([.present(1, "/d/a"), .unpresent(1)], nested: .reading("/d/a", in: [.notification])),
      ClientPlan([.write("/d/a")], [.write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 1], usesUntilDelegation: 100)

  /// Two presenters of one item read it before they answer, and ask each other about that.
  static let nestedMutually = ServiceScenario(
    name: "nested mutually",
    clients: [
      ClientPlan([.present(1, "/d/a")], nested: .reading("/d/a")),
      ClientPlan([.present(2, "/d/a")], nested: .reading("/d/a")), ClientPlan([.read("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 1], usesUntilDelegation: 100)

  /// The connection of a process breaks while its presenter waits in a callback.
  static let nestedAndBrokenConnection = ServiceScenario(
    name: "nested and broken connection",
    clients: [
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true, nested: .reading("/d/b")),
      ClientPlan([.read("/d/a")]), ClientPlan([.write("/d/b")]),
    ],
    cuts: 1, prologue: [0, 2], usesUntilDelegation: 100)

  /// The process of the presenter reports too late, or is stopped.
  static let nestedAndLate = ServiceScenario(
    name: "nested and late",
    clients: [
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true, nested: .reading("/d/b")),
      ClientPlan([.read("/d/a")]), ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1, graceTimeouts: 1, prologue: [0, 2], usesUntilDelegation: 100)

  /// A presenter reads twice when its item has changed, and its process finds no service in between.
  ///
  /// The process that asks the presenter next writes the item that it reads last.
  static let nestedAndGivenUp = ServiceScenario(
    name: "nested and given up",
    clients: [
      ClientPlan([.present(1, "/d/a")], nested: .reading("/d/c", "/d/b", in: [.notification], isOwn: false)),
      ClientPlan([.write("/d/a"), .write("/d/b", .read("/d/a"))]),
    ],
    cuts: 1, surrenders: 1, prologue: [0, 1], usesUntilDelegation: 100)

  /// A process comes too late with one of two accesses, and asks for a third inside of both when the service has changed again.
  static let lostInsideHeld = ServiceScenario(
    name: "lost inside held",
    clients: [ClientPlan([.read("/d/b", .write("/d/a", .write("/d/b")))]), ClientPlan([.write("/d/a")])],
    serviceKills: 2, prologue: [0, 0], firstIsLate: true, usesUntilDelegation: 100)

  /// For a normal run: a second each in a debug build.
  static let quickNested: [ServiceScenario] = [.nestedInReacquirer]

  /// Accesses in the middle of callbacks.
  static let nested: [ServiceScenario] =
    [
      .nestedRead, .nestedBeside, .nestedTwice, .nestedInReacquirer, .nestedBehindAsker, .nestedInNotification,
      .nestedAndBrokenConnection, .nestedReadOfTwo, .nestedMutually, .nestedAndGivenUp, .lostInsideHeld,
    ] + (Budget.isComplete ? [.nestedAndLate] : [])
}
