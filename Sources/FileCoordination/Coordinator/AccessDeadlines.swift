internal import FileAccessArbiter

/// How long the phases of an access may last.
///
/// Every wait is limited, unless a deadline of `nil` removes the limit.
public struct AccessDeadlines: Hashable, Sendable {
  /// The reaction to presenters that don't answer in time.
  public enum LateAnswers: Hashable, Sendable {
    /// The access fails with code ``FileCoordinationError/Code/presenterUnresponsive``.
    case fail
    /// The access goes on without the answers, and ``FileAccess/unansweredPresenters`` names the presenters that owed
    /// them.
    ///
    /// The file lacks the changes that such a presenter hasn't saved.
    case proceed
  }

  /// How long to wait for other accesses, from the request and, if a presenter's own access goes ahead while presenters
  /// are asked, again from then; `nil` waits for ever.
  ///
  /// When it's over, the access fails with code ``FileCoordinationError/Code/timedOut``. A blocking `prepare` waits as long for its
  /// completion handler, from when its body returned.
  public var waitingForAccesses: Duration?

  /// How long all presenters together may take to answer, from when they're asked; `nil` waits for ever.
  public var waitingForAnswers: Duration?

  /// The reaction when ``waitingForAnswers`` is over.
  public var lateAnswers: LateAnswers

  /// How long to wait for the answers of a presenter whose process is stopped, by `SIGSTOP`, a terminal or a debugger; `nil`
  /// waits for them like for others.
  ///
  /// When it's over, the access goes on without them, and ``FileAccess/unansweredPresenters`` names the presenters that
  /// owed them (C-187). The file lacks the changes that such a presenter hasn't saved. When the process runs again, the
  /// presenter is notified of everything that it missed.
  public var stoppedPresenters: Duration?

  /// How long to wait for the accesses of a stopped process before they're taken away; `nil`, unless said otherwise,
  /// never takes them.
  ///
  /// The process may be in the middle of its work on the files. When it runs again, its ``FileAccess/commit(_:)-ate1``
  /// fails with code ``FileCoordinationError/Code/accessLost``, it's granted nothing before it has learned of its lost
  /// accesses, and its presenters are notified that they may have missed changes. Writes that it makes without asking
  /// can't be prevented.
  public var stoppedHolders: Duration?

  /// Creates deadlines.
  ///
  /// - Parameters:
  ///   - waitingForAccesses: How long to wait for other accesses; five minutes unless said otherwise.
  ///   - waitingForAnswers: How long presenters may take to answer; one minute unless said otherwise.
  ///   - lateAnswers: The reaction to presenters that are late.
  ///   - stoppedPresenters: How long to wait for presenters of stopped processes; five seconds unless said otherwise.
  ///   - stoppedHolders: How long to wait for the accesses of stopped processes; as for others unless said otherwise.
  public init(
    waitingForAccesses: Duration? = .seconds(300), waitingForAnswers: Duration? = .seconds(60),
    lateAnswers: LateAnswers = .fail, stoppedPresenters: Duration? = .seconds(5), stoppedHolders: Duration? = nil
  ) {
    self.waitingForAccesses = waitingForAccesses
    self.waitingForAnswers = waitingForAnswers
    self.lateAnswers = lateAnswers
    self.stoppedPresenters = stoppedPresenters
    self.stoppedHolders = stoppedHolders
  }

  /// Five minutes for other accesses, one minute for presenters' answers.
  public static let standard = AccessDeadlines()

  /// Waits as long as it takes.
  ///
  /// Deadlocks are still found at once.
  public static let never = AccessDeadlines(
    waitingForAccesses: nil, waitingForAnswers: nil, stoppedPresenters: nil)

  /// The same time for both phases.
  ///
  /// - Parameter duration: How long each phase may last.
  /// - Returns: Deadlines that fail when presenters are late.
  public static func within(_ duration: Duration) -> AccessDeadlines {
    AccessDeadlines(waitingForAccesses: duration, waitingForAnswers: duration)
  }

  func limits(reporting: Duration?) -> AccessRequest.Limits {
    AccessRequest.Limits(
      waiting: waitingForAccesses?.nanoseconds, answering: waitingForAnswers?.nanoseconds,
      reporting: reporting.map { max($0, CoordinationDomain.Configuration.waitReportIntervalMin).nanoseconds },
      stoppedPresenters: stoppedPresenters?.nanoseconds, stoppedHolders: stoppedHolders?.nanoseconds)
  }
}

extension Duration {
  /// The length in nanoseconds, at least zero, and as long as 64 bits allow.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    if overflow || carried { return seconds < 0 ? 0 : .max }
    return max(0, sum)
  }

  /// For people: `1.5 s`, `250 ms`.
  var shortDescription: String {
    let nanoseconds = nanoseconds
    if nanoseconds >= 1_000_000_000 {
      let tenths = nanoseconds / 100_000_000
      return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
    if nanoseconds >= 1_000_000 { return "\(nanoseconds / 1_000_000) ms" }
    return "\(nanoseconds / 1000) µs"
  }
}
