import HTTPTransport
import SeededRandom
import SystemInterface
import Testing

/// Times and events without a transport.
@Suite("Exchanges as values")
struct ExchangeCoreTests {
  private static func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  private static let request = HTTPRequest(
    "GET", "http://h/",
    limits: HTTPLimits(head: .seconds(2), whole: .seconds(9), silence: .seconds(1), bufferedByteCount: 10))

  @Test("without a head the exchange ends at the limit of the head, not before")
  func headLimit() {
    var core = ExchangeCore(Self.request, at: Self.time(5))
    #expect(core.deadline == Self.time(2005))
    #expect(core.timePassed(at: Self.time(2004)) == nil)
    #expect(core.timePassed(at: Self.time(2005)) == .stop)
    guard case .failed(let error) = core.awaitedHead else { return #expect(Bool(false), "no failure") }
    #expect(error.code == .timedOut && !error.isUnsent)
    #expect(core.deadline == nil)
  }

  @Test("silence counts from the last piece, and not while the reader leaves no room")
  func silenceLimit() {
    var core = ExchangeCore(Self.request, at: Self.time(0))
    core.headArrived(HTTPHead(status: 200), at: Self.time(100))
    #expect(core.deadline == Self.time(1100))
    #expect(core.pieceArrived([1, 2, 3, 4, 5, 6, 7, 8], at: Self.time(900)) == true)
    #expect(core.deadline == Self.time(1900))
    #expect(core.pieceArrived([1, 2, 3], at: Self.time(1000)) == false)
    #expect(core.deadline == Self.time(9000))
    let (outcome, order) = core.takePiece(at: Self.time(5000))
    #expect(outcome == .piece([1, 2, 3, 4, 5, 6, 7, 8]) && order == .resume)
    #expect(core.deadline == Self.time(6000))
    #expect(core.timePassed(at: Self.time(6000)) == .stop)
  }

  @Test("a piece larger than all room is taken when nothing else waits")
  func largePiece() {
    var core = ExchangeCore(Self.request, at: Self.time(0))
    core.headArrived(HTTPHead(status: 200), at: Self.time(0))
    let large = [UInt8](repeating: 7, count: 100)
    #expect(core.pieceArrived(large, at: Self.time(0)) == true)
    #expect(core.pieceArrived([1], at: Self.time(0)) == false)
    #expect(core.takePiece(at: Self.time(0)) == (.piece(large), .resume))
    #expect(core.pieceArrived([1], at: Self.time(0)) == true)
  }

  @Test(
    "the reader gets exactly the pieces that were taken, then the end or the failure, for random events",
    arguments: Budget.seeds(normal: 300, long: 20_000))
  func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var core = ExchangeCore(Self.request, at: Self.time(0))
    core.headArrived(HTTPHead(status: 200), at: Self.time(0))
    var (sent, read): ([UInt8], [UInt8]) = ([], [])
    var isPaused = false
    for index in 0..<60 {
      if random.chance(1, in: 2), !isPaused {
        let piece = (0..<random.below(6)).map { UInt8(truncatingIfNeeded: index &+ $0) }
        if core.pieceArrived(piece, at: Self.time(0)) { sent += piece } else { isPaused = true }
      } else {
        let (outcome, order) = core.takePiece(at: Self.time(0))
        if case .piece(let piece) = outcome { read += piece }
        if order == .resume {
          #expect(isPaused)
          isPaused = false
        }
        // Nobody waits for ever: where nothing is left to read, the producer may deliver.
        if outcome == .wait { #expect(!isPaused) }
      }
      #expect(core.bufferedByteCount == sent.count - read.count)
      #expect(core.bufferedByteCount <= 10)
    }
    let failure = random.chance(1, in: 2) ? HTTPTransportError(.connectionLost, "cut") : nil
    core.ended(failure)
    var last = core.takePiece(at: Self.time(0)).0
    while case .piece(let piece) = last {
      read += piece
      last = core.takePiece(at: Self.time(0)).0
    }
    #expect(read == sent)
    #expect(last == failure.map(ExchangeCore.Outcome.failed) ?? .end)
  }

  @Test("heads of preliminary responses are skipped, and lines after the head are none of it")
  func heads() {
    var parser = HeadParser()
    for line in ["HTTP/1.1 103 Early\r\n", "A: 1\r\n", "\r\n", "HTTP/1.1 204\r\n", "B:  2 \r\n", "no header\r\n"] {
      #expect(parser.take(Array(line.utf8)) == .more)
    }
    #expect(parser.take([13, 10]) == .head(HTTPHead(status: 204, headers: [HTTPHeader("B", "2")])))
    #expect(parser.take(Array("Trailer: 1\r\n".utf8)) == .more)
  }

  @Test(
    "a line that isn't HTTP begins no head",
    arguments: ["", "ICY 200 OK", "HTTP/1.1", "HTTP/1.1 2x0", "HTTP/1.1 -20", "HTTP/2 99999"])
  func malformed(line: String) {
    var parser = HeadParser()
    #expect(parser.take(Array(line.utf8)) == .malformed)
  }

  @Test("heads have a limit")
  func longHead() {
    var parser = HeadParser()
    #expect(parser.take(Array("HTTP/1.1 200\r\n".utf8)) == .more)
    #expect(parser.take([UInt8](repeating: 65, count: HeadParser.byteCountMax - 14)) == .more)
    #expect(parser.take([65]) == .malformed)
  }

  @Test(
    "a request that would end its line is refused",
    arguments: [
      HTTPRequest("GE T", "http://h/"), HTTPRequest("", "http://h/"), HTTPRequest("GET", "file:///etc/passwd"),
      HTTPRequest("GET", "http://h/ x"), HTTPRequest("GET", "http://h/\r\nA: 1"),
      HTTPRequest("GET", "http://h/", headers: [HTTPHeader("A", "1\r\nB: 2")]),
      HTTPRequest("GET", "http://h/", headers: [HTTPHeader("A:", "1")]),
      HTTPRequest("GET", "http://h/", socketPath: "a\0b"),
    ])
  func flaws(request: HTTPRequest) {
    #expect(request.flaw != nil)
  }

  @Test(
    "servers on this computer are recognised by their address",
    arguments: [
      ("http://127.0.0.1:1/", true), ("https://LOCALHOST", true), ("http://a.localhost:80?b", true),
      ("http://[::1]:2/", true),
      ("http://u@127.1/", true), ("http://127.0.0.1.example.com/", false), ("http://localhost.example.com", false),
      ("http://localhost@example.com/", false), ("http://[::2]/", false),
    ])
  func local(url: String, isLocal: Bool) {
    #expect(HTTPRequest("GET", url).isLocal == isLocal)
    #expect(HTTPRequest("GET", url, socketPath: "/s").isLocal)
  }
}
