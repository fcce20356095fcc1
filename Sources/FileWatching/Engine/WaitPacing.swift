internal import SystemInterface

/// How an engine goes on while the system doesn't let it wait: events are kept for it, and it takes them by the clock.
///
/// A process that has used up its descriptors or threads has some again later. The pauses begin short, for the shortage of a moment, and
/// double up to one that costs next to nothing.
struct WaitPacing {
  /// Why the last wait failed; `nil` if it didn't.
  private(set) var error: SystemError?
  private var lastPause: Duration?

  static let pauseMin = Duration.milliseconds(10)
  static let pauseMax = Duration.seconds(1)

  mutating func succeeded() { self = WaitPacing() }

  /// Takes note of a failure.
  ///
  /// - Returns: How long to pause before the next attempt; `nil` if waiting is of no use any more.
  mutating func failed(_ error: SystemError) -> Duration? {
    self.error = error
    guard error.isShortage else { return nil }
    let pause = lastPause.map { min($0 * 2, Self.pauseMax) } ?? Self.pauseMin
    lastPause = pause
    return pause
  }
}

extension SystemError {
  /// Whether the system had too little of something, perhaps not for long.
  fileprivate var isShortage: Bool {
    isOne(
      of: .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noBufferSpace, .resourceTemporarilyUnavailable,
      .noSpace)
  }
}
