import CoordinationService
import Foundation
import SeededRandom
import Synchronization
import SystemInterface
import TestSupport
import Testing

@testable import FileCoordination

/// Threads stand for processes: a lock of an open file excludes both alike.
@Suite("One process at a time has the right to serve, wherever the places are", .blocking, .timeLimit(.minutes(5)))
struct ServingRightTests {
  private static let usual = "file-coordination-\(geteuid())"

  private func withDirectory(_ body: (URL, MeetingGround) throws -> Void) throws {
    let root = URL.temporaryDirectory.appending(path: "places-\(UUID())")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
    defer { removeSurely(root.path) }
    try body(root, .ofUser(in: SystemPath(root.path)))
  }

  /// Another user takes a name, or gives it up.
  private func toggle(_ name: String, in root: URL) {
    let path = root.appending(path: name).path
    if unlink(path) != 0 { close(open(path, O_CREAT | O_EXCL | O_WRONLY, 0o600)) }
  }

  /// ```
  /// another user  [usual, .1 …] taken and given up
  /// process A     checks · makes · locks · checks again [serves]
  /// process B        checks · makes · locks · checks again [serves]
  /// ```
  @Test(
    "While another user takes and gives up names, and processes begin to meet", arguments: 1...6 as ClosedRange<UInt64>)
  func squatterComesAndGoes(seed: UInt64) throws {
    for round in 0..<25 as Range<UInt64> {
      try withDirectory { root, ground in
        var random = SplitMix(seed: seed << 32 | round)
        for name in ["", ".1", ".2"] where random.below(2) == 0 { toggle(Self.usual + name, in: root) }
        let serving = Atomic<Int>(0)
        let served = Atomic<Int>(0)
        let together = Atomic<Int>(0)
        let remaining = Atomic<Int>(4)
        let names = (0..<200).map { _ in Self.usual + ["", ".1", ".2"][random.below(3)] }
        DispatchQueue.concurrentPerform(iterations: 5) { thread in
          if thread == 4 {
            for name in names where remaining.load(ordering: .acquiring) > 0 { toggle(name, in: root) }
            return
          }
          var ownCount = 0
          while ownCount < 3 {
            guard let right = try? ground.tryToServe() else {
              sched_yield()
              continue
            }
            if serving.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue > 1 {
              together.wrappingAdd(1, ordering: .relaxed)
            }
            sched_yield()
            ownCount += 1
            served.wrappingAdd(1, ordering: .relaxed)
            serving.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            right.release()
          }
          remaining.wrappingSubtract(1, ordering: .releasing)
        }
        #expect(together.load(ordering: .relaxed) == 0, "seed \(seed), round \(round)")
        #expect(served.load(ordering: .relaxed) == 12)
      }
    }
  }

  @Test("A process that finds a further place while it takes the locks takes that one's too")
  func furtherPlace() throws {
    try withDirectory { root, ground in
      let first = try #require(try ground.tryToServe())
      #expect(first.places.count == 1)
      try FileManager.default.createDirectory(
        at: root.appending(path: "\(Self.usual).late"), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
      // It sees both, and gets one of the locks.
      #expect(try ground.tryToServe() == nil)
      first.release()
      let second = try #require(try ground.tryToServe())
      #expect(second.places.count == 2)
      second.release()
    }
  }

  @Test("The number of a service is greater than those of services at all places")
  func epochs() throws {
    try withDirectory { root, ground in
      let first = try #require(try ground.tryToServe())
      #expect(try first.nextEpoch(atLeast: 1 << 40) == 1 << 40)
      first.release()
      try FileManager.default.createDirectory(
        at: root.appending(path: "\(Self.usual).late"), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
      let second = try #require(try ground.tryToServe())
      #expect(try second.nextEpoch(atLeast: 1) == (1 << 40) + 1)
      #expect(try second.nextEpoch(atLeast: 1) == (1 << 40) + 2)
      second.release()
    }
  }

  @Test(
    "A service whose socket or lock somebody removes before it's watched ends",
    arguments: ["service.socket", "service.socket.lock"])
  func unwatchedName(name: String) throws {
    try withDirectory { root, ground in
      let right = try #require(try ground.tryToServe())
      var setting = ServiceHost.Setting(
        ground: ground, packageExtensions: [], clock: DomainClock(HostClock.shared), isDedicated: true)
      setting.listen = { right throws(SystemError) in
        let listener = try LocalListener(binding: right.place.address)
        #expect(unlink(root.appending(path: "\(Self.usual)/\(name)").path) == 0)
        return listener
      }
      let service = try ServiceHost.start(right, setting)
      service.waitUntilEnd()
      let next = try #require(try ground.tryToServe())
      next.release()
    }
  }

  @Test("A session is alive while it's held at one of the places, and told at all of them")
  func sessions() throws {
    try withDirectory { root, ground in
      for name in ["", ".late"] {
        try FileManager.default.createDirectory(
          at: root.appending(path: Self.usual + name), withIntermediateDirectories: false,
          attributes: [.posixPermissions: 0o700])
      }
      let right = try #require(try ground.tryToServe())
      defer { right.release() }
      let membership = try right.places[1].join(7)
      #expect(try right.liveSessions() == [7])
      #expect(right.isAlive(7))
      #expect(right.revoke(.everything, of: 7))
      #expect(try membership.readCounter() == DelegationCoverage.expelled)
      membership.release()
      #expect(!right.isAlive(7))
      #expect(try right.liveSessions() == [])
    }
  }

  @Test("A deadline holds while somebody who is about to serve doesn't begin")
  func nobodyServesYet() throws {
    try withDirectory { root, _ in
      let place = root.appending(path: "s").path
      let right = try #require(try MeetingGround.at(place).tryToServe())
      defer { right.release() }
      let domain = CoordinationDomain.socket(place)
      let error = #expect(throws: FileCoordinationError.self) {
        try FileCoordinator(domain: domain, deadlines: .within(.milliseconds(50))).blocking.read(root) { _ in }
      }
      #expect(error?.code == .timedOut)
    }
  }
}
