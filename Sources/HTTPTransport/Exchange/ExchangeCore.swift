package import SystemInterface

/// One request and its response, as a value: it keeps the pieces that arrive, hands them to the reader, and says when time is up.
///
/// A producer, which is a transport, reports what arrives. A reader takes it. The result of each event says what the producer has to do.
package struct ExchangeCore: Sendable {
  /// An order to the producer.
  package enum Order: Hashable, Sendable {
    /// Deliver again: there's room.
    case resume
    /// End the transfer: nobody reads any more.
    case stop
  }

  /// The answer to the reader.
  package enum Outcome: Hashable, Sendable {
    /// Nothing yet.
    case wait
    /// The head; each time it's asked for.
    case head(HTTPHead)
    /// The next piece of the body.
    case piece([UInt8])
    /// Nothing more.
    case end
    /// The failure.
    case failed(HTTPTransportError)
  }

  private enum Phase: Sendable {
    /// The request is on its way; ends with the head, a failure or the time.
    case asking
    /// The head was there and the body arrives; ends with its end, a failure or the time.
    case answering
    /// The producer delivers no more, and owes the reader what is buffered and then this; final.
    case ended(HTTPTransportError?)
  }

  private var phase = Phase.asking
  private var head: HTTPHead?
  /// From `first` on; those before were taken.
  private var pieces: [[UInt8]] = []
  private var first = 0
  private var isPaused = false
  private var lastArrival: MonotonicTime
  private let start: MonotonicTime
  private let limits: HTTPLimits
  private let name: String

  /// How many bytes wait for the reader.
  package private(set) var bufferedByteCount = 0

  /// Begins an exchange.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - now: The time of the call.
  package init(_ request: HTTPRequest, at now: MonotonicTime) {
    limits = request.limits
    name = "\(request.method) \(request.url)"
    start = now
    lastArrival = now
  }

  /// Whether the producer has nothing to do any more.
  package var isEnded: Bool {
    if case .ended = phase { true } else { false }
  }

  /// When ``timePassed(at:)`` has to be called at the latest; `nil` for never.
  package var deadline: MonotonicTime? { expiry?.time }

  private var expiry: (time: MonotonicTime, reason: String)? {
    var candidates: [(time: MonotonicTime, reason: String)] = []
    if let whole = limits.whole { candidates.append((start.advanced(by: whole), "it wasn't over after \(whole)")) }
    switch phase {
    case .asking: candidates.append((start.advanced(by: limits.head), "no answer came within \(limits.head)"))
    case .answering:
      if let silence = limits.silence, !isPaused {
        candidates.append((lastArrival.advanced(by: silence), "the server was silent for \(silence)"))
      }
    case .ended: return nil
    }
    return candidates.min { $0.time < $1.time }
  }
}

// MARK: - The producer's events

extension ExchangeCore {
  /// The head has arrived.
  package mutating func headArrived(_ head: HTTPHead, at now: MonotonicTime) {
    guard case .asking = phase else { return }
    phase = .answering
    self.head = head
    lastArrival = now
  }

  /// A piece has arrived.
  ///
  /// - Returns: Whether it was taken. If not, the producer keeps it and delivers it again after the order `resume`, or stops if
  ///   ``isEnded``.
  package mutating func pieceArrived(_ piece: [UInt8], at now: MonotonicTime) -> Bool {
    guard case .answering = phase else { return false }
    if bufferedByteCount > 0, bufferedByteCount + piece.count > limits.bufferedByteCount {
      isPaused = true
      return false
    }
    lastArrival = now
    if !piece.isEmpty {
      pieces.append(piece)
      bufferedByteCount += piece.count
    }
    return true
  }

  /// The transfer has ended.
  ///
  /// - Parameter failure: The reason, if it isn't complete.
  package mutating func ended(_ failure: HTTPTransportError?) {
    switch phase {
    case .asking:
      phase = .ended(failure ?? HTTPTransportError(.invalidResponse, "\(name) failed: the server sent no head"))
    case .answering: phase = .ended(failure)
    case .ended: break
    }
  }
}

// MARK: - The reader's events, and time

extension ExchangeCore {
  /// The reader has lost interest: the exchange ends at once and the pieces are dropped.
  package mutating func cancelled() -> Order? {
    pieces = []
    first = 0
    bufferedByteCount = 0
    if isEnded {
      // The reader gets an error in place of the dropped pieces, never a short body.
      if case .ended(nil) = phase { phase = .ended(cancellation) }
      return nil
    }
    phase = .ended(cancellation)
    return .stop
  }

  private var cancellation: HTTPTransportError { HTTPTransportError(.cancelled, "\(name) was cancelled") }

  /// A time has come, perhaps too early.
  package mutating func timePassed(at now: MonotonicTime) -> Order? {
    guard let expiry, expiry.time <= now else { return nil }
    phase = .ended(HTTPTransportError(.timedOut, "\(name) failed: \(expiry.reason)"))
    return .stop
  }

  /// The head, if it's there.
  package var awaitedHead: Outcome {
    if let head { return .head(head) }
    if case .ended(let failure?) = phase { return .failed(failure) }
    return .wait
  }

  /// Takes the next piece, if there's one.
  package mutating func takePiece(at now: MonotonicTime) -> (Outcome, Order?) {
    guard first < pieces.count else {
      switch phase {
      case .asking, .answering: return (.wait, nil)
      case .ended(let failure?): return (.failed(failure), nil)
      case .ended(nil): return (.end, nil)
      }
    }
    let piece = pieces[first]
    pieces[first] = []
    first += 1
    if first == pieces.count {
      pieces.removeAll(keepingCapacity: true)
      first = 0
    }
    bufferedByteCount -= piece.count
    guard isPaused, bufferedByteCount <= limits.bufferedByteCount / 2, !isEnded else { return (.piece(piece), nil) }
    isPaused = false
    lastArrival = now
    return (.piece(piece), .resume)
  }
}
