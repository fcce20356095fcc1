import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// The errors about which a program was asked.
private final class Questions: Sendable {
  private let failures = Guarded<[DocumentFailure]>([])
  /// Open from the first one on.
  let isAsked = TestGate()
  var all: [DocumentFailure] { failures.withLock { $0 } }

  func note(_ failure: DocumentFailure) {
    failures.withLock { $0.append(failure) }
    isAsked.open()
  }
}

@Suite("Errors about which the program decides", .timeLimit(.minutes(8)))
struct ErrorHandlingTests {
  private static let policy = AutosavePolicy(idleTime: .seconds(2))

  private func open(
    _ fixture: Fixture, _ format: GatedFormat = GatedFormat(), handlesCalls: Bool = false,
    change: (inout DocumentOptions<String>) -> Void = { _ in }, _ decide: @escaping DocumentErrorHandler.Decide
  ) async throws -> FileDocument<String> {
    try await fixture.open("old", format, Self.policy) { options in
      options.errorHandler = DocumentErrorHandler(handlesCalls: handlesCalls, decide)
      change(&options)
    }
  }

  @Test("UD-20: An autosave that has failed is made again at once if the program has removed the cause")
  func retryingNow() async throws {
    try await withFixture { fixture in
      let (format, questions) = (GatedFormat(), Questions())
      let document = try await open(fixture, format) { failure in
        questions.note(failure)
        if failure.attempt == 3 { format.refusesWriting.add(-1) }
        return .retryNow
      }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "new" && document.state.conditions == .normal)
      let all = questions.all
      #expect(all.map(\.attempt) == [1, 2, 3])
      #expect(all.allSatisfy { $0.activity == .saving && $0.error.code == .unwritableContents && !$0.isCalled })
      #expect(all.allSatisfy { $0.url == fixture.file && $0.hasUnsavedChanges })
      try await document.close()
    }
  }

  @Test("UD-20: Attempts at once have a limit; then the state has the error")
  func limit() async throws {
    try await withFixture { fixture in
      let (format, questions) = (GatedFormat(), Questions())
      let document = try await open(fixture, format) { failure in
        questions.note(failure)
        return .retryNow
      }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.savingError != nil }
      #expect(questions.all.count == DocumentCore.retryCountMax + 1)
      // The timer goes on as ever.
      format.refusesWriting.add(-1)
      try await fixture.clock.waitForDeadline(within: .seconds(2))
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "new" && document.state.savingError == nil)
      try await document.close()
    }
  }

  @Test("UD-20: Without an error in the state, the next attempt comes at its usual time")
  func retryingLater() async throws {
    try await withFixture { fixture in
      let (format, questions) = (GatedFormat(), Questions())
      let document = try await open(fixture, format) { failure in
        questions.note(failure)
        return failure.attempt < 2 ? .retryLater : .present
      }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await fixture.clock.waitForDeadline(within: .seconds(2))
      #expect(document.state.conditions == .normal && questions.all.count == 1)
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.conditions == .savingError }
      #expect(questions.all.map(\.attempt) == [1, 2])
      format.refusesWriting.add(-1)
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("UD-20: Contents go elsewhere if the program has a place for them, and the document goes with them")
  func savingElsewhere() async throws {
    try await withFixture { fixture in
      let isWritable = Guarded(false)
      let document = try await open(
        fixture, change: { $0.autosaveCheck = { _ in if !isWritable.withLock({ $0 }) { throw CancellationError() } } }
      ) { failure in
        isWritable.withLock { $0 = true }
        return .saveElsewhere(failure.url.deletingLastPathComponent().appending(path: "kept.txt"), replacing: false)
      }
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.url.lastPathComponent == "kept.txt" && !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "old" && fixture.text(of: fixture.url("kept.txt")) == "new")
      try await document.edit { $0 = "newer" }
      try await document.close()
      #expect(try fixture.text(of: fixture.url("kept.txt")) == "newer")
    }
  }

  @Test("UD-20: A place that's taken is one more error of saving, and nothing is overwritten there")
  func takenPlace() async throws {
    try await withFixture { fixture in
      let questions = Questions()
      let document = try await open(
        fixture, change: { $0.autosaveCheck = { _ in throw CancellationError() } }
      ) { failure in
        questions.note(failure)
        return failure.attempt < 2 ? .saveElsewhere(fixture.url("taken.txt")) : .present
      }
      try fixture.write("taken", to: fixture.url("taken.txt"))
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.savingError?.code == .fileExists }
      #expect(questions.all.map(\.error.code) == [.autosaveRefused, .fileExists])
      #expect(try fixture.text(of: fixture.url("taken.txt")) == "taken" && document.url == fixture.file)
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("UD-20: The document stops saving by itself until the next edit; calls save all the same")
  func stopping() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await open(fixture, format) { _ in .stopSaving }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.savingError != nil }
      format.refusesWriting.add(-1)
      let count = format.writing.value
      fixture.clock.advance(by: .seconds(600))
      // A call's turn comes after everything that the timer has begun.
      try await document.rename(to: "b.txt")
      #expect(format.writing.value == count && document.hasUnsavedChanges)
      try await document.edit { $0 = "newer" }
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text(of: fixture.url("b.txt")) == "newer")
      try await document.close()
    }
  }

  @Test("UD-20: A reader waits for the decision, and gets the text that's saved after it")
  func readers() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await open(fixture, format) { _ in
        format.refusesWriting.add(-1)
        return .retryNow
      }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      #expect(try await fixture.other.contents(of: fixture.file) == Data("new".utf8))
      try await document.close()
    }
  }

  @Test("UD-20: Errors of calls come to the program only if it wants them; the call waits for the decision then")
  func calls() async throws {
    for handlesCalls in [false, true] {
      try await withFixture { fixture in
        let (format, questions) = (GatedFormat(), Questions())
        let document = try await open(fixture, format, handlesCalls: handlesCalls) { failure in
          questions.note(failure)
          format.refusesWriting.add(-1)
          return .retryNow
        }
        format.refusesWriting.add(1)
        try await document.edit { $0 = "new" }
        if handlesCalls {
          try await document.save()
          #expect(questions.all.map(\.isCalled) == [true])
          await #expect(throws: DocumentError.self) { try await document.move(to: fixture.url("missing/b.txt")) }
          #expect(questions.all.count == 1 + DocumentCore.retryCountMax + 1 && questions.all.last?.activity == .moving)
        } else {
          await #expect(throws: DocumentError.self) { try await document.save() }
          #expect(questions.all.isEmpty)
          format.refusesWriting.add(-1)
        }
        try await document.close()
        #expect(try fixture.text() == "new")
      }
    }
  }

  @Test("UD-20: A program that doesn't answer has decided nothing; its call can be cancelled, and edits go on")
  func silence() async throws {
    try await withFixture { fixture in
      let (format, gate) = (GatedFormat(), TestGate())
      let document = try await open(fixture, format, handlesCalls: true) { _ in
        try? await gate.pass()
        return .retryNow
      }
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      let saving = Task { try await document.save() }
      try await gate.waitForArrival()
      try await document.edit { $0 += "er" }
      saving.cancel()
      await #expect { try await saving.value } throws: { ($0 as? DocumentError)?.code == .cancelled }
      fixture.clock.advance(by: .seconds(30))
      try await document.waitUntil { $0.state.savingError?.code == .unwritableContents }
      format.refusesWriting.add(-1)
      gate.open()
      try await document.close()
      #expect(try fixture.text() == "newer")
    }
  }

  @Test("UD-20: Errors of reloading and merging come to the program as well")
  func others() async throws {
    try await withFixture { fixture in
      let questions = Questions()
      let document = try await open(
        fixture,
        change: { $0.merge = { _ in throw CancellationError() } }
      ) { failure in
        questions.note(failure)
        return failure.activity == .reloading ? .retryLater : .present
      }
      // Nothing is unsaved, so unreadable contents are an error of reloading.
      try await fixture.other.replaceContents(of: fixture.file, with: Data([0xff]))
      try await questions.isAsked.pass()
      try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
      try await document.waitForContents("theirs")
      #expect(document.state.readingError == nil)
      try await document.edit { $0 = "mine" }
      try fixture.write("theirs again")
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(questions.all.first?.activity == .reloading && questions.all.last?.activity == .merging)
      #expect(try fixture.text() == "mine")
      #expect(try await fixture.versionTexts().contains("theirs again"))
      try await document.close()
    }
  }

  @Test("UD-20: A file that can't be read is read again after a pause, also if it doesn't change any more")
  func readingAgain() async throws {
    try await withFixture { fixture in
      let (format, questions) = (GatedFormat(), Questions())
      let document = try await open(fixture, format) { failure in
        questions.note(failure)
        return .retryLater
      }
      format.refusesReading.add(1)
      try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
      try await questions.isAsked.pass()
      // The file may be read twice because of the change, so that the pause is the second one. The limit of the program's code is longer.
      try await fixture.clock.waitForDeadline(within: .seconds(2))
      #expect(document.state.conditions.subtracting(.editingDisabled) == .normal)
      #expect(questions.all.first?.activity == .reloading)
      format.refusesReading.add(-1)
      fixture.clock.advance(by: .seconds(2))
      try await document.waitForContents("theirs")
      try await document.close()
    }
  }

  @Test("UD-20: The pauses until a file is read again grow from a second to 64, and begin anew after a success")
  func readingPauses() {
    var core = DocumentCore(autosave: .never, hasMerge: false)
    core.consultations = .uncalled
    _ = core.receive(.called(CallID(1), .open), at: .zero)
    _ = core.receive(.completed(.doneWithoutVersions), at: .zero)
    func pauses(_ count: Int) -> [Duration] {
      var (now, pauses) = (MonotonicTime.zero, [Duration]())
      _ = core.receive(.itemChanged, at: now)
      for _ in 0..<count {
        _ = core.receive(.completed(.failed(DocumentError(.coordination, "failed"))), at: now)
        for case .armReadingTimer(let time) in core.receive(.errandEnded(.decided(.retryLater)), at: now) {
          pauses.append(now.duration(to: time))
          now = time
        }
        _ = core.receive(.readingTimerFired, at: now)
      }
      return pauses
    }
    #expect(pauses(9) == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { .seconds($0) })
    _ = core.receive(.completed(.unchanged), at: .zero)
    #expect(pauses(2) == [1, 2].map { .seconds($0) })
    #expect(core.problems == [])
  }

  @Test("UD-20: Errors of the crash journal come to the program, which may have it written again at once")
  func journal() async throws {
    let isFull = Guarded(false)
    let files = ScriptedFileSystem { call in
      call.call == .write && isFull.withLock { $0 } ? .fail(SystemError.Number.noSpace.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      let questions = Questions()
      let document = try await open(
        fixture,
        change: { options in
          options.autosave = .never
          options.crashJournal = .directory(fixture.url("journals"))
        }
      ) { failure in
        questions.note(failure)
        if failure.attempt == 2 { isFull.withLock { $0 = false } }
        return .retryNow
      }
      isFull.withLock { $0 = true }
      try await document.edit { $0 = "new" }
      fixture.clock.advance(by: .seconds(1))
      try await document.waitUntil { _ in questions.all.count >= 1 }
      try await document.waitUntil { !$0.state.conditions.contains(.journalError) && questions.all.count == 2 }
      #expect(questions.all.map(\.activity) == [.journaling, .journaling])
      #expect(questions.all.map(\.attempt) == [1, 2])
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }
}
