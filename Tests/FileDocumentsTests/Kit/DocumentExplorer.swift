import SeededRandom

@testable import FileDocuments

/// A mistake that is put between the core and its surroundings, to show that the checks would find it.
enum DocumentMutant: String, CaseIterable, Sendable {
  /// A write doesn't compare first.
  case overwritesBlindly
  /// A version counts as kept, and nothing is kept.
  case keepsNothing
  /// Contents that another program wrote are never noticed.
  case ignoresChanges
  /// The end of another program's access is never noticed.
  case ignoresDeparture
  /// A failed write counts as done.
  case ignoresFailure
  /// A question is answered before anything is saved.
  case answersEarly
  /// A failure isn't an answer.
  case forgetsFailedAnswers
  /// A save is finished when it's requested.
  case finishesEarly
  /// A call that fails is never finished.
  case forgetsFailedCalls
  /// The contents that a save has written are noted as those in memory now.
  case clearsLaterEdits
  /// The timer isn't armed.
  case forgetsTimer
  /// A deleted file is written again.
  case recreates
  /// A close that fails closes the document.
  case closesAnyway
  /// An open says that there are no versions, without a look.
  case neverLooksForVersions
  /// Versions that come later are never noticed.
  case ignoresVersions
  /// An open that has found no versions counts as one that hasn't looked.
  case looksForVersionsAnyway
  /// A file that couldn't be read isn't read again by itself.
  case forgetsReading
  /// The program isn't asked about errors, though nothing goes on without its decision.
  case asksNobody
  /// A decision to try again at once counts as one to try again later.
  case delaysRetries
  /// The place that the program has decided on is forgotten.
  case forgetsPlaces
  /// Locks that other programs set aren't seen.
  case ignoresLocks
  /// A search that has found something counts as one that has found nothing.
  case ignoresFinds
  /// Nobody is notified of the end of a search.
  case forgetsSearch
  /// Contents that weren't loaded count as loaded.
  case takesUnread

  func event(_ event: DocumentEvent, _ model: DocumentModel) -> [DocumentEvent] {
    switch (self, event) {
    case (.ignoresChanges, .itemChanged), (.ignoresDeparture, .writerLeft), (.ignoresVersions, .versionsChanged): []
    case (.ignoresLocks, .lockSeen): []
    case (.ignoresFinds, .searchEnded(hasFound: true)): [.searchEnded(hasFound: false)]
    case (.delaysRetries, .errandEnded(.decided(.retryNow))): [.errandEnded(.decided(.retryLater))]
    case (.forgetsPlaces, .errandEnded(.decided(.saveElsewhere))): [.errandEnded(.decided(.present))]
    case (.looksForVersionsAnyway, .completed(.doneWithoutVersions)): [.completed(.done)]
    case (.clearsLaterEdits, .completed(.done)) where model.core.running?.operation == .write:
      [event, .tokenSaved(model.core.editToken)]
    case (.closesAnyway, .called(let id, .close(isDiscarding: false))):
      [.called(id, .close(isDiscarding: true))]
    default: [event]
    }
  }

  func effects(_ effects: [DocumentEffect], of event: DocumentEvent) -> [DocumentEffect] {
    switch (self, event) {
    case (.answersEarly, .saveAsked(let id)):
      return effects.filter { if case .answer = $0 { false } else { true } } + [.answer(id, nil)]
    case (.finishesEarly, .called(let id, .save)):
      return effects.filter { if case .finish = $0 { false } else { true } } + [.finish(id, nil, didSave: true)]
    default:
      return effects.filter { effect in
        switch (self, effect) {
        case (.forgetsFailedAnswers, .answer(_, .some)), (.forgetsFailedCalls, .finish(_, .some, _)),
          (.forgetsTimer, .armTimer), (.forgetsReading, .armReadingTimer),
          (.asksNobody, .beginErrand(.consult, for: _)), (.forgetsSearch, .awaitSearch):
          false
        default: true
        }
      }
    }
  }
}

extension DocumentModel {
  /// The violated properties in this state; `isAtEnd` if nothing more can happen.
  func problems(isAtEnd: Bool) -> [String] {
    var problems = core.problems
    if let violation { problems.append(violation) }
    let kept = (versions.union(otherFiles)).reduce(0) { $0 | $1.marks }
    let there = (file?.marks ?? 0) | (memory.contents?.marks ?? 0) | kept | forgiven
    if acknowledged & ~there != 0 { problems.append("marks \(acknowledged & ~there) are lost") }
    if isDeleted, file != nil { problems.append("a deleted file is there again") }
    let state = core.published
    if !state.conditions.contains(.closed), !state.conditions.contains(.deleted), !state.hasUnsavedChanges,
      memory.contents != memory.base?.contents
    {
      problems.append("nothing is unsaved, and the contents aren't those of the file")
    }
    if (session != nil) != (core.phase == .open) {
      problems.append("it's presented, and not open, or the other way round")
    }
    if isAtEnd {
      if !calls.isEmpty { problems.append("calls never end: \(calls.values)") }
      if !questions.isEmpty { problems.append("questions are never answered") }
      if core.phase != .closed, !state.editingObstacles.subtracting(.locked).isEmpty {
        problems.append("editing is disabled for ever")
      }
      if core.phase == .open, let file, file.isReadable, noticeCount == 0, memory.base?.tag != file, !isFailing {
        problems.append("the document never notices what the file has")
      }
      if core.phase == .open, noticeCount == 0, !isFailing, core.isLocked != isFileLocked {
        problems.append("the document never notices whether the file is locked")
      }
      if core.phase == .open, state.hasUnsavedChanges, !core.isSavingStopped, !core.isLocked {
        problems.append("changes are never saved")
      }
      if core.phase == .open, let problem = conflicts.problem(with: state) { problems.append(problem) }
    }
    return problems
  }

