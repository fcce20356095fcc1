import FileAccessArbiter
import FoundationEssentials
import Synchronization
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("Concurrency: threads that resolve while others swap", .timeLimit(.minutes(3)))
struct ConcurrencyResolutionCacheTests {
  static let swapCount = 600

  /// Counts up after each swap has returned.
  private final class Announcer: Sendable {
    let swapped = Atomic<Int>(0)
    let isOver = Atomic(false)
    let lookCount = Atomic<Int>(0)
  }

  /// Runs `swap` for each number on one thread, and `look` on others until it's over.
  private func race(
    threads: Int, swap: @escaping @Sendable (Int) throws -> Void,
    look: @escaping @Sendable (_ announced: () -> Int) throws -> Void
  ) async throws -> Int {
    let announcer = Announcer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await onThread {
          defer { announcer.isOver.store(true, ordering: .releasing) }
          for number in 1...Self.swapCount {
            try swap(number)
            announcer.swapped.store(number, ordering: .releasing)
          }
        }
      }
      for _ in 0..<threads {
        group.addTask {
          try await onThread {
            repeat {
              try look { announcer.swapped.load(ordering: .acquiring) }
              announcer.lookCount.add(1, ordering: .relaxed)
            } while !announcer.isOver.load(ordering: .acquiring)
          }
        }
      }
      try await group.waitForAll()
    }
    return announcer.lookCount.load(ordering: .relaxed)
  }

  /// The number in a path such as `/…/v12/file`.
  private static func version(_ path: String) throws -> Int {
    let name = try #require(path.split(separator: "/").first { $0.hasPrefix("v") && Int($0.dropFirst()) != nil })
    return try #require(Int(name.dropFirst()))
  }

  @Test("After a link was retargeted nobody gets the old answer", arguments: [1, 3])
  func links(threads: Int) async throws {
    try await withLinkTree { tree in
      try tree.link("link", to: "v0")
      let cache = ResolutionCache(in: tree.files)
      let url = try tree.url("link/file")
      let count = try await race(threads: threads) { number in
        try tree.retarget("link", to: "v\(number)")
      } look: { announced in
        let floor = announced()
        let path = try cache.withItem(for: url) { $0.path.description }
        #expect(try Self.version(path) >= floor)
        let second = announced()
        #expect(try Self.version(cache.item(for: url).path.description) >= second)
      }
      #expect(count > 0)
      #expect(try Self.version(cache.item(for: url).path.description) == Self.swapCount)
    }
  }

  @Test("After directories were exchanged nobody gets the old answer, and other URLs don't suffer", arguments: [2])
  func directories(threads: Int) async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("d")
      try tree.link("d/in", to: "../v0")
      try tree.makeDirectory("still")
      let cache = ResolutionCache(in: tree.files)
      let (url, still) = (try tree.url("d/in/file"), try tree.url("still/file"))
      let stillPath = tree.root + "/still/file"
      let count = try await race(threads: threads) { number in
        try tree.makeDirectory("next")
        try tree.link("next/in", to: "../v\(number)")
        try tree.rename("next", to: "d", .exchange)
        try tree.unlink("next/in")
        try tree.removeDirectory("next")
      } look: { announced in
        let floor = announced()
        let version = try Self.version(cache.item(for: url).path.description)
        #expect(version >= floor)
        #expect(try cache.item(for: still).path.description == stillPath)
      }
      #expect(count > 0)
    }
  }

  @Test("Moves told by the library are seen by all threads although they look at nothing")
  func moves() async throws {
    try await withLinkTree { tree in
      try tree.link("link", to: "v0")
      let cache = ResolutionCache(in: tree.files, checkInterval: .seconds(3600))
      let url = try tree.url("link/file")
      let count = try await race(threads: 2) { number in
        try tree.retarget("link", to: "v\(number)")
        cache.noteMove(from: "/nowhere/a", to: "/nowhere/b")
      } look: { announced in
        let floor = announced()
        let version = try Self.version(cache.item(for: url).path.description)
        #expect(version >= floor)
      }
      #expect(count > 0)
    }
  }

  @Test("Many URLs, threads and evictions at once keep every answer right")
  func evictions() async throws {
    try await withLinkTree { tree in
      for index in 0..<12 {
        try tree.makeDirectory("r\(index)")
        try tree.link("l\(index)", to: "r\(index)")
      }
      var limits = ResolutionCache.Limits()
      (limits.itemCountMax, limits.placeCountMax) = (8, 4)
      let cache = ResolutionCache(in: tree.files, limits: limits)
      let urls = try (0..<48).map { try tree.url("l\($0 % 12)/f\($0)") }
      let asker = Announcer()
      let count = try await race(threads: 3) { number in
        try tree.retarget("l\(number % 12)", to: "r\(number % 12)")
      } look: { _ in
        let index = asker.lookCount.add(7, ordering: .relaxed).newValue % urls.count
        let path = try cache.withItem(for: urls[index]) { $0.path.description }
        #expect(path == tree.root + "/r\(index % 12)/f\(index)")
        #expect(try cache.item(atLexicalPath: "/x/y\(index)").path.description == "/x/y\(index)")
      }
      #expect(count > 0)
    }
  }
}
