@testable import FileAccessArbiter

// Presenters that save outside of their callbacks: on another queue or task, or in turns.

extension Scenario {
  static let savingElsewhere = [
    mergingDocuments, mixedDocuments, saverThatRelinquishes, editorInTurnsAndReaders, nestedReaderAndTurns,
  ]

  /// Scenarios that take some seconds of a debug build.
  static let largeSavingElsewhere = [
    documents("documents that await other tasks", returns: false),
    documents("documents with completion handlers", returns: true), editorsInTurns, relinquishThatSaves,
    documents("documents without relinquish", returns: true, callbacks: [.saveChanges, .itemDidChange]),
  ]

  /// Two documents of one file that save on another queue and answer when that is done.
  static func documents(
    _ name: String, returns: Bool,
    callbacks: PresenterCallbacks = [.relinquishToReader, .relinquishToWriter, .saveChanges]
  ) -> Scenario {
    Scenario(
      name: name,
      presenters: [0, 1].map { index in
        PresenterPlan("/f", callbacks) {
          $0.isAsync = !returns
          let save = Step.write("/f") { $0.own = index }
          $0.onSave = [.answer, returns ? .answeringLater(save) : .awaitingOthers(save, inheritsContext: index == 1)]
        }
      },
      actors: [ActorPlan(.read("/f")), ActorPlan(client: 2, .read("/f"))], isFreeOfDeadlocks: true)
  }

  /// The same with writes that ask each other to save.
  static let mergingDocuments = Scenario(
    name: "documents that merge",
    presenters: [0, 1].map { index in
      PresenterPlan("/f", [.relinquishToWriter, .saveChanges]) {
        $0.onSave = [.answer, .answeringLater(.write("/f", .merging) { $0.own = index })]
      }
    },
    actors: [ActorPlan(.read("/f"))], activeReactionsMax: 2, isFreeOfDeadlocks: true)

  /// One writes plainly, the other asks it to save once more.
  static let mixedDocuments = Scenario(
    name: "documents of which one merges",
    presenters: [WriteIntent.merging, .update].enumerated().map { index, intent in
      PresenterPlan("/f", [.relinquishToWriter, .saveChanges]) {
        $0.isAsync = true
        $0.onSave = [.answer, .awaitingOthers(.write("/f", intent) { $0.own = index })]
      }
    },
    actors: [ActorPlan(.read("/f"))], activeReactionsMax: 3, isFreeOfDeadlocks: true)

  /// A write of the presenter waits for a reader, whose question waits for the running save, which waits for the write.
  static let saverThatRelinquishes = Scenario(
    name: "a save that comes to depend on an earlier write",
    presenters: [
      PresenterPlan("/f", [.relinquishToReader, .saveChanges]) {
        $0.isAsync = true
        $0.onSave = [.answer, .doing(.inTurn(of: 0, []))]
      }
    ],
    actors: [
      ActorPlan(.inTurn(of: 0, [.write("/f") { $0.own = 0 }])),
      ActorPlan(.read("/f") { $0.mayBeCancelled = true }),
      ActorPlan(client: 2, .read("/f")),
    ])

  /// Documents that save before they let go.
  static let relinquishThatSaves = Scenario(
    name: "documents that save in relinquish",
    presenters: [0, 1].map { index in
      PresenterPlan("/f", [.relinquishToReader, .relinquishToWriter]) {
        $0.onRelinquish = [.answer, .answeringLater(.write("/f") { $0.own = index }, end: .reacquirer)]
      }
    },
    actors: [ActorPlan(.read("/f")), ActorPlan(client: 2, .write("/f"))], isFreeOfDeadlocks: true)

  /// An editor whose saves take turns, and which reads when it's notified of a change.
  private static func editor(_ index: Int, _ callbacks: PresenterCallbacks) -> PresenterPlan {
    PresenterPlan("/f", callbacks) {
      $0.isAsync = true
      $0.isActor = true
      $0.onSave = [
        .answer, .doing(.inTurn(of: index, [])), .doing(.inTurn(of: index, [.write("/f") { $0.own = index }])),
      ]
      $0.onTold = [.answer, .doing(.read("/f") { $0.own = index })]
    }
  }

  /// A user types into the editor and saves.
  private static func typing(_ index: Int) -> ActorPlan {
    ActorPlan(.inTurn(of: index, [.write("/f") { $0.own = index }]))
  }

  static let editorsInTurns = Scenario(
    name: "editors whose saves take turns",
    presenters: [0, 1].map { editor($0, [.saveChanges, .itemDidChange]) },
    actors: [typing(0), typing(1), ActorPlan(client: 2, .read("/f"))], isFreeOfDeadlocks: true)

  static let editorInTurnsAndReaders = Scenario(
    name: "an editor whose saves take turns, among readers",
    presenters: [editor(0, [.relinquishToReader, .relinquishToWriter, .saveChanges, .itemDidChange])],
    actors: [typing(0), ActorPlan(client: 2, .read("/f")), ActorPlan(.read("/f"))])

  /// A read that is nested in a write of the item asks the editor, whose save waits for the end of that write: a
  /// deadlock.
  static let nestedReaderAndTurns = Scenario(
    name: "an editor whose saves take turns, and a nested reader",
    presenters: [editor(0, [.saveChanges])],
    actors: [typing(0), ActorPlan(.write("/f", .update, .read("/f"))), ActorPlan(client: 2, .read("/f"))])
}
