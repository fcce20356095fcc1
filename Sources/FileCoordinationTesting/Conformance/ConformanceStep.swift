internal import FileCoordination
internal import FoundationEssentials

/// One row of the message matrix, as something that is done to the presented file (C-411).
struct ConformanceStep: Sendable {
  let name: String
  let run: @Sendable (ConformanceTrial) async throws -> Void

  static let all: [ConformanceStep] =
    [declarations] + reads + writes
    + [preparation, uploading, versions, together, repeated, cancelled, move, eviction, deletion]
}

// MARK: - Before any access

extension ConformanceStep {
  private static let declarations = ConformanceStep(name: "registration") { trial in
    let presenter = trial.presenter
    let path = presenter.presentedItemURL?.path
    if path != trial.url.path {
      trial.findings.add(
        .wrongLocation, "the presenter was made for '\(trial.url.path)' and says '\(path ?? "nil")'.")
    }
    let isStable =
      presenter.presentedItemCallbacks == presenter.presentedItemCallbacks
      && presenter.presenterLabel == presenter.presenterLabel
      && presenter.servesWhileWaiting == presenter.servesWhileWaiting
    if !isStable {
      trial.findings.add(
        .unstableDeclaration, "callbacks, label or serving change from call to call; they're read when it registers.")
    }
  }
}

// MARK: - Single accesses

extension ConformanceStep {
  private static let reads =
    ([[], .withoutChanges, .immediatelyAvailableMetadataOnly] as [FileCoordinator.ReadingOptions])
    .map { options in
      ConformanceStep(name: options.isEmpty ? "read" : "read \(options)") { trial in
        let edit = try await trial.harness.edit?(trial.presenter)
        let saves = !options.contains(.withoutChanges)
        await trial.attempt {
          try await trial.coordinator.read(trial.url, options: options) { access in
            trial.expectReadable(access.url, containing: saves ? edit : nil)
          }
        }
      }
    }

  /// Writes that keep the item.
  ///
  /// A presenter that is asked to let it be replaced may refuse.
  private static let writes =
    ([[], .forMerging, .forMoving, .contentIndependentMetadataOnly, .forReplacing] as [FileCoordinator.WritingOptions])
    .map { options in
      ConformanceStep(name: options == .forUpdating ? "write" : "write [\(options)]") { trial in
        let edit = try await trial.harness.edit?(trial.presenter)
        await trial.attempt(mayBeRefused: options == .forReplacing) {
          try await trial.coordinator.write(trial.url, options: options) { access in
            if options == .forMerging { trial.expectReadable(access.url, containing: edit) }
            if options != .contentIndependentMetadataOnly { try trial.harness.contents.write(to: access.url) }
          }
        }
        // The presenter has to be reachable again after its messages.
        await trial.attempt { try await trial.coordinator.read(trial.url) { _ in } }
      }
    }

  private static let preparation = ConformanceStep(name: "prepare") { trial in
    let edit = try await trial.harness.edit?(trial.presenter)
    let coordinator = trial.coordinator
    await trial.attempt {
      try await coordinator.prepare(reading: [trial.url.deletingLastPathComponent()]) { _ in
        try await coordinator.read(trial.url, options: .withoutChanges) { access in
          trial.expectReadable(access.url, containing: edit)
        }
      }
    }
    await trial.attempt(mayBeRefused: true) {
      try await coordinator.prepare(writing: [trial.url], writingOptions: .forDeleting) { _ in }
    }
  }

  private static let uploading = ConformanceStep(name: "read [.forUploading]") { trial in
    let edit = try await trial.harness.edit?(trial.presenter)
    await trial.attempt {
      try await trial.coordinator.read(trial.url, options: .forUploading) { access in
        trial.expectReadable(access.url, containing: edit)
      }
    }
  }

  private static let versions = ConformanceStep(name: "versions and attributes") { trial in
    await trial.attempt {
      try await trial.coordinator.write(trial.url) { access in
        for change in [FileVersionChange.gained, .resolved, .lost] { access.didChangeVersion(change, version: "1") }
      }
      try await trial.coordinator.item(at: trial.url, didChangeUbiquityAttributes: ["ubiquitousItemIsUploaded"])
    }
  }
}

// MARK: - Several accesses

extension ConformanceStep {
  private static let together = ConformanceStep(name: "accesses at the same time") { trial in
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { await trial.attempt { try await trial.coordinator.read(trial.url) { _ in } } }
        group.addTask { await trial.attempt { try await trial.coordinator.write(trial.url) { _ in } } }
      }
    }
  }

  private static let repeated = ConformanceStep(name: "accesses one after the other") { trial in
    for _ in 0..<8 {
      await trial.attempt { try await trial.coordinator.write(trial.url, options: .forMerging) { _ in } }
    }
  }

  private static let cancelled = ConformanceStep(name: "cancelled access") { trial in
    let coordinator = trial.coordinator
    let isAsked = Task { await trial.isReached { snapshot in snapshot.presenters.contains { !$0.running.isEmpty } } }
    let access = Task {
      // A presenter that isn't asked, or has answered already, must not be waited for.
      defer { isAsked.cancel() }
      try await coordinator.write(trial.url, options: .forMerging) { _ in }
    }
    _ = await isAsked.value
    coordinator.cancel()
    _ = await access.result
    await trial.awaitIdleness()
    await trial.attempt { try await trial.coordinator.write(trial.url) { _ in } }
  }

  private static let move = ConformanceStep(name: "move") { trial in
    let (old, new) = (trial.url, trial.otherURL)
    await trial.attempt {
      try await trial.coordinator.write(old, options: .forMoving, and: new, secondOptions: .forReplacing) {
        try FileManager.default.moveItem(atPath: $0.url.path, toPath: $1.url.path)
        try $0.didMove(to: $1.url)
      }
    }
    await trial.awaitIdleness()
    let path = trial.presenter.presentedItemURL?.path
    if path != new.path {
      trial.findings.add(
        .lostAfterMove,
        "moved to '\(new.path)', the presenter says '\(path ?? "nil")'. Declare '.itemDidMove', and take the new URL.")
    }
    let edit = try await trial.harness.edit?(trial.presenter)
    await trial.attempt {
      try await trial.coordinator.read(new) { trial.expectReadable($0.url, containing: edit) }
    }
    await trial.awaitIdleness()
    if FileManager.default.fileExists(atPath: old.path) {
      trial.findings.add(.lostAfterMove, "after the move the presenter wrote to the old place '\(old.path)'.")
    }
  }

  /// A veto is as good an answer as agreeing, but it has to come.
  private static let eviction = ConformanceStep(name: "evict") { trial in
    await trial.attempt(mayBeRefused: true) { try await trial.coordinator.evict(trial.url) { _ in } }
  }

  private static let deletion = ConformanceStep(name: "delete") { trial in
    let isDeleted = await trial.attempt(mayBeRefused: true) {
      try await trial.coordinator.write(trial.url, options: .forDeleting) { access in
        try FileManager.default.removeItem(at: access.url)
        return true
      }
    }
    if isDeleted == nil { return }
    await trial.awaitIdleness()
    if FileManager.default.fileExists(atPath: trial.url.path) {
      trial.findings.add(
        .resurrectedItem, "the deleted file is there again. After 'accommodatePresentedItemDeletion', don't save.")
    }
    // Still registered or not: an access that makes the file anew must get an answer.
    await trial.attempt(mayBeRefused: true) {
      try await trial.coordinator.write(trial.url, options: .forReplacing) { access in
        try trial.harness.contents.write(to: access.url)
      }
    }
  }
}
