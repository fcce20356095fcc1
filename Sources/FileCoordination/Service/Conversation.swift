internal import CoordinationService
internal import Synchronization
internal import SystemInterface

/// The messages of one service.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all but `stream` | the ``ReadingTurn``: the thread that has taken the conversation out of it | reading may block, which no thread does under a lock |
///
/// `@unchecked Sendable` because of that: it passes from thread to thread, and only one has it.
final class Conversation: @unchecked Sendable {
  let stream: LocalStream
  /// The reason why the service is of no use, for people, given its place.
  private(set) var refusal: ((MeetingPlace) -> FileCoordinationError)?
  /// The service has accepted this process.
  private(set) var isWelcome = false
  /// Nothing more comes.
  private(set) var isOver = false
  /// A message to a presenter has come.
  private(set) var hasDelivered = false
  private var decoder = FrameDecoder<ServerFrame>()
  private var watchfulness = Watchfulness()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ stream: LocalStream) {
    self.stream = stream
    // Without it a thread that reads sees its answer only when something comes, also an answer that another thread
    // gave.
    try? stream.limitWaiting(to: .milliseconds(200))
  }

  /// Sends the identity of this process.
  func introduce(_ link: ServiceLink) throws(SystemError) {
    let process = ProcessIdentity.current
    let hello = Hello(
      session: link.session, processIdentifier: process.pid, processStartTime: process.startTime,
      processName: HostProcess.name.fitting(255), packageExtensions: link.packageExtensions,
      previousEpoch: link.epoch, outerAccess: link.outerAccess)
    var bytes: [UInt8] = []
    ServiceLink.append(.hello(hello), to: &bytes)
    // A fresh socket takes in so few bytes at once.
    _ = try unsafe stream.write(bytes.span.bytes)
  }

  /// Takes in the bytes that have arrived; if it `waits`, it blocks until some have.
  ///
  /// Perhaps not all of it: the watcher of the stream is notified again that there's more.
  func read(for link: ServiceLink, waits: Bool = false) {
    guard !isOver else { return }
    switch waits ? awaitBytes(link.clock) : receive() {
    case .wouldBlock: return
    case .end: return isOver = true
    case .bytes(let count): unsafe decoder.append(buffer.span.extracting(first: count).bytes)
    }
    var frames: [ServerFrame] = []
    do throws(WireError) {
      while let frame = try decoder.next() { frames.append(frame) }
    } catch {
      let reason = "\(error)"
      refusal = { .foreignFrames($0, reason) }
      return isOver = true
    }
    take(frames, for: link)
  }

  private func awaitBytes(_ clock: DomainClock) -> LocalStream.ReadResult {
    watchfulness.await(by: clock) {
      let result = receive()
      return result == .wouldBlock ? nil : result
    } orSleep: {
      receive(waits: true)
    }
  }

  private func receive(waits: Bool = false) -> LocalStream.ReadResult {
    // A connection that breaks is no error: the next service is searched for.
    unsafe buffer.withUnsafeMutableBytes { bytes in
      (try? unsafe waits ? stream.readWaiting(into: bytes) : stream.read(into: bytes)) ?? .end
    }
  }

  private func take(_ frames: [ServerFrame], for link: ServiceLink) {
    var rest = frames[...]
    while let frame = rest.first {
      switch frame {
      case .welcome(let welcome):
        isWelcome = true
        link.begin(welcome, stream)
      case .refused(let reason, let explanation):
        refusal = { .refused($0, reason, explanation) }
        return isOver = true
      default:
        // All frames after the welcome are the host's, at once. Frames that an expelled process finds in its socket are
        // of no worth any more, a grant least of all.
        guard let host = link.host, !host.coverage.isExpelled else { return isOver = true }
        if !hasDelivered { hasDelivered = rest.contains(where: \.isDelivery) }
        return host.take(rest)
      }
      rest = rest.dropFirst()
    }
  }
}

extension ServerFrame {
  fileprivate var isDelivery: Bool { if case .delivered = self { true } else { false } }
}
