#if !canImport(ObjectiveC)
  internal import Foundation
  internal import SystemInterface

  /// The activity of the main thread at a moment.
  enum MainThreadState: Equatable, Sendable {
    /// Its run loop runs: it runs every operation sooner or later, however busy it is.
    case runsLoop
    /// It computes, or waits for a disk: it may run its loop when it's done.
    case works
    /// It waits for something, outside of a run loop; or it has ended.
    case sleeps

    /// - Note: proc_pid_stat(5).
    static var current: MainThreadState {
      if RunLoop.main.currentMode != nil { return .runsLoop }
      let process = ProcessInfo.processInfo.processIdentifier
      let path = SystemPath("/proc/self/task/\(process)/stat")
      guard let bytes = try? HostFileSystem().contents(of: path) else { return .sleeps }
      return MainThreadState(stat: String(decoding: bytes, as: UTF8.self))
    }

    /// - Parameter stat: The contents of a thread's `stat`, in which the name of the thread may contain anything.
    init(stat: String) {
      let letter = stat.lastIndex(of: ")").flatMap { stat[$0...].dropFirst(2).first }
      self = letter == "R" || letter == "D" ? .works : .sleeps
    }
  }

  /// How long the main thread is waited for.
  ///
  /// A value that receives observations of it from time to time.
  struct MainThreadPatience {
    /// How many seconds it may sleep outside of a run loop, all in all, before it's taken for one that runs nothing.
    static let sleepMax: TimeInterval = 0.5
    /// How many seconds it may work before it runs its loop.
    static let workMax: TimeInterval = 30

    private var slept: TimeInterval = 0
    private var worked: TimeInterval = 0

    /// Whether there's no use in waiting.
    var isOver: Bool { slept >= Self.sleepMax || worked >= Self.workMax }

    /// It has been in a state for some seconds.
    mutating func note(_ state: MainThreadState, for seconds: TimeInterval) {
      switch state {
      case .runsLoop: self = MainThreadPatience()
      case .works: worked += seconds
      case .sleeps: slept += seconds
      }
    }
  }
#endif
