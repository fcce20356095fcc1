@testable import FileAccessArbiter

// Small worlds, each with the shape in which a coordinator may go wrong.

extension Scenario {
  /// Readers, writers, a deep writer and one who gives up, around one directory.
  static let tree = Scenario(
    name: "tree",
    presenters: [PresenterPlan("/d/f", [.relinquishToWriter, .itemDidChange]) { $0.onRelinquish = [.reacquirer] }],
    actors: [
      ActorPlan(.read("/d/f")),
      ActorPlan(client: 2, .write("/d/f") { $0.mayBeCancelled = true }),
      ActorPlan(.write("/d", .deleting)),
      ActorPlan(client: 2, .read("/d/x/g")),
      ActorPlan(.read("/d/f")),
    ])

  /// Two presenters of one file that both read it when it changed (C-185).
  static let readersInDidChange = Scenario(
    name: "readers in did-change",
    presenters: [0, 1].map { _ in
      PresenterPlan("/d/f", [.relinquishToReader, .relinquishToWriter, .itemDidChange]) {
        $0.onTold = [.doing(.read("/d/f"))]
      }
    },
    actors: [ActorPlan(.write("/d/f")), ActorPlan(client: 2, .read("/d/f"))])

  /// The same with presenters that aren't asked while they wait: deadlocks must be found.
  static let stubbornReadersInDidChange: Scenario = {
    var scenario = readersInDidChange
    scenario.name = "stubborn readers in did-change"
    for index in scenario.presenters.indices { scenario.presenters[index].servesWhileWaiting = false }
    return scenario
  }()

  /// Moves under waiters, holders and presenters; one mover only covers the destination.
  static let moves = Scenario(
    name: "moves",
    presenters: [
      PresenterPlan("/d/f", [.relinquishToWriter, .itemDidMove]), PresenterPlan("/e", [.subitemDidAppear]),
    ],
    actors: [
      ActorPlan(.write("/d/f", .moving, .move(to: "/e/f"))),
      ActorPlan(.read("/d/f") { $0.mayBeCancelled = true }),
      ActorPlan(.write("/d/f", .replacing)),
      ActorPlan(.both([.init("/e/f", .update)], .move(from: "/d/f", to: "/e/f"))),
    ])

  /// Upgrades, nested accesses and swapped items: real deadlocks, some of which the order of arrival could avoid.
  static let nesting = Scenario(
    name: "nesting",
    actors: [
      ActorPlan(.read("/f", .write("/f"))),
      ActorPlan(.read("/f", .write("/f") { $0.mayBeCancelled = true })),
      ActorPlan(.write("/g", .update, .read("/f"))),
      ActorPlan(.both([.init("/f", .read), .init("/g", .update)])),
    ])

  /// A presenter that saves by its own coordinated write while others queue (C-119, 9.2 point 7).
  static let savePriority = Scenario(
    name: "save priority",
    presenters: [
      PresenterPlan("/f", [.relinquishToReader, .saveChanges]) {
        $0.onSave = [
          .doing(.write("/f") { $0.own = 0 }),
          .doing(.both([.init("/f", .update), .init("/g", .update)]) { $0.own = 0 }),
          .fail,
        ]
        $0.onRelinquish = [.reacquirer]
      }
    ],
    actors: [
      ActorPlan(.read("/f")),
      ActorPlan(client: 2, .write("/f")),
      ActorPlan(.write("/g", .update, .read("/f"))),
      ActorPlan(.write("/f") { $0.own = 0 }),
    ])

  /// Presenters that come, go, throw and depart while they're asked.
  static let comings = Scenario(
    name: "comings and goings",
    presenters: [
      PresenterPlan("/d/f", [.relinquishToWriter, .accommodateDeletion, .itemDidChange], client: 2) {
        $0.onRelinquish = [.reacquirer, .unregister]
        $0.onDeletion = [.answer, .fail, .unregister]
      },
      PresenterPlan("/d/f", [.relinquishToReader, .relinquishToWriter], client: 1) {
        $0.isRegisteredAtStart = false
        $0.onRelinquish = [.reacquirer]
      },
    ],
    actors: [
      ActorPlan(.write("/d", .deleting) { $0.mayBeCancelled = true }),
      ActorPlan(client: 2, .write("/d/f") { $0.mayBeCancelled = true }),
      ActorPlan(.read("/d/f")),
      ActorPlan(.register(1), .unregister(1)),
    ],
    mayDepart: [2])

