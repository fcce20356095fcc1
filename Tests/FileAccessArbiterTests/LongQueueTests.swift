import CompactContainers
import Testing

@testable import FileAccessArbiter

/// Without the harness, whose checks examine every pair: here the length is the point.
@Suite("Long queues")
struct LongQueueTests {
  private static let client = ClientID(1)

  private func request(_ number: UInt64, _ access: ItemAccess) -> AccessRequest {
    AccessRequest(
      client: Self.client, purpose: PurposeID(number), label: "A\(number)", items: [.init("/d/f", access)])
  }

  private func granted(_ effects: [Effect]) -> [AccessID] {
    effects.compactMap { effect in
      if case .grant(let id, _) = effect { return id }
      return nil
    }
  }

  @Test("10,000 writers of one file are granted one after the other, in order of request")
  func writers() {
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(Self.client, name: "test")
    let count: UInt64 = 10_000
    for number in 1...count {
      let effects = arbiter.accessRequested(AccessID(number), request(number, .write(.update)), at: 0)
      #expect(granted(effects) == (number == 1 ? [AccessID(1)] : []))
    }
    for number in 1...count {
      let effects = arbiter.accessReleased(AccessID(number), at: 0)
      #expect(granted(effects) == (number == count ? [] : [AccessID(number + 1)]))
    }
    #expect(arbiter.isQuiescent)
  }

  @Test(
    "An access inside of another, behind 3,000 others, is granted after them: the search for a cycle is no obstacle")
  func nestedBehindMany() {
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(Self.client, name: "test")
    let count: UInt64 = 3_000
    for number in 1...count { _ = arbiter.accessRequested(AccessID(number), request(number, .write(.update)), at: 0) }
    let outer = AccessID(count + 1)
    let inner = AccessID(count + 2)
    var request = AccessRequest(
      client: Self.client, purpose: PurposeID(count + 1), label: "outer", items: [.init("/e", .write(.update))])
    #expect(granted(arbiter.accessRequested(outer, request, at: 0)) == [outer])
    request.items = [.init("/d/f", .write(.update))]
    request.purpose = PurposeID(count + 2)
    request.context = .access(outer)
    #expect(granted(arbiter.accessRequested(inner, request, at: 0)) == [])
    for number in 1...count {
      let next = number == count ? inner : AccessID(number + 1)
      #expect(granted(arbiter.accessReleased(AccessID(number), at: 0)) == [next])
    }
    _ = arbiter.accessReleased(inner, at: 0)
    _ = arbiter.accessReleased(outer, at: 0)
    #expect(arbiter.isQuiescent)
  }

  @Test(
    "600 writes of one file that are nested in each other are granted at once, and keep others out until the outermost ends"
  )
  func deepNesting() {
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(Self.client, name: "test")
    let count: UInt64 = 600
    for number in 1...count {
      var request = request(number, .write(.update))
      if number > 1 { request.context = .access(AccessID(number - 1)) }
      #expect(granted(arbiter.accessRequested(AccessID(number), request, at: 0)) == [AccessID(number)])
    }
    // No other access is inside meanwhile.
    #expect(granted(arbiter.accessRequested(AccessID(count + 1), request(count + 1, .write(.update)), at: 0)) == [])
    for number in (1...count).reversed() {
      let effects = arbiter.accessReleased(AccessID(number), at: 0)
      #expect(granted(effects) == (number == 1 ? [AccessID(count + 1)] : []))
    }
    _ = arbiter.accessReleased(AccessID(count + 1), at: 0)
    #expect(arbiter.isQuiescent)
  }

  @Test("2,000 groups of four readers behind a writer each are admitted together, group by group")
  func groups() {
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(Self.client, name: "test")
    let count: UInt64 = 10_000
    for number in 1...count {
      let access: ItemAccess = number % 5 == 1 ? .write(.update) : .read(withoutChanges: false)
      _ = arbiter.accessRequested(AccessID(number), request(number, access), at: 0)
    }
    for writer in stride(from: 1, through: count, by: 5) {
      let readers = (1...4).map { AccessID(writer + $0) }
      #expect(granted(arbiter.accessReleased(AccessID(writer), at: 0)) == readers)
      let after = readers.map { granted(arbiter.accessReleased($0, at: 0)) }
      #expect(after == [[], [], [], writer + 5 > count ? [] : [AccessID(writer + 5)]])
    }
    #expect(arbiter.isQuiescent)
  }
}
