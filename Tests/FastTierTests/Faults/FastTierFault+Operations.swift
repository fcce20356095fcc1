@testable import FileCoordination

// Mistakes in one operation: each says which, and what becomes of it.

extension FastTierFault {
  static let readers: [FastTierFault] = [
    // A reader's claim stays in its processor's store buffer while it looks for obstacles.
    FastTierFault("missingFence", .readerAndWriter) { $0.is(.exchange, in: .read) && $0.isOnSlot ? .unfenced : nil },
    // A reader that found no obstacle doesn't see that its claim was refused meanwhile.
    FastTierFault("challengeIgnored", .lateLook) {
      $0.is(.load, in: .read) && $0.isOnOwnSlot
        ? .mistaken { SlotState($0).without(SlotState.isChallenged | SlotState.isFrozen).rawValue } : nil
    },
    // A reader that couldn't retreat takes its claim back although it was adopted.
    FastTierFault("adoptedTakenBack", .readerAndHostWriter) {
      $0.is(.load, in: .settle) ? .mistaken { SlotState($0).without(SlotState.isAdopted).rawValue } : nil
    },
    // A holder ends its claim without looking whether somebody waits for it.
    FastTierFault("adoptionIgnored", .readerAndHostWriter) {
      $0.is(.compareExchange, in: .end) ? .unconditional : nil
    },
    // A thread that waits looks at the table of obstacles without showing that it does.
    FastTierFault("unshownLook", .patientReader) { $0.is(.exchange, in: .look) && $0.isOnSlot ? .leftOut : nil },
  ]

  static let writers: [FastTierFault] = [
    // A writer doesn't look for readers.
    FastTierFault("readersIgnored", .readerAndWriter) {
      $0.is(.load, in: .write) && $0.isOnForeignSlot ? .mistaken { _ in 0 } : nil
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
    // Whoever adopts a claim doesn't make sure that it still lasts.
    FastTierFault("adoptionUnchecked", .readerAndHostWriter) {
      $0.is(.compareExchange, in: .adoptClaims) && $0.next.has(SlotState.isFrozen) ? .unconditional : nil
    },
    // Whoever looks at claims passes over writers that aren't confirmed.
    FastTierFault("tentativeIgnored", .writerAndHostReader) {
      $0.is(.load, in: .adoptClaims) && $0.isOnSlot
        ? .mistaken { state in
          let state = SlotState(state)
          return (state.has(SlotState.isTentative) ? state.without(SlotState.isPublished) : state).rawValue
        } : nil
    },
  ]

  static let table: [FastTierFault] = [
    // An obstacle stays in its processor's store buffer while claims are looked at.
    FastTierFault("unfencedRaise", .readerAndHostWriter) {
      $0.is(.exchange, in: .changeInterest) && $0.place == .interestCounts ? .unfenced : nil
    },
    // Paths that remember that nothing is above them aren't told of what is raised.
    FastTierFault("silentRaise", .remembered) {
      $0.place == .version && $0.operation.kind == .add ? .leftOut : nil
    },
  ]
}
