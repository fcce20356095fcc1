import Glibc
import Testing

@testable import SystemInterface

@Suite("A poller tells which descriptors are ready, each time until they aren't")
struct LocalPollerTests {
  private typealias Event = ReadinessPoller.Event

  /// The events that are ready now.
  private func ready(_ poller: ReadinessPoller) throws -> [Event] {
    var events: [Event] = []
    _ = try poller.wait(into: &events, until: MonotonicTime(nanoseconds: 0))
    return events.sorted { $0.token < $1.token }
  }

  private func readable(_ token: UInt64) -> Event {
    Event(token: token, isReadable: true, isWritable: false, isHangUp: false)
  }

  @Test("A stream is readable as long as it has bytes")
  func levelTriggered() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(right, token: 7, awaiting: .readable)
    #expect(try ready(poller) == [])
    #expect(try left.send("ab") == 2)
    #expect(try ready(poller) == [readable(7)])
    #expect(try right.receive(countMax: 1) == .text("a"))
    #expect(try ready(poller) == [readable(7)])
    #expect(try right.receive() == .text("b"))
    #expect(try ready(poller) == [])
  }

  @Test("A stream is writable as long as there is room, which is reported only if it's awaited")
  func writable() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(left, token: 1, awaiting: [.readable, .writable])
    #expect(try ready(poller) == [Event(token: 1, isReadable: false, isWritable: true, isHangUp: false)])
    #expect(try left.fill() > 0)
    #expect(try ready(poller) == [])
    while try right.receive(countMax: 65536) != .nothing {}
    #expect(try ready(poller).map(\.isWritable) == [true])
    try poller.modify(left, token: 2, awaiting: .readable)
    #expect(try ready(poller) == [])
    #expect(try right.send("x") == 1)
    #expect(try ready(poller) == [readable(2)])
    try poller.modify(left, token: 3, awaiting: [])
    #expect(try ready(poller) == [])
  }

  @Test("A listener is readable when a connection waits")
  func listener() async throws {
    try await withTemporaryDirectory { sandbox in
      let poller = try ReadinessPoller()
      let address = try LocalAddress(sandbox.path("service.sock"))
      let listener = try LocalListener(binding: address)
      try poller.add(listener, token: 0, awaiting: .readable)
      #expect(try ready(poller) == [])
      _ = try LocalStream(connectingTo: address)
      #expect(try ready(poller) == [readable(0)])
      #expect(try listener.accept() != nil)
      #expect(try ready(poller) == [])
    }
  }

  @Test("A peer that is gone is told while its bytes can still be read")
  func hangUp() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(right, token: 5, awaiting: .readable)
    #expect(try left.send("last words") == 10)
    left.close()
    #expect(try ready(poller) == [Event(token: 5, isReadable: true, isWritable: false, isHangUp: true)])
    #expect(try right.receive() == .text("last words"))
    #expect(try ready(poller).map(\.isHangUp) == [true])
    #expect(try right.receive() == .end)
  }

  @Test("The own shutdown of a stream is seen by its poller")
  func shutdown() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(right, token: 5, awaiting: .readable)
    right.shutdown()
    #expect(try ready(poller) == [Event(token: 5, isReadable: true, isWritable: false, isHangUp: true)])
    #expect(try left.receive() == .end)
  }

  /// In a process of its own: a child that another test starts at that moment would have the closed socket, too.
  @Test("A closed or removed stream isn't reported any more; removing it again does nothing")
  func removal() async {
    await #expect(processExitsWith: .success) { try LocalPollerTests().expectNothingAfterRemoval() }
  }

  private func expectNothingAfterRemoval() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(left, token: 1, awaiting: .writable)
    try poller.add(right, token: 2, awaiting: .writable)
    #expect(try ready(poller).map(\.token) == [1, 2])
    poller.remove(left)
    poller.remove(left)
    #expect(try ready(poller).map(\.token) == [2])
    right.close()
    poller.remove(right)
    #expect(try ready(poller) == [])
  }

  @Test("A socket that another process has too must be removed before it is closed")
  func inheritedListener() async throws {
    try await withTemporaryDirectory { sandbox in
      let address = try LocalAddress(sandbox.path("service.sock"))
      let manager = try LocalListener(binding: address)
      let poller = try ReadinessPoller()
      let listener = try LocalListener(inherited: manager.descriptor.checked("dup(2)") { dup($0) })
      try poller.add(listener, token: 1, awaiting: .readable)
      let client = try LocalStream(connectingTo: address)
      #expect(try ready(poller) == [readable(1)])
      poller.remove(listener)
      listener.close(removingName: false)
      #expect(try ready(poller) == [])
      client.close()
    }
  }

  @Test("Adding twice, changing what isn't watched and adding what is closed are errors")
  func refusals() throws {
    let poller = try ReadinessPoller()
    let (left, right) = try LocalStream.pair()
    try poller.add(left, token: 1, awaiting: .readable)
    #expect(throws: SystemError(call: "epoll_ctl(2)", errno: EEXIST)) {
      try poller.add(left, token: 1, awaiting: .readable)
    }
    #expect(throws: SystemError(call: "epoll_ctl(2)", errno: ENOENT)) {
      try poller.modify(right, token: 1, awaiting: .readable)
    }
    right.close()
    #expect(throws: SystemError(call: "epoll_ctl(2)", errno: EBADF)) {
      try poller.add(right, token: 1, awaiting: .readable)
    }
  }

  @Test("More descriptors than one wait returns are all told in turn")
  func manyDescriptors() throws {
    let poller = try ReadinessPoller()
    let count = ReadinessPoller.eventCountMax * 2 + 10
    let pairs = try (0..<count).map { _ in try LocalStream.pair() }
    for (index, pair) in pairs.enumerated() {
      try poller.add(pair.0, token: UInt64(index), awaiting: .readable)
      #expect(try pair.1.send("x") == 1)
    }
    var told: [UInt64] = []
    while true {
      let events = try ready(poller)
      #expect(events.count <= ReadinessPoller.eventCountMax)
      if events.isEmpty { break }
      for event in events { #expect(try pairs[Int(event.token)].0.receive() == .text("x")) }
      told += events.map(\.token)
    }
    #expect(told.sorted() == (0..<UInt64(count)).map { $0 })
  }

  @Test("A wake-up that comes before the wait ends it; several end only one")
  func wake() throws {
    let poller = try ReadinessPoller()
    var events: [Event] = []
    poller.wake()
    poller.wake()
    #expect(try poller.wait(into: &events))
    #expect(events == [])
    #expect(try !poller.wait(into: &events, until: MonotonicTime(nanoseconds: 0)))
  }

  @Test("A wait gives up at its deadline, never before, and empties the list")
  func deadline() throws {
    let poller = try ReadinessPoller()
    var events = [readable(1)]
    let deadline = HostClock.shared.now.advanced(by: .microseconds(1500))
    #expect(try !poller.wait(into: &events, until: deadline))
    #expect(HostClock.shared.now >= deadline)
    #expect(events == [])
  }
}