  /// Callbacks inside callbacks: presenters that write in relinquish and did-change, async ones among them.
  static let reentrancy = Scenario(
    name: "re-entrancy",
    presenters: [
      PresenterPlan("/f", [.relinquishToReader, .relinquishToWriter, .itemDidChange]) {
        $0.isAsync = true
        $0.onTold = [.answer, .doing(.read("/g"))]
        $0.onRelinquish = [.reacquirer, .doing(.write("/g"))]
      },
      PresenterPlan("/g", [.relinquishToReader, .relinquishToWriter]) {
        $0.onRelinquish = [.answer, .doing(.read("/f"), end: .reacquirer)]
      },
    ],
    actors: [
      ActorPlan(.write("/f") { $0.mayBeCancelled = true }),
      ActorPlan(client: 2, .read("/g") { $0.mayBeCancelled = true }),
      ActorPlan(.read("/f")),
    ])

  /// Requests that only inherited their context, answers before the callback is over, timers.
  static let detached = Scenario(
    name: "detached",
    presenters: [
      PresenterPlan("/f", [.relinquishToReader, .relinquishToWriter, .itemDidChange]) {
        $0.isAsync = true
        $0.onTold = [
          .answer, .doing(.detached(AccessPlan([.init("/g", .update)]))),
          .doing(.detached(AccessPlan([.init("/g", .update)])), .read("/f")),
        ]
        $0.onRelinquish = [.reacquirer, .doing(.answer(hasReacquirer: true), .read("/f"))]
      },
      PresenterPlan("/g", [.relinquishToWriter]) { $0.onRelinquish = [.answer, .doing(.read("/f"))] },
    ],
    actors: [
      ActorPlan(.write("/f")),
      ActorPlan(.write("/g", .update, .detached(AccessPlan([.init("/f", .update)])))),
      ActorPlan(
        client: 2,
        .read("/f") {
          $0.limits = .init(waiting: 1, answering: 1)
          $0.proceedsWithoutLateAnswers = true
        }),
    ])

  /// Five actors that each claim three of four items at once, in different orders (C-023, C-024).
  static let bundles = Scenario(
    name: "bundles",
    actors: [
      ActorPlan(.both([.init("/a", .read), .init("/b", .update), .init("/d", .read)])),
      ActorPlan(.both([.init("/d/f", .read), .init("/b", .read), .init("/a", .update)])),
      ActorPlan(.both([.init("/d", .write(.deleting)), .init("/a", .read), .init("/b", .read)])),
      ActorPlan(.both([.init("/b", .update), .init("/d/f", .read), .init("/a", .read)])),
      ActorPlan(.both([.init("/d/f", .update), .init("/b", .read), .init("/d", .read)])),
    ])

  /// The same while one of the items moves, and its presenter is asked and told.
  static let movingBundles = Scenario(
    name: "moving bundles",
    presenters: [PresenterPlan("/d/f", [.relinquishToWriter, .itemDidMove])],
    actors: [
      ActorPlan(
        .both(
          [.init("/d/f", .write(.moving)), .init("/e/f", .write(.replacing)), .init("/a", .read)],
          .move(to: "/e/f"))),
      ActorPlan(.both([.init("/d/f", .read), .init("/a", .update), .init("/b", .read)])),
      ActorPlan(.both([.init("/b", .update), .init("/e/f", .read), .init("/a", .read)])),
      ActorPlan(.both([.init("/a", .read), .init("/d/f", .write(.replacing)), .init("/b", .read)])),
      ActorPlan(.both([.init("/e/f", .read), .init("/b", .read), .init("/d/f", .read)])),
    ])

  /// Two actors that take three items one inside the other, in opposite orders, among three that claim theirs at once.
  static let ladders = Scenario(
    name: "ladders",
    actors: [
      ActorPlan(.write("/a", .update, .write("/b", .update, .write("/c")))),
      ActorPlan(.write("/c", .update, .write("/b", .update, .read("/a")))),
      ActorPlan(.both([.init("/a", .read), .init("/c", .read), .init("/d", .read)])),
      ActorPlan(.both([.init("/d", .update), .init("/b", .read), .init("/a", .read)])),
      ActorPlan(.both([.init("/c", .read), .init("/d", .read), .init("/b", .update)])),
    ])

  static let all = [
    tree, readersInDidChange, stubbornReadersInDidChange, moves, nesting, savePriority, comings, reentrancy, detached,
    bundles, movingBundles, ladders,
  ]
}

extension Scenario: CustomStringConvertible {
  var description: String { name }
}
