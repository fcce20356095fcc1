@testable import FileAccessArbiter

// Small worlds, each with the shape in which a coordinator may go wrong.

extension Scenario {
  /// Readers, writers, a deep writer and one that gives up, around one directory.
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

  /// A presenter that saves by its own coordinated write while others queue (C-119, C-307).
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

  /// Five actors, three claims each, four unrelated files: every request has another order of the same items.
  static let bundles = Scenario(
    name: "bundles",
    actors: [
      ActorPlan(.both([.init("/a", .read), .init("/b", .update), .init("/c", .read)])),
      ActorPlan(.both([.init("/c", .update), .init("/b", .read), .init("/d", .update)])),
      ActorPlan(.both([.init("/d", .read), .init("/a", .read), .init("/b", .read)])),
      ActorPlan(client: 2, .both([.init("/b", .update), .init("/d", .update), .init("/a", .update)])),
      ActorPlan(.both([.init("/c", .read), .init("/d", .read), .init("/a", .read)]) { $0.mayBeCancelled = true }),
    ])

  /// Five actors, three claims each, four items of one tree: deep writers, a snapshot, a package-free directory between.
  static let bundlesInTree = Scenario(
    name: "bundles in a tree",
    presenters: [
      PresenterPlan("/d/x/g", [.relinquishToWriter, .saveChanges, .itemDidChange]) { $0.onSave = [.answer, .fail] }
    ],
    actors: [
      ActorPlan(.both([.init("/d", .read), .init("/d/f", .update), .init("/d/x/g", .read)])),
      ActorPlan(.both([.init("/d/x", .deleting), .init("/d/f", .read), .init("/d/x/g", .update)])),
      ActorPlan(.both([.init("/d", .snapshot), .init("/d/f", .read), .init("/d/x", .read)])),
      ActorPlan(client: 2, .both([.init("/d/f", .update), .init("/d/x/g", .merging), .init("/d", .update)])),
      ActorPlan(
        .both([.init("/d", .moving), .init("/d/x/g", .read), .init("/d/x", .read)]) { $0.mayBeCancelled = true }),
    ])

  /// Five actors, three claims each, four files, one of which takes another's place under all waiting accesses.
  static let bundlesAndMove = Scenario(
    name: "bundles and a move",
    presenters: [PresenterPlan("/a", [.relinquishToWriter, .itemDidMove]) { $0.onRelinquish = [.reacquirer] }],
    actors: [
      ActorPlan(.both([.init("/a", .moving), .init("/b", .write(.replacing)), .init("/c", .read)], .move(to: "/b"))),
      ActorPlan(.both([.init("/b", .read), .init("/a", .read), .init("/d", .update)])),
      ActorPlan(.both([.init("/d", .read), .init("/a", .update), .init("/c", .read)])),
      ActorPlan(client: 2, .both([.init("/a", .write(.replacing)), .init("/d", .read), .init("/b", .read)])),
      ActorPlan(.both([.init("/c", .update), .init("/b", .update), .init("/a", .read)]) { $0.mayBeCancelled = true }),
    ])

  /// Accesses that go ahead unasked, and everything that may come across them: deep writers, snapshots, presenters.
  static let adoption = Scenario(
    name: "adoption",
    presenters: [
      PresenterPlan("/d/f", [.relinquishToReader, .relinquishToWriter, .accommodateDeletion, .itemDidChange]) {
        $0.isRegisteredAtStart = false
        $0.onDeletion = [.answer, .fail]
      }
    ],
    actors: [
      ActorPlan(.read("/d/f", .write("/d/x/g", with: goingAhead), with: goingAhead), .write("/d/f", with: goingAhead)),
      ActorPlan(client: 2, .read("/d/f", with: goingAhead)),
      ActorPlan(.write("/d", .deleting)),
      ActorPlan(client: 2, .both([.init("/d", .snapshot)]), .write("/d/x/g", with: goingAhead)),
      ActorPlan(.register(0), .unregister(0)),
    ])

  /// Accesses that went ahead unasked move with their items, and into the way of others.
  static let adoptionAndMoves = Scenario(
    name: "adoption and moves",
    presenters: [PresenterPlan("/e", [.relinquishToWriter, .subitemDidChange, .itemDidMove])],
    actors: [
      ActorPlan(.write("/d", .moving, .move(to: "/c"))),
      ActorPlan(.write("/d/f", .update, .move(to: "/e/f"), with: goingAhead)),
      ActorPlan(.read("/d/f", with: goingAhead), .read("/c/f", with: goingAhead)),
      ActorPlan(client: 2, .write("/e/f", with: goingAhead), .write("/d/g", with: goingAhead)),
    ])

  private static func goingAhead(_ plan: inout AccessPlan) { plan.mayBeAdopted = true }

  /// The scenarios of the normal run: less than a second each in a debug build.
  static let small = [readersInDidChange, stubbornReadersInDidChange, toldMovers] + savingElsewhere

  /// Two presenters of a class whose methods are unknown: it saves, and has no relinquish.
  static let unknownClass = Scenario(
    name: "unknown class",
    presenters: [0, 1].map { index in
      PresenterPlan("/d/f", presuming: [.relinquishToReader, .saveChanges], [.itemDidChange]) {
        $0.written = .saveChanges
        $0.classmates = [1 - index]
        $0.onSave = index == 0 ? [.answer, .doing(.write("/d/f") { $0.own = 0 })] : [.answer]
      }
    },
    actors: [ActorPlan(.read("/d/f") { $0.mayBeCancelled = true }), ActorPlan(client: 2, .read("/d/f"))])

  /// A presenter that reads its item when that has moved, while the mover goes on, and asks it.
  static let toldMovers = Scenario(
    name: "told of moves",
    presenters: [
      PresenterPlan("/d/f", [.relinquishToWriter, .saveChanges, .itemDidMove, .itemDidChange]) {
        $0.onTold = [.answer, .doing(.read("/d/g"))]
        $0.onRelinquish = [.reacquirer]
        $0.onSave = [.answer, .doing(.write("/d/f") { $0.own = 0 })]
      }
    ],
    actors: [
      ActorPlan(.write("/d/f", .moving, .move(to: "/d/g"), .read("/d/g"))), ActorPlan(client: 2, .write("/d/f")),
    ],
    activeReactionsMax: 2)

  /// The further scenarios of the long run.
  static let large =
    [
      nesting, adoptionAndMoves, unknownClass, tree, moves, bundles, bundlesInTree, adoption, detached, bundlesAndMove,
      savePriority, comings, reentrancy,
    ]
    + largeSavingElsewhere
}

extension Scenario: CustomStringConvertible {
  var description: String { name }
}
