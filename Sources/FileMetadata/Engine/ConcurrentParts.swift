internal import SystemInterface

/// The parts of a computation, each of which has been done on some thread.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `parts` | its lock | each thread leaves its result |
struct ConcurrentParts<Result: Sendable> {
  /// By the number of the part.
  let results: [Result]

  /// Computes all parts, the first one on the calling thread, which waits for the others.
  ///
  /// - Parameters:
  ///   - count: How many parts there are, at least 1.
  ///   - body: Computes one.
  init(_ count: Int, _ body: @escaping @Sendable (Int) -> Result) {
    if count == 1 {
      results = [body(0)]
      return
    }
    let parts = Guarded<[Int: Result]>([:])
    let ends = (0..<count).map { _ in ThreadEvent() }
    let compute = { @Sendable (part: Int) in
      let result = body(part)
      parts.withLock { $0[part] = result }
      ends[part].signal()
    }
    for part in 1..<count where HostThread.tryStart(name: "file-searching", { compute(part) }) != 0 { compute(part) }
    compute(0)
    for end in ends { end.wait() }
    results = parts.withLock { parts in (0..<count).compactMap { parts[$0] } }
  }
}
