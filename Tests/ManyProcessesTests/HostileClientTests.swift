import CoordinationService
import CoordinationWorker
import FileAccessArbiter
import FileCoordination
import Foundation
import SeededRandom
import SystemInterface
import TestSupport
import Testing

/// Clients that send nonsense, too much or nothing, beside one that's honest: it goes on meanwhile and afterwards.
@Suite("Nobody's malice or mistake harms anybody else", .blocking, .timeLimit(.minutes(5)))
struct HostileClientTests {
  /// Bytes that are no frames, or not the frames that should come now.
  struct Nonsense: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]
    let isGreeted: Bool
    let explanation: String

    init(_ description: String, greeting isGreeted: Bool = true, _ bytes: [UInt8], _ explanation: String) {
      testDescription = description
      self.bytes = bytes
      self.isGreeted = isGreeted
      self.explanation = explanation
    }
  }

  private static func bytes(_ frames: ClientFrame...) -> [UInt8] {
    guard let bytes = try? RawClient.bytes(of: frames) else { preconditionFailure("a frame of the test is too long") }
    return bytes
  }

  private static let noise: [UInt8] = {
    var random = SplitMix(seed: 3)
    return (0..<100_000).map { _ in UInt8(random.below(256)) }
  }()

  static let nonsense = [
    Nonsense("noise instead of a greeting", greeting: false, noise, "disconnected"),
    Nonsense("noise after it", noise, "disconnected"),
    Nonsense("a length of 4 GB", [255, 255, 255, 255], "frameTooLong"),
    Nonsense("a length of 4 GB first", greeting: false, [255, 255, 255, 255], "frameTooLong"),
    Nonsense("an unknown kind of frame", [1, 0, 0, 0, 200], "unknownTag"),
    Nonsense("a frame that goes on behind its end", [3, 0, 0, 0, 8, 0, 0], "trailingBytes"),
    Nonsense("a frame that ends too early", [1, 0, 0, 0, 9], "truncated"),
    Nonsense("a second greeting", bytes(.hello(RawClient.hello())), "hello twice"),
    Nonsense("no greeting", greeting: false, bytes(.reassertionEnded), "no hello"),
    Nonsense(
      "a greeting without end", greeting: false, [255, 255, 255, 0] + Array(repeating: 1, count: 1 << 18), "hello has"),
    Nonsense("the end of what it doesn't hold", bytes(.event(.accessReleased(AccessID(7), []))), "isn't granted"),
  ]

  @Test("A process that sends nonsense is disconnected, with the reason", arguments: nonsense)
  func tellingNonsense(nonsense: Nonsense) throws {
    let problems = try withSiege { siege in
      let client = try nonsense.isGreeted ? siege.acceptedClient() : siege.client()
      try client.write(nonsense.bytes)
      let explanations = try client.rest().compactMap { frame in
        if case .refused(.malformed, let explanation) = frame { explanation } else { nil }
      }
      #expect(explanations.first?.contains(nonsense.explanation) == true, "\(explanations)")
    }
    #expect(problems == [])
  }

  @Test("Another version of the protocol is refused with both versions")
  func otherVersions() throws {
    let problems = try withSiege { siege in
      let client = try siege.client()
      try client.tell(.hello(RawClient.hello(version: Hello.currentVersion + 7)))
      guard case .refused(.unknownVersion, let explanation) = try client.next() else {
        Issue.record("it wasn't refused")
        return
      }
      #expect(explanation.contains("version \(Hello.currentVersion + 7) ") && explanation.contains("same version"))
      #expect(try client.next() == nil)
    }
    #expect(problems == [])
  }

  @Test("A process that connects and doesn't say hello, or only half of it, is dropped after a while")
  func silence() throws {
    let problems = try withSiege { siege in
      let clients = try (0..<20).map { _ in try siege.client() }
      let hello = Self.bytes(.hello(RawClient.hello()))
      for (number, client) in clients.enumerated() { _ = client.offer(hello.prefix(number)) }
      try siege.goesOn()
      for client in clients { #expect(try client.next() == nil) }
    }
    #expect(problems == [])
  }

  /// A client for which each snapshot has some ten kilobytes.
  private func askingClient(_ siege: Siege) throws -> RawClient {
    let client = try siege.acceptedClient()
    try client.tell(.present(1, "/asked", label: String(repeating: "a", count: 10_000)))
    while let frame = try client.next() { if case .answered = frame { break } }
    return client
  }

  @Test("The service takes nothing more from a client that sends requests and never reads")
  func floods() throws {
    let problems = try withSiege { siege in
      let client = try askingClient(siege)
      let questions = try RawClient.bytes(of: (1...1_000).map { .snapshotWanted(RequestNumber($0)) })
      var rest = questions[...]
      var takenCount = 0
      var lastTakenCount = -1
      // As soon as it takes nothing although it has served others in between, it has stopped.
      while takenCount > lastTakenCount, takenCount < 16 << 20 {
        lastTakenCount = takenCount
        while true {
          let count = client.offer(rest)
          takenCount += count
          rest = rest.dropFirst(count)
          if !rest.isEmpty { break }
          rest = questions[...]
        }
        try siege.goesOn()
      }
      #expect(takenCount > questions.count && takenCount < 4 << 20)
      client.stream.close()
    }
    #expect(problems == [])
  }

  @Test("A process that stops before a megabyte of answers gets the rest when it reads")
  func slowReaders() throws {
    let problems = try withSiege { siege in
      let client = try askingClient(siege)
      let numbers = (UInt64(1)...1_000).map(RequestNumber.init)
      let questions = try RawClient.bytes(of: numbers.map(ClientFrame.snapshotWanted))
      #expect(client.offer(questions[...]) == questions.count)
      try siege.goesOn()
      var answered: [RequestNumber] = []
      while answered.count < numbers.count, let frame = try client.next() {
        if case .snapshot(let number, _) = frame { answered.append(number) }
      }
      #expect(answered == numbers)
      client.stream.close()
    }
    #expect(problems == [])
  }

  @Test("A process that others send more and more and that never reads is dropped")
  func deafObservers() throws {
    let problems = try withSiege { siege in
      let client = try siege.acceptedClient()
      let label = String(repeating: "a", count: 60_000)
      try client.tell(.observationWanted(true))
      for number in UInt64(1)...100 {
        try client.tell(.present(number, ItemPath("/deaf/\(number)"), label: label))
      }
      // Each thing that the honest process does is shown with six megabytes.
      try siege.waitUntilAlone()
      #expect(try client.write(Self.bytes(.reassertionEnded)) == false)
    }
    #expect(problems == [])
  }

  @Test("A state too large to be shown is an error of who asks, and nothing else happens to it")
  func largeStates() throws {
    let problems = try withSiege { siege in
      let client = try siege.acceptedClient()
      let label = String(repeating: "a", count: 60_000)
      let domain = CoordinationDomain.socket(siege.socket)
      let coordinator = FileCoordinator(label: "honest", domain: domain)
      let file = siege.field.root.appending(path: "files/honest")
      try coordinator.blocking.write(file) { access in
        for number in UInt64(1)...300 {
          try client.tell(.present(number, ItemPath("/large/\(number)"), label: label))
          while let frame = try client.next() { if case .answered = frame { break } }
        }
        let error = #expect(throws: FileCoordinationError.self) { try domain.processes() }
        #expect(error?.code == .messageTooLong)
        let unshown = #expect(throws: FileCoordinationError.self) { try domain.snapshot() }
        #expect(unshown?.code == .messageTooLong)
        // It hasn't lost the access that it held.
        try access.commit {}
      }
      client.stream.close()
      try siege.field.wait(for: "a state that can be shown") { (try? domain.snapshot()) != nil }
      #expect(try domain.processes().contains { $0.processIdentifier == getpid() })
    }
    #expect(problems == [])
  }

  @Test("Very long paths and very deep nesting end no service")
  func depth() throws {
    let problems = try withSiege { siege in
      let client = try siege.acceptedClient()
      let deep = String(repeating: "/d", count: WireFormat.pathByteCountMax / 2)
      try client.tell(.present(1, ItemPath(deep)), .write(1, ItemPath(deep)), .write(2, ItemPath(deep + "d")))
      let nested = try siege.acceptedClient()
      try nested.tell(.write(1, "/nested"))
      for number in 2...UInt64(ServiceCore.nestingDepthMax) + 2 {
        try nested.tell(.write(number, ItemPath("/nested/\(number)"), inside: number - 1))
      }
      let refusals = try nested.rest().compactMap { frame in
        if case .refused(_, let explanation) = frame { explanation } else { nil }
      }
      #expect(refusals.first?.contains("nests accesses") == true)
    }
    #expect(problems == [])
  }

  @Test("More connections than half of the service's descriptors are refused, and accepted when others have gone")
  func manyConnections() throws {
    let problems = try withSiege { siege in
      try siege.service.tell("128")
      #expect(try siege.service.line() == "128")
      var clients: [RawClient] = []
      var accepted = 0
      for _ in 0..<300 {
        let client = try siege.client()
        clients.append(client)
        try client.tell(.hello(RawClient.hello()))
        switch try client.next() {
        case .welcome: accepted += 1
        case .refused(.tooManyClients, let explanation): #expect(explanation.contains("connected already"))
        case let other: Issue.record("told \(String(describing: other))")
        }
      }
      // The honest one and those that are just being dropped count as well.
      #expect(accepted > 32 && accepted < 64)
      try siege.goesOn()
      clients = []
      try siege.waitUntilAlone()
      _ = try siege.acceptedClient()
    }
    #expect(problems == [])
  }

  @Test("A service without descriptors serves those it has, and accepts others when it has some again")
  func exhaustedService() throws {
    let problems = try withSiege { siege in
      try siege.service.tell("exhaust")
      #expect(try siege.service.line() == "exhaust")
      let client = try siege.client()
      try client.tell(.hello(RawClient.hello()))
      try siege.goesOn()
      #expect(try client.stream.waitReadable(until: HostClock.shared.now) == false)
      try siege.service.tell("release")
      #expect(try siege.service.line() == "release")
      // No client has gone: the service has to check by itself.
      let answer = try client.next()
      let isWelcome = if case .welcome = answer { true } else { false }
      #expect(isWelcome, "\(String(describing: answer))")
    }
    #expect(problems == [])
  }
}
