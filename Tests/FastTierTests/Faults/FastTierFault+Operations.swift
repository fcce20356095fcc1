@testable import FileCoordination

// Mistakes in one operation: each says which, and what becomes of it.

extension FastTierFault {
  static let readers: [FastTierFault] = [
    // A reader's claim stays in its processor's store buffer while it looks for obstacles.
    FastTierFault("missingFence", .readerAndWriter) { $0.is(.exchange, in: .read) && $0.isOnSlot ? .unfenced : nil },
    // A reader doesn't look for writers of the tier.
    FastTierFault("writersIgnored", .readerAndWriter) {
      $0.is(.load, in: .read) && $0.place == .strongCounter ? .mistaken { _ in 0 } : nil
    },
    // A reader that found no obstacle doesn't see that its claim was refused meanwhile.
    FastTierFault("challengeIgnored", .lateLook) {
      $0.is(.load, in: .read) && $0.isOnOwnSlot
        ? .mistaken { SlotState($0).without(SlotState.isChallenged | SlotState.isFrozen).rawValue } : nil
    },
    // A reader that met an obstacle takes its claim back without looking whether somebody has frozen or adopted it.
    FastTierFault("retreatUnchecked", .readerTwoHostWriters) {
      $0.is(.compareExchange, in: .read) && $0.isOnSlot ? .unconditional : nil
    },
    // A reader that couldn't retreat takes its claim back although it was adopted.
    FastTierFault("adoptedTakenBack", .readerAndHostWriter) {
      $0.is(.load, in: .conclude) ? .mistaken { SlotState($0).without(SlotState.isAdopted).rawValue } : nil
    },
    // A holder ends its claim without looking whether somebody waits for it.
    FastTierFault("adoptionIgnored", .readerAndHostWriter) {
      $0.is(.compareExchange, in: .end) ? .unconditional : nil
    },
    // A thread that waits looks at the table of obstacles without showing that it does.
    FastTierFault("unshownLook", .patientReader) { $0.is(.exchange, in: .look) && $0.isOnSlot ? .leftOut : nil },
    // A look stays in its processor's store buffer while it lasts.
    FastTierFault("unfencedLook", .patientReader) {
      $0.is(.exchange, in: .look) && $0.next.has(SlotState.isLooking) && $0.isOnSlot ? .unfenced : nil
    },
    // A reader takes the writers' bias for nothing.
    FastTierFault("biasIgnored", .writerAfterWriter) {
      $0.is(.load, in: .read) && $0.place == .strongCounter ? .mistaken { $0 & ~StrongCounter.bias } : nil
    },
    // A reader takes the bias away although a writer has come.
    FastTierFault("biasTakenFromWriter", .writerAfterWriter) {
      $0.is(.compareExchange, in: .read) && $0.place == .strongCounter ? .unconditional : nil
    },
    // A shard that is used for the first time hides those with higher numbers that are in use already.
    FastTierFault("announcementOverwritten", .announcement) {
      $0.operation.kind == .compareExchange && $0.place == .shardCount ? .unconditional : nil
    },
  ]

  static let writers: [FastTierFault] = [
    // A writer doesn't look for readers.
    FastTierFault("readersIgnored", .readerAndWriter) {
      $0.is(.load, in: .write) && $0.isOnForeignSlot ? .mistaken { _ in 0 } : nil
    },
    // A writer's claim stays in its processor's store buffer while it looks for obstacles.
    FastTierFault("unfencedWrite", .writerAndHostReader) {
      $0.is(.exchange, in: .write) && $0.isOnSlot && $0.next.has(SlotState.isTentative) ? .unfenced : nil
    },
    // A writer takes its claim for granted although somebody has just looked past it.
    FastTierFault("unconfirmedWrite", .writerAndHostReader) {
      $0.is(.compareExchange, in: .write) && $0.isOnSlot ? .unconditional : nil
    },
    // A path remembers that nothing is above it as of a time after the look.
    FastTierFault("lateVersion", .remembered) {
      $0.is(.store, in: .write) && $0.place == .memo ? .storingWord(at: $0.places.version) : nil
    },
  ]

  static let adoption: [FastTierFault] = [
    // The adopter of a claim doesn't make sure that the claim still lasts.
    FastTierFault("adoptionUnchecked", .readerAndHostWriter) {
      $0.is(.compareExchange, in: .arbiterStep) && $0.isOnSlot && $0.next.has(SlotState.isFrozen) ? .unconditional : nil
    },
    // The challenger of a writer doesn't make sure that the writer hasn't confirmed its claim.
    FastTierFault("challengeUnchecked", .writerAndHostReader) {
      $0.is(.compareExchange, in: .arbiterStep) && $0.isOnSlot && $0.next.has(SlotState.isChallenged)
        ? .unconditional : nil
    },
    // A look at claims passes over writers that aren't confirmed.
    FastTierFault("tentativeIgnored", .writerAndHostReader) {
      $0.is(.load, in: .arbiterStep) && $0.isOnSlot
        ? .mistaken { state in
          let state = SlotState(state)
          return (state.has(SlotState.isTentative) ? state.without(SlotState.isPublished) : state).rawValue
        } : nil
    },
    // A reader isn't told that its claim was refused.
    FastTierFault("refusalUntold", .lateLook) {
      $0.is(.store, in: .arbiterStep) && $0.isOnSlot && $0.next.has(SlotState.isChallenged)
        ? .storing($0.next.without(SlotState.isChallenged).rawValue) : nil
    },
  ]

  static let interests: [FastTierFault] = [
    // An obstacle stays in its processor's store buffer while claims are looked at.
    FastTierFault("unfencedRaise", .readerAndHostWriter) {
      $0.is(.exchange, in: .arbiterStep) && $0.place == .interestCounts ? .unfenced : nil
    },
    // Nobody learns that there are obstacles to reading below an item.
    FastTierFault("uncountedRaise", .deepWriter) {
      $0.place == .readingBelowCount && $0.operation.kind == .add ? .leftOut : nil
    },
    // Paths that remember that nothing is above them aren't told of what is raised.
    FastTierFault("silentRaise", .remembered) {
      $0.place == .version && $0.operation.kind == .add ? .leftOut : nil
    },
    // They are told before it can be found.
    FastTierFault("earlyVersion", .rememberedAndRefused) {
      if $0.place == .version, $0.operation.kind == .add { return .leftOut }
      guard $0.is(.exchange, in: .arbiterStep), $0.place == .interestCounts else { return nil }
      return .after(Operation(kind: .add, address: $0.places.version, first: 1))
    },
  ]
}
