internal import FileAccessArbiter
internal import SystemInterface

/// The surroundings of some code: nothing, an accessor that claimed in the fast tier on this thread, or a ``Lineage``.
///
/// One word, so that a slot can keep it. It doesn't keep a lineage alive: the code that nests something in it does, or
/// runs inside of it.
@safe
struct Nesting: Hashable, Sendable {
  let word: UInt

  static let none = Nesting(word: 0)

  @inline(__always)
  init(word: UInt) { self.word = word }

  /// - Parameter slot: Where the claim is; its address is even.
  @inline(__always)
  init(claimIn slot: Int) { word = UInt(bitPattern: slot) | 1 }

  @inline(__always)
  init(_ lineage: Lineage) { word = unsafe UInt(bitPattern: Unmanaged.passUnretained(lineage).toOpaque()) }

  enum Element {
    /// The state word of the claim's slot, see ``ClaimNote``.
    case claim(slot: Int)
    case lineage(Lineage)
  }

  var element: Element? {
    if word == 0 { return nil }
    if word & 1 == 1 { return .claim(slot: Int(bitPattern: word & ~1)) }
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: word) else { return nil }
    return unsafe .lineage(Unmanaged<Lineage>.fromOpaque(pointer).takeUnretainedValue())
  }

  /// Its own surroundings, and the task it runs in.
  var surroundings: (outer: Nesting, task: UInt)? {
    switch element {
    case nil: nil
    case .claim(let slot):
      {
        let note = ClaimNote(at: slot, in: ProcessMemory())
        return (Nesting(word: note.outer), note.task)
      }()
    case .lineage(let lineage): (lineage.outer, lineage.task)
    }
  }

  /// How many accessors and callbacks this is, which all run.
  var depth: Int {
    switch element {
    case nil: 0
    case .claim(let slot): 1 + Nesting(word: ClaimNote(at: slot, in: ProcessMemory()).outer).depth
    case .lineage(let lineage): lineage.depth
    }
  }

  /// The surroundings of the running code.
  ///
  /// A thread remembers the accessor that it runs. A task remembers the accessor or callback that it runs, or that
  /// started it. The thread's counts if it's of this task: then it's the inner one, because such an accessor can't
  /// suspend.
  @inline(__always)
  static func current(_ thread: ThreadRecord, task: UInt) -> Nesting {
    let innermost = thread.innermost
    if innermost != 0, let inner = innerOne(Nesting(word: innermost), task) { return inner }
    // Outside of tasks nothing is task-local.
    if task == 0 { return .none }
    return taskLocal()
  }

  private static func innerOne(_ nesting: Nesting, _ task: UInt) -> Nesting? {
    nesting.surroundings?.task == task ? nesting : nil
  }

  private static func taskLocal() -> Nesting { Lineage.current.map(Nesting.init) ?? .none }
}

extension ThreadRecord {
  /// Runs `body` inside of something, as far as this thread is concerned.
  @inline(__always)
  func nested<Result>(in nesting: Nesting, _ body: () throws -> Result) rethrows -> Result {
    let outer = innermost
    innermost = nesting.word
    defer { innermost = outer }
    return try body()
  }
}
