@testable import FileDocuments

// The models that are explored.

extension DocumentScenario {
  private static let close = Step.call(.close(isDiscarding: false))
  private static let discard = Step.call(.close(isDiscarding: true))

  /// Explored in every order: at most 22,000 states each, as in the lists for versions, decisions and searches.
  static let small: [DocumentScenario] = [
    DocumentScenario(
      name: "editing beside saving, each of which can fail",
      scripts: [[.call(.open), .edit, .edit, close], [.call(.save)]], failureCount: 2),
    DocumentScenario(
      name: "calls that are cancelled", scripts: [[.call(.open), .edit, .call(.save), close], [.call(.open)]],
      failureCount: 1, withdrawalCount: 2),
    DocumentScenario(
      name: "a reader needs what is unsaved", scripts: [[.call(.open), .edit, .edit, close]], readerCount: 2,
      failureCount: 1),
    DocumentScenario(
      name: "CD-45: the program refuses autosaves while another program appends",
      scripts: [[.call(.open), .edit, .call(.duplicate), close]], writers: [.append], readerCount: 1, refusalCount: 1),
    DocumentScenario(
      name: "another program appends", scripts: [[.call(.open), .edit, close]], writers: [.append],
      readerCount: 1),
    DocumentScenario(
      name: "two others append, one doesn't coordinate", scripts: [[.call(.open), .edit, close]], writers: [.append],
      strangerCount: 1),
    DocumentScenario(
      name: "CD-22: the file is deleted", scripts: [[.call(.open), .edit, .call(.save), .edit, close]],
      writers: [.delete], readerCount: 1, failureCount: 1),
    DocumentScenario(
      name: "the file is deleted, and the contents are saved elsewhere",
      scripts: [[.call(.open), .edit, .call(.saveElsewhere), .edit, close]], writers: [.delete], failureCount: 1),
    DocumentScenario(
      name: "a deletion isn't carried out", scripts: [[.call(.open), .edit, close]], writers: [.spare],
      failureCount: 1),
    DocumentScenario(
      name: "everything that the program can do with the file",
      scripts: [
        [.call(.open), .edit, .call(.move), .call(.duplicate), .edit, .call(.delete)], [.edit, close],
      ], failureCount: 1),
    DocumentScenario(
      name: "leases", scripts: [[.call(.open), .edit, close], [.edit]], failureCount: 1, leaseCount: 2),
    DocumentScenario(
      name: "opened twice", scripts: [[.call(.open), .edit, close], [.call(.open), .edit, discard]],
      failureCount: 1),
    DocumentScenario(
      name: "a new file is cancelled", scripts: [[.call(.create), .edit, close]], readerCount: 1, failureCount: 1,
      withdrawalCount: 2),
    DocumentScenario(
      name: "edits that don't ask, and the program merges",
      scripts: [[.call(.open), .edit, .editRegardless, close]], writers: [.append], hasMerge: true),
    DocumentScenario(
      name: "edits that don't ask while the file is deleted",
      scripts: [[.call(.open), .editRegardless, .editRegardless, close]], writers: [.delete], failureCount: 1),
  ]

  /// Explored in every order, with edits that are taken back, also while another program's text is looked at or kept.
  static let undoing: [DocumentScenario] = [
    DocumentScenario(
      name: "CD-10: edits are taken back while another program appends",
      scripts: [[.call(.open), .edit, .undo, .edit]], writers: [.append], strangerCount: 1),
    DocumentScenario(
      name: "CD-12: edits are taken back while a text isn't loaded",
      scripts: [[.call(.open), .edit, .undo, .edit, close]],
      writers: [.append], strangerCount: 1, loadsLate: true),
    DocumentScenario(
      name: "CD-69: contents that the document hasn't altered become another program's",
      scripts: [[.call(.open), .edit, .undo, .edit, .call(.save)]], writers: [.append], readerCount: 1, failureCount: 1,
      rebases: true),
    DocumentScenario(
      name: "CD-10: merged contents can't be taken back to saved ones",
      scripts: [[.call(.open), .edit, .undo, .undo, .edit]], writers: [.append], hasMerge: true),
    DocumentScenario(
      name: "CD-10: edits are taken back while saves fail",
      scripts: [[.call(.open), .edit, .edit, .undo, .undo, close]],
      strangerCount: 1, readerCount: 1, failureCount: 1, loadsLate: true),
  ]

