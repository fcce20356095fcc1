internal import CCurlShims
internal import SystemInterface

/// The thread on which libcurl runs, and the orders to it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `inbox` | its lock | any thread gives orders; the loop takes all of them at once |
/// | `inbox.multi` | its lock | curl_multi_wakeup(3) may run beside the loop, but not after curl_multi_cleanup(3) |
/// | `transfers` of ``run(_:)`` | only the thread of the loop | libcurl isn't safe on several threads |
@safe final class CurlLoop: Sendable {
  struct Submission: Sendable {
    let number: UInt64
    let request: HTTPRequest
    let exchange: Exchange
  }

  private enum Command: Sendable {
    case start(Submission)
    case resume(UInt64)
    case stop(UInt64)
  }

  private enum Phase: Sendable {
    /// No thread yet; the first order starts it.
    case idle
    /// The thread runs.
    case running
    /// The thread ends when it comes here; no order is taken any more.
    case ending
  }

  /// `@unchecked Sendable` for the address, which libcurl's functions take on any thread that its documentation names.
  @safe private struct Inbox: @unchecked Sendable {
    var phase = Phase.idle
    var commands: [Command] = []
    var lastNumber: UInt64 = 0
    var multi: UnsafeMutableRawPointer?
  }

  private let inbox = Guarded(Inbox())
  private let library: CurlLibrary
  private let options: CurlTransport.Options

  /// Occurs when the thread has let go of everything.
  let ended = ThreadEvent()

  init(_ library: CurlLibrary, _ options: CurlTransport.Options) {
    self.library = library
    self.options = options
  }

  /// Ends all exchanges and the thread; later orders fail.
  func shutDown() {
    let hasThread = inbox.withLock { inbox -> Bool in
      let hasThread = inbox.phase == .running
      inbox.phase = .ending
      wake(inbox)
      return hasThread
    }
    if !hasThread { ended.signal() }
  }

  private func wake(_ inbox: Inbox) {
    if let multi = unsafe inbox.multi { unsafe _ = library.functions.pointee.multi_wakeup?(multi) }
  }
}

// MARK: - Orders

extension CurlLoop {
  /// Starts a transfer.
  func start(_ request: HTTPRequest, clock: any CoordinationClock) -> Exchange {
    let number = inbox.withLock { inbox -> UInt64 in
      inbox.lastNumber += 1
      return inbox.lastNumber
    }
    let exchange = Exchange(request, clock: clock) { [weak self] order in
      self?.send(order == .resume ? .resume(number) : .stop(number))
    }
    send(.start(Submission(number: number, request: request, exchange: exchange)))
    return exchange
  }

  private func send(_ command: Command) {
    let (isTaken, startsThread) = inbox.withLock { inbox -> (Bool, Bool) in
      switch inbox.phase {
      case .idle:
        inbox.phase = .running
        inbox.commands.append(command)
        return (true, true)
      case .running:
        inbox.commands.append(command)
        wake(inbox)
        return (true, false)
      case .ending: return (false, false)
      }
    }
    if !isTaken, case .start(let submission) = command { submission.exchange.end(Self.shutDown) }
    if startsThread { startThread() }
  }

  private static let shutDown = HTTPTransportError(.shutDown, "the transport was shut down", isUnsent: true)

  private func startThread() {
    let code = HostThread.tryStart(name: "file-coord-http") { [self] in run() }
    if code != 0 { fail(SystemError(call: "pthread_create(3)", errno: code).description) }
  }

  /// Ends what was asked for; the next order tries again.
  private func fail(_ reason: String) {
    let commands = inbox.withLock { inbox -> [Command] in
      if inbox.phase == .running { inbox.phase = .idle }
      defer { inbox.commands = [] }
      return inbox.commands
    }
    for case .start(let submission) in commands {
      submission.exchange.end(HTTPTransportError(.exhausted, reason, isUnsent: true))
    }
  }
}

// MARK: - The thread

extension CurlLoop {
  private func run() {
    guard let multi = unsafe library.functions.pointee.multi_init?() else {
      fail("curl_multi_init(3) failed: there's no memory or no descriptor")
      return
    }
    // The address moves between the lock and this thread, which frees it.
    inbox.withLock { inbox in unsafe inbox.multi = unsafe multi }
    var transfers: [UInt64: CurlTransfer] = [:]
    while let commands = nextCommands() {
      for command in commands { unsafe carryOut(command, &transfers, multi) }
      unsafe perform(&transfers, multi)
    }
    for number in transfers.keys { unsafe finish(number, &transfers, multi, Self.cutByShutDown) }
    let left = inbox.withLock { inbox -> [Command] in
      unsafe inbox.multi = nil
      defer { inbox.commands = [] }
      return inbox.commands
    }
    for case .start(let submission) in left { submission.exchange.end(Self.shutDown) }
    unsafe _ = library.functions.pointee.multi_cleanup?(multi)
    ended.signal()
  }

  private static let cutByShutDown = HTTPTransportError(.shutDown, "the transport was shut down during the exchange")

  /// The orders since the last call; `nil` when the loop shall end.
  private func nextCommands() -> [Command]? {
    inbox.withLock { inbox -> [Command]? in
      if inbox.phase == .ending { return nil }
      defer { inbox.commands = [] }
      return inbox.commands
    }
  }

  private func carryOut(
    _ command: Command, _ transfers: inout [UInt64: CurlTransfer], _ multi: UnsafeMutableRawPointer
  ) {
    switch command {
    case .start(let submission):
      if submission.exchange.isEnded { return }
      guard let transfer = CurlTransfer(submission, library, options),
        unsafe library.functions.pointee.multi_add_handle?(multi, transfer.easy) == 0
      else {
        submission.exchange.end(HTTPTransportError(.exhausted, "curl_multi_add_handle(3) failed", isUnsent: true))
        return
      }
      transfers[submission.number] = transfer
    case .resume(let number): transfers[number]?.resume()
    case .stop(let number): unsafe finish(number, &transfers, multi, nil)
    }
  }

  /// Lets libcurl go of a transfer, which closes its connection unless the response was complete.
  private func finish(
    _ number: UInt64, _ transfers: inout [UInt64: CurlTransfer], _ multi: UnsafeMutableRawPointer,
    _ failure: HTTPTransportError?
  ) {
    guard let transfer = transfers.removeValue(forKey: number) else { return }
    unsafe _ = library.functions.pointee.multi_remove_handle?(multi, transfer.easy)
    transfer.exchange.end(failure)
  }

  /// Sends and receives what's ready, and waits for more, or for an order.
  private func perform(_ transfers: inout [UInt64: CurlTransfer], _ multi: UnsafeMutableRawPointer) {
    var count: Int32 = 0
    unsafe _ = library.functions.pointee.multi_perform?(multi, &count)
    while let message = unsafe library.functions.pointee.multi_info_read?(multi, &count) {
      // CURLMSG_DONE is the only kind.
      let result = unsafe message.pointee.data.result
      guard let easy = unsafe message.pointee.easy,
        let context = unsafe shim_curl_pointer(library.functions, easy, Int32(shim_curl_info_private))
      else { continue }
      let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      unsafe finish(transfer.number, &transfers, multi, transfer.failure(of: result, library))
    }
    // Returns earlier for a descriptor, a time of libcurl's own, or curl_multi_wakeup(3), also one before the call.
    unsafe _ = library.functions.pointee.multi_poll?(multi, nil, 0, 60_000, &count)
  }
}