  /// A file that couldn't be read, or a save that has failed with its contents in place.
  private var isFailing: Bool { core.published.readingError != nil || core.published.savingError != nil || hidesErrors }
}

/// Runs a model in every order, or in one that a seed chooses.
struct DocumentExplorer {
  struct Failure: CustomStringConvertible, Sendable {
    let problems: [String]
    let actions: [DocumentModel.Action]
    var description: String {
      "\(problems.joined(separator: "; ")) after:\n"
        + actions.map { "  \($0)".replacing("FileDocumentsTests.DocumentModel.", with: "") }.joined(separator: "\n")
    }
  }

  struct Result: Sendable {
    var stateCount = 0
    var endCount = 0
    var isComplete = true
    var failure: Failure?
  }

  let scenario: DocumentScenario
  var mutant: DocumentMutant?
  var stateCountMax = 2_000_000

  /// Visits each state once.
  func exploreAll() -> Result {
    struct Frame {
      let model: DocumentModel
      let actions: [DocumentModel.Action]
      var next = 0
    }
    var result = Result()
    // Their hashes alone: comparing and moving whole models would take half of the time.
    var seen: Set<Int> = []
    var path: [DocumentModel.Action] = []
    let start = DocumentModel(scenario)
    var frames = [Frame(model: start, actions: start.actions(scenario))]
    while var frame = frames.popLast() {
      guard frame.next < frame.actions.count else {
        _ = path.popLast()
        continue
      }
      let action = frame.actions[frame.next]
      frame.next += 1
      var model = frame.model
      frames.append(frame)
      model.act(action, scenario, mutant)
      if !seen.insert(model.hashValue).inserted { continue }
      path.append(action)
      let actions = model.actions(scenario)
      result.stateCount += 1
      if actions.isEmpty { result.endCount += 1 }
      let problems = model.problems(isAtEnd: actions.isEmpty)
      if !problems.isEmpty {
        result.failure = Failure(problems: problems, actions: path)
        return result
      }
      if result.stateCount >= stateCountMax {
        result.isComplete = false
        return result
      }
      frames.append(Frame(model: model, actions: actions))
    }
    return result
  }

  /// One run to its end; if it fails, as few of its actions as fail.
  func shortest(seed: UInt64) -> Failure? {
    guard let failure = run(seed: seed) else { return nil }
    let actions = failure.actions.shrunk { replay($0)?.actions }
    return replay(actions) ?? failure
  }

  /// The actions of a list that are possible, one after the other.
  private func replay(_ actions: [DocumentModel.Action]) -> Failure? {
    var model = DocumentModel(scenario)
    var path: [DocumentModel.Action] = []
    for action in actions where model.actions(scenario).contains(action) {
      path.append(action)
      model.act(action, scenario, mutant)
      let problems = model.problems(isAtEnd: model.actions(scenario).isEmpty) + problemsIfAllFails(model)
      if !problems.isEmpty { return Failure(problems: problems, actions: path) }
    }
    return nil
  }

  /// The violated properties if from now on every operation fails, and nothing else happens: calls that never end.
  private func problemsIfAllFails(_ start: DocumentModel) -> [String] {
    var model = start
    for _ in 0..<400 {
      if let errand = model.errand {
        // The worst decision: the end has to come all the same.
        let outcome = errand == .consult ? ErrandOutcome.decided(.retryNow) : .failed(.cancelled)
        model.act(.endErrand(outcome), scenario, mutant)
        continue
      }
      if model.operation == nil, let action = model.searchActions.first {
        model.act(action, scenario, mutant)
        continue
      }
      guard let operation = model.operation else { break }
      if operation.outcome == nil {
        model.failureCount += 1
        model.act(.perform(.fail), scenario, mutant)
      } else {
        model.act(.deliver, scenario, mutant)
      }
    }
    if model.operation == nil, model.errand == nil, model.searchActions.isEmpty {
      return model.problems(isAtEnd: false)
    }
    return ["operations that fail are repeated for ever"]
  }

  /// One run to its end.
  private func run(seed: UInt64) -> Failure? {
    var schedule = SeededSchedule(seed: seed, seed % 2 == 0 ? .uniform : .priorities(changePoints: 6))
    var model = DocumentModel(scenario)
    var path: [DocumentModel.Action] = []
    while true {
      let actions = model.actions(scenario)
      let problems = model.problems(isAtEnd: actions.isEmpty) + problemsIfAllFails(model)
      if !problems.isEmpty { return Failure(problems: problems, actions: path) }
      if actions.isEmpty { return nil }
      let action = schedule.choose(actions, at: path.count) { $0.actor }
      path.append(action)
      model.act(action, scenario, mutant)
    }
  }
}