  /// Explored in every order, with versions that other programs announce.
  static let versions: [DocumentScenario] = [
    DocumentScenario(
      name: "CD-23: conflicts come and go, and the document is opened again",
      scripts: [[.call(.open), .edit, close, .call(.open)]], conflictChangeCount: 2),
    DocumentScenario(
      name: "CD-23: conflicts come and go beside another program",
      scripts: [[.call(.open), .edit]], writers: [.append], conflictChangeCount: 1),
    DocumentScenario(
      name: "CD-23: a document with conflicts is saved elsewhere, or its file is deleted",
      scripts: [[.call(.open), .edit, .call(.saveElsewhere)]], writers: [.delete], conflictChangeCount: 1),
    DocumentScenario(
      name: "CD-23: an open is cancelled while conflicts come", scripts: [[.call(.open)], [.call(.open), discard]],
      failureCount: 1, withdrawalCount: 1, conflictChangeCount: 2),
  ]

  /// Explored in every order, with errors about which the program decides, and with locks.
  static let decisions: [DocumentScenario] = [
    DocumentScenario(
      name: "UD-20: saves fail, and the program decides", scripts: [[.call(.open), .edit, .edit, close]],
      failureCount: 2, consultations: .uncalled),
    DocumentScenario(
      name: "UD-20: calls fail, and the program decides",
      scripts: [[.call(.open), .edit, .call(.save), .call(.move), close]], failureCount: 1, consultations: .all),
    DocumentScenario(
      name: "UD-20: calls that the program decides about are cancelled",
      scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: false))], [.call(.save)]], failureCount: 1,
      withdrawalCount: 1, consultations: .all),
    DocumentScenario(
      name: "UD-20: a reader waits for the decision", scripts: [[.call(.open), .edit, close]], readerCount: 2,
      failureCount: 1, consultations: .uncalled),
    DocumentScenario(
      name: "UD-20: what another program writes can't be read", scripts: [[.call(.open), .edit, close]],
      writers: [.spoil], consultations: .uncalled),
    DocumentScenario(
      name: "UD-20: the file is deleted while the program decides", scripts: [[.call(.open), .edit, discard]],
      writers: [.delete], failureCount: 1, consultations: .uncalled),
    DocumentScenario(
      name: "UD-20: the journal fails beside a save, and the program refuses saves",
      scripts: [[.call(.open), .edit, close]], failureCount: 1, refusalCount: 1, consultations: .uncalled,
      journalFailureCount: 2),
    DocumentScenario(
      name: "ND-9: another program locks and unlocks the file", scripts: [[.call(.open), .edit, .call(.save), close]],
      readerCount: 1, lockCount: 2),
    DocumentScenario(
      name: "ND-9: the program locks and unlocks the file",
      scripts: [[.call(.open), .edit, .call(.setLock(true)), .edit, .call(.setLock(false)), .edit, close]],
      failureCount: 1, withdrawalCount: 1),
    DocumentScenario(
      name: "ND-9: a locked document is saved elsewhere, as the program decides",
      scripts: [[.call(.open), .edit, .call(.saveElsewhere), .edit]], consultations: .uncalled, lockCount: 1),
  ]

  static let merging = DocumentScenario(
    name: "another program appends, and the program merges", scripts: [[.call(.open), .edit, .edit, close]],
    writers: [.append], failureCount: 1, hasMerge: true)

  /// Explored in every order in long runs.
  static let medium: [DocumentScenario] = [
    DocumentScenario(
      name: "UD-20: another program appends, and no version can be kept", scripts: [[.call(.open), .edit, .edit]],
      writers: [.append], failureCount: 1, consultations: .uncalled),
    DocumentScenario(
      name: "ND-9: the file is locked while others write and delete it",
      scripts: [[.call(.open), .edit, .call(.setLock(true)), discard]], writers: [.append, .delete]),
    DocumentScenario(
      name: "another program writes what can't be read",
      scripts: [[.call(.open), .edit, .call(.save), close]], writers: [.spoil], readerCount: 1, failureCount: 1),
    DocumentScenario(
      name: "CD-45: the program refuses autosaves, and saves by itself",
      scripts: [[.call(.open), .edit, .edit, .call(.save), .edit, close], [.call(.move)]], readerCount: 1,
      refusalCount: 2, withdrawalCount: 1),
    DocumentScenario(
      name: "edits that don't ask, beside another program",
      scripts: [[.call(.open), .editRegardless, .editRegardless, close]], writers: [.append], readerCount: 1),
    DocumentScenario(
      name: "UD-20: merging fails, and the program decides", scripts: [[.call(.open), .edit]], writers: [.append],
      failureCount: 1, hasMerge: true, consultations: .uncalled),
    DocumentScenario(
      name: "edits that don't ask during a revert",
      scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: false))], [.editRegardless, .editRegardless]],
      failureCount: 1, withdrawalCount: 1),
    DocumentScenario(
      name: "UD-20: edits that don't ask, while the program decides",
      scripts: [[.call(.open), .edit, .editRegardless]], writers: [.append], failureCount: 1, hasMerge: true,
      consultations: .uncalled),
    merging,
    DocumentScenario(
      name: "CD-29: two others append during a revert",
      scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: false))]], writers: [.append, .append]),
    DocumentScenario(
      name: "reverting to another file", scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: true))], [.edit]],
      writers: [.append]),
    DocumentScenario(
      name: "a new file", scripts: [[.call(.create), .edit, .call(.save), close], [.edit]],
      writers: [.append], failureCount: 1),
    DocumentScenario(
      name: "two others append, and a save fails", scripts: [[.call(.open), .edit, close]],
      writers: [.append, .append], failureCount: 1),
    DocumentScenario(
      name: "two others append in quick succession, and the program merges", scripts: [[.call(.open), .edit, close]],
      writers: [.append, .append], hasMerge: true),
    DocumentScenario(
      name: "CD-29: two others append during a revert, and operations fail",
      scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: false)), close]], writers: [.append, .append],
      failureCount: 1),
    DocumentScenario(
      name: "reverting to another file is cancelled",
      scripts: [[.call(.open), .edit, .call(.revert(isElsewhere: true))], [.edit]], writers: [.append],
      failureCount: 1, withdrawalCount: 1),
    DocumentScenario(
      name: "leases beside another program", scripts: [[.call(.open), .edit, close], [.edit]], writers: [.append],
      leaseCount: 2),
    DocumentScenario(
      name: "CD-14: calls that are cancelled while leftovers are looked for",
      scripts: [[.call(.open), .edit, .call(.move), close], [.call(.open), close]], failureCount: 1,
      withdrawalCount: 2, searches: true),
  ]

  /// Explored at random.
  static let large = DocumentScenario(
    name: "everything at once",
    scripts: [
      [.call(.open), .edit, .call(.save), .edit, .call(.duplicate), .edit, close, .call(.open), .edit, close],
      [
        .call(.open), .edit, .call(.revert(isElsewhere: false)), .edit, .call(.revert(isElsewhere: true)), .edit, close,
      ],
      [
        .editRegardless, .call(.move), .editRegardless, .call(.save), .call(.saveElsewhere), .edit, .editRegardless,
        .call(.save),
      ],
    ],
    writers: [.append, .spare, .append, .spoil, .append, .delete], strangerCount: 3, readerCount: 4, failureCount: 5,
    withdrawalCount: 3, leaseCount: 2, conflictChangeCount: 6, hasMerge: true)
}

extension DocumentScenario {
  /// Explored in every order, with opens that go on searching.
  static let searches: [DocumentScenario] = {
    let close = Step.call(.close(isDiscarding: false))
    var scenarios = [
      DocumentScenario(
        name: "CD-14: editing and saving while leftovers are looked for",
        scripts: [[.call(.open), .edit, .edit, close], [.call(.save)]], failureCount: 1),
      DocumentScenario(
        name: "CD-14: a reader and a writer come while leftovers are looked for",
        scripts: [[.call(.open), .edit, close]], writers: [.append], readerCount: 1),
      DocumentScenario(
        name: "CD-14: the file is deleted while leftovers are looked for",
        scripts: [[.call(.open), .edit, .call(.saveElsewhere)]], writers: [.delete], failureCount: 1),
      DocumentScenario(
        name: "CD-14: the program decides about errors while leftovers are looked for",
        scripts: [[.call(.open), .edit, close]], failureCount: 1, consultations: .uncalled, journalFailureCount: 1),
    ]
    scenarios += versions.map { scenario in
      var scenario = scenario
      scenario.name += ", while they're looked for"
      return scenario
    }
    return scenarios.map { scenario in
      var scenario = scenario
      scenario.searches = true
      return scenario
    }
  }()
}
