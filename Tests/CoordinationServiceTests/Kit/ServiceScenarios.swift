import FileAccessArbiter

extension ServiceScenario {
  /// A process that decides alone, and others that come.
  static let recall = ServiceScenario(
    name: "recall",
    clients: [
      ClientPlan([.read("/d/a"), .write("/d/a"), .read("/d/b")]), ClientPlan([.write("/d/a"), .read("/d/a")]),
    ],
    clientKills: 1, prologue: [0, 0])

  /// The same, where a client's own request is in the way of its delegation.
  static let ownRequest = ServiceScenario(
    name: "own request",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a"), .read("/d/b")], [.write("/d", .deleting), .read("/d/a")]),
      ClientPlan([.read("/d/b")]),
    ], prologue: [0, 0])

  /// A claim nested in one that was granted to itself.
  static let nesting = ServiceScenario(
    name: "nesting",
    clients: [
      ClientPlan([.write("/d/a"), .read("/d/a", .write("/d/a"), .read("/e/b"))]),
      ClientPlan([.write("/d/a"), .read("/e/b")]),
    ], prologue: [0, 0])

  /// Each way to write in place is granted under a delegation, and reported when another client asks for the item.
  static let writesInPlace = ServiceScenario(
    name: "writes in place",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a", .merging), .write("/d/b", .metadataOnly)]),
      ClientPlan([.write("/d/a", .metadataOnly), .read("/d/b")]),
    ],
    serviceKills: 1, prologue: [0, 0])

  /// Accesses that were granted under a delegation are reported although it isn't recalled.
  static let lookers = ServiceScenario(
    name: "lookers",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a", .metadataOnly, .readToken, .look), .write("/d/b", .look)]),
      ClientPlan([.look, .read("/d/a")]),
    ],
    clientKills: 1, prologue: [0, 0])

  /// Each thread goes on with its next access before the process can have received a delegation.
  static let alone = ServiceScenario(
    name: "alone",
    clients: [
      ClientPlan(
        [.write("/d/a"), .write("/d/a", .merging), .read("/d/a"), .write("/d/a", .read("/d/c"))],
        [.write("/d/b"), .read("/d/b")])
    ], keepsDelegations: true)

  /// The same, where the threads of the process are in each other's way.
  static let rivals = ServiceScenario(
    name: "rivals",
    clients: [
      ClientPlan(
        [.write("/d/a"), .write("/d/a"), .read("/d/b")], [.read("/d/a"), .write("/d/b"), .write("/d/a")])
    ])

  static let readers = ServiceScenario(
    name: "readers",
    clients: [
      ClientPlan([.read("/d/a"), .read("/d/a"), .read("/d/b")]), ClientPlan([.read("/d/a"), .read("/d/a")]),
      ClientPlan([.write("/d/a")]),
    ], prologue: [0, 0])

  static let serviceKill = ServiceScenario(
    name: "service kill",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a")]), ClientPlan([.write("/d/a"), .read("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 0])

  static let bothKills = ServiceScenario(
    name: "both kills",
    clients: [ClientPlan([.write("/d/a"), .write("/d/a")]), ClientPlan([.write("/d/a")])],
    clientKills: 1, serviceKills: 1, prologue: [0, 0])

  static let lateness = ServiceScenario(
    name: "lateness",
    clients: [ClientPlan([.write("/d/a"), .write("/d/a")]), ClientPlan([.write("/d/a")])],
    serviceKills: 1, graceTimeouts: 1, prologue: [0, 0])

  static let presenter = ServiceScenario(
    name: "presenter",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a"), .write("/d/a")]),
      ClientPlan([.present(1, "/d/a"), .write("/d/a", own: 1)], handsOverReacquirers: true),
    ],
    clientKills: 1, prologue: [0, 0])

  static let presenterAndServiceKill = ServiceScenario(
    name: "presenter and service kill",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a")]),
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true),
    ],
    serviceKills: 1, prologue: [0, 0])

  static let leaving = ServiceScenario(
    name: "leaving",
    clients: [
      ClientPlan([.present(1, "/d/a"), .unpresent(1)], handsOverReacquirers: true), ClientPlan([.write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0])

  /// A presenter comes too late, and another client decides alone about its item.
  static let latePresenter = ServiceScenario(
    name: "late presenter",
    clients: [
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true), ClientPlan([.write("/d/a"), .write("/d/a")]),
    ],
    prologue: [0], firstIsLate: true)

  /// The grace may end while a presenter is being reported again.
  static let hesitantPresenter = ServiceScenario(
    name: "hesitant presenter",
    clients: [ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true), ClientPlan([.write("/d/a")])],
    serviceKills: 1, graceTimeouts: 1, prologue: [0])

  /// A holder comes too late.
  static let lateHolder = ServiceScenario(
    name: "late holder", clients: [ClientPlan([.write("/d/a")]), ClientPlan([.write("/d/a")])],
    prologue: [0], firstIsLate: true)

  /// A registration that's under way comes too late.
  static let latePresentation = ServiceScenario(
    name: "late presentation",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a")]), ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true),
    ],
    serviceKills: 1, graceTimeouts: 1)

  /// A process finds out before a step that can't be undone whether others have been inside while it was stopped.
  static let stoppedCommitter = ServiceScenario(
    name: "stopped committer",
    clients: [ClientPlan([.write("/d/a", .commit), .read("/d/a", .commit)]), ClientPlan([.write("/d/a")])],
    expulsions: 1, prologue: [0])

  /// The same when the service changes, and the process comes too late.
  static let lateCommitter = ServiceScenario(
    name: "late committer",
    clients: [ClientPlan([.write("/d/a", .commit)]), ClientPlan([.write("/d/a")])],
    serviceKills: 1, graceTimeouts: 1, prologue: [0])

  /// The same without delegations, so that a client that has been inside leaves nothing behind.
  static let lateCommitterAmongStrangers = ServiceScenario(
    name: "late committer among strangers", clients: lateCommitter.clients, serviceKills: 1, graceTimeouts: 1,
    prologue: [0], usesUntilDelegation: 100)

  /// A process is stopped while others wait for its accesses or delegations.
  static let stoppedHolder = ServiceScenario(
    name: "stopped holder",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a"), .write("/d/a")]), ClientPlan([.write("/d/a"), .read("/d/a")]),
    ],
    expulsions: 1, prologue: [0, 0])

  /// Two editors of one file have something to save when a reader comes: each writes elsewhere, and answers after that.
  static let lateAnswers = ServiceScenario(
    name: "late answers",
    clients: [
      ClientPlan([.present(1, "/d/a")], savesLater: true), ClientPlan([.present(2, "/d/a")], savesLater: true),
      ClientPlan([.read("/d/a")]),
    ],
    prologue: [0, 1])

  /// The same with one of them, and the service ends in the middle.
  static let lateAnswerAndServiceKill = ServiceScenario(
    name: "late answer and service kill",
    clients: [
      ClientPlan([.present(1, "/d/a")], handsOverReacquirers: true, savesLater: true),
      ClientPlan([.read("/d/a"), .write("/d/a")]),
    ],
    clientKills: 1, serviceKills: 1, prologue: [0])

  static let mover = ServiceScenario(
    name: "mover",
    clients: [
      ClientPlan([.write("/d/b"), .write("/d/a"), .read("/d/b"), .write("/d/a")]),
      ClientPlan([.write("/e/a", .moving, .move("/e/a", to: "/d/a"))]),
    ],
    clientKills: 1, prologue: [0, 0])

  /// A move is sent again to the next service, and others ask for something at the old place meanwhile.
  static let moverAndServiceKill = ServiceScenario(
    name: "mover and service kill",
    clients: [
      ClientPlan([.write("/e/a", .moving, .move("/e/a", to: "/d/a"))]), ClientPlan([.write("/e/a")]),
      ClientPlan([.read("/e/a")]),
    ],
    serviceKills: 1, prologue: [0], usesUntilDelegation: 100)

  /// Somebody who holds what it has moved tells the service that follows where that is by now, which others want.
  static let movedHolderAndServiceKill = ServiceScenario(
    name: "moved holder and service kill",
    clients: [
      ClientPlan([.write("/e/a", .moving, .move("/e/a", to: "/d/a"))]), ClientPlan([.write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0], usesUntilDelegation: 100)

  /// The same where a writer that waited for the move is granted the item at its new place.
  static let movedWaiterAndServiceKill = ServiceScenario(
    name: "moved waiter and service kill",
    clients: [
      ClientPlan([.write("/e/a", .moving, .move("/e/a", to: "/d/a"))]), ClientPlan([.write("/e/a")]),
      ClientPlan([.write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0], usesUntilDelegation: 100)

  /// Two processes read where a third moves something to, and one of them comes back before the other has left.
  static let moverAmongReaders = ServiceScenario(
    name: "mover among readers",
    clients: [
      ClientPlan(Array(repeating: .read("/d/b"), count: 6) + [.read("/d/a")]), ClientPlan([.read("/d/b")]),
      ClientPlan([.write("/e/a", .moving, .move("/e/a", to: "/d/a"))]),
    ],
    prologue: [0, 0, 1, 1])

  /// The connection of a process that decides alone, or holds something, breaks although it lives.
  static let brokenConnection = ServiceScenario(
    name: "broken connection",
    clients: [ClientPlan([.write("/d/a"), .write("/d/a", .commit), .read("/d/a")]), ClientPlan([.write("/d/a")])],
    cuts: 1, prologue: [0, 0])

  /// The same of a process that presents something, and owes its presenter a turn.
  static let brokenPresenter = ServiceScenario(
    name: "broken presenter",
    clients: [
      ClientPlan([.present(1, "/d/a"), .unpresent(1)], handsOverReacquirers: true), ClientPlan([.write("/d/a")]),
    ],
    cuts: 1, prologue: [0])

  /// A process has as much as it may have: its calls fail, and no process is disconnected.
  static let full = ServiceScenario(
    name: "full",
    clients: [
      ClientPlan(
        [.present(1, "/d/a"), .write("/d/b", .read("/e/a"))], [.read("/d/b"), .write("/d/b")], partyCountMax: 2),
      ClientPlan([.write("/d/b")]),
    ],
    serviceKills: 1)

  /// A thread gives up while no service answers, and is granted an access for which it doesn't wait any more.
  static let impatience = ServiceScenario(
    name: "impatience",
    clients: [ClientPlan([.write("/d/a"), .read("/d/a")]), ClientPlan([.write("/d/a")])],
    serviceKills: 1, cancellations: 1, prologue: [0])

  /// A process starts another one inside of an access that it granted itself, and any of them may be killed.
  static let child = ServiceScenario(
    name: "child",
    clients: [
      ClientPlan([.write("/d/a"), .write("/d/a", .run(1))]), ClientPlan([.read("/d/a", .write("/d/a"))]),
      ClientPlan([.write("/d/a")]),
    ],
    clientKills: 1, prologue: [0, 0])

  /// Nobody waits for the child: the access may end before it, and it gets nothing more then.
  static let orphan = ServiceScenario(
    name: "orphan",
    clients: [
      ClientPlan([.write("/d/a", .launch(1))]), ClientPlan([.write("/d/a"), .read("/d/a")]),
      ClientPlan([.read("/d/a")]),
    ],
    prologue: [0, 0])

  /// Two children of one access exclude each other.
  static let siblings = ServiceScenario(
    name: "siblings",
    clients: [
      ClientPlan([.write("/d", .replacing, .launch(1), .run(2))]), ClientPlan([.write("/d/a")]),
      ClientPlan([.write("/d/a")]),
    ],
    clientKills: 1, prologue: [0])

  /// A child waits for a process that waits for the access around the child.
  static let childInCycle = ServiceScenario(
    name: "child in a cycle",
    clients: [
      ClientPlan([.write("/d/a", .run(1))]), ClientPlan([.write("/d/b")]), ClientPlan([.write("/d/b", .write("/d/a"))]),
    ],
    prologue: [0, 0])

  /// A presenter's save has a hook that reads and writes the file.
  static let saveHook = ServiceScenario(
    name: "save hook",
    clients: [
      ClientPlan([.present(1, "/d/a"), .write("/d/a", own: 1, .run(1))], handsOverReacquirers: true),
      ClientPlan([.read("/d/a"), .write("/d/a")]), ClientPlan([.write("/d/a")]),
    ],
    prologue: [0])

  /// A child holds something, or asks for it, when one service takes the place of another.
  static let childAndServiceKill = ServiceScenario(
    name: "child and service kill",
    clients: [
      ClientPlan([.write("/d/a", .run(1))]), ClientPlan([.write("/d/a", .read("/d/a"))]), ClientPlan([.read("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 0], usesUntilDelegation: 100)

  /// The same when the access around it has ended, and nobody will report it.
  static let orphanAndServiceKill = ServiceScenario(
    name: "orphan and service kill",
    clients: [ClientPlan([.write("/d/a", .launch(1))]), ClientPlan([.write("/d/a"), .read("/d/a")])],
    clientKills: 1, serviceKills: 1, prologue: [0, 0], usesUntilDelegation: 100)

  /// A child of a child reports before the processes around it have.
  static let grandchildAndServiceKill = ServiceScenario(
    name: "grandchild and service kill",
    clients: [
      ClientPlan([.write("/d/a", .run(1))]), ClientPlan([.read("/d/a", .run(2))]), ClientPlan([.write("/d/a")]),
    ],
    serviceKills: 1, prologue: [0, 0, 0, 1, 1], usesUntilDelegation: 100)

  /// The process around a child is stopped, and another process does without it.
  static let stoppedParent = ServiceScenario(
    name: "stopped parent",
    clients: [
      ClientPlan([.write("/d/a", .run(1))]), ClientPlan([.write("/d/a"), .read("/d/a")]), ClientPlan([.write("/d/a")]),
    ],
    expulsions: 1, prologue: [0, 0], usesUntilDelegation: 100)

  /// The process around a child, or the child, comes too late to a new service.
  static let lateParent = ServiceScenario(
    name: "late parent",
    clients: [ClientPlan([.write("/d/a", .run(1))]), ClientPlan([.write("/d/a"), .read("/d/a")])],
    serviceKills: 1, graceTimeouts: 1, prologue: [0, 0], usesUntilDelegation: 100)

  /// The connection of the process around a child, or that of the child, breaks although both live.
  static let childAndBrokenConnection = ServiceScenario(
    name: "child and broken connection",
    clients: [
      ClientPlan([.read("/d/a", .run(1))]), ClientPlan([.write("/d/a")]), ClientPlan([.read("/d/a")]),
    ],
    cuts: 1, prologue: [0, 0], usesUntilDelegation: 100)

  static let children: [ServiceScenario] = [
    .child, .orphan, .siblings, .childInCycle, .saveHook, .childAndServiceKill, .orphanAndServiceKill,
    .grandchildAndServiceKill, .stoppedParent, .lateParent, .childAndBrokenConnection,
  ]

  /// For a normal run: a second each in a debug build.
  static let quickChildren: [ServiceScenario] = [
    .orphan, .childInCycle, .saveHook,
  ]

  /// For a normal run: a second each in a debug build.
  static let small: [ServiceScenario] = [
    .recall, .rivals, .nesting, .serviceKill,
  ]

  /// Too large for a normal run.
  static let large: [ServiceScenario] = [
    .lateAnswers, .ownRequest, .alone, .lookers, .leaving, .writesInPlace, .readers, .brokenConnection,
    .brokenPresenter, .full, .impatience, .bothKills, .lateness,
    .presenter,
    .presenterAndServiceKill, .mover, .moverAmongReaders, .latePresenter, .lateHolder,
    .stoppedHolder, .stoppedCommitter, .lateCommitter, .lateCommitterAmongStrangers, .lateAnswerAndServiceKill,
    .moverAndServiceKill, .movedHolderAndServiceKill,
    .hesitantPresenter, .latePresentation, .movedWaiterAndServiceKill,
  ]

  /// Those that find mistakes, the cheapest first.
  static let searching: [ServiceScenario] = [
    .orphan, .siblings, .rivals, .stoppedHolder, .stoppedCommitter, .lateCommitterAmongStrangers, .lateHolder,
    .latePresenter, .recall,
    .ownRequest, .mover, .presenter,
    .presenterAndServiceKill,
    .serviceKill,
    .leaving, .moverAmongReaders, .hesitantPresenter, .lateAnswers, .lateAnswerAndServiceKill,
    .moverAndServiceKill, .movedHolderAndServiceKill, .brokenConnection, .brokenPresenter, .full, .impatience,
    .childAndServiceKill, .orphanAndServiceKill, .nestedInReacquirer, .nestedBehindAsker, .lostInsideHeld,
    .nestedAndGivenUp,
  ]
}
