import FilePackages
import SeededRandom
import SystemInterface
import Testing

@Suite("Concurrency of packages")
struct ConcurrencyPackageTests {
  /// Runs bodies at once, each on a thread of its own.
  private func together(_ bodies: [@Sendable () throws -> Void]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for body in bodies { group.addTask { try body() } }
      try await group.waitForAll()
    }
  }

  @Test("FW-1: While packages replace each other, a reader has one of them, whole, or an error")
  func readers() async throws {
    let count = Budget.isLong ? 3_000 : 150
    let box = try PackageSandbox.make()
    defer { box.remove() }
    let path = box.path("p")
    let names = ["a", "b", "d/c", "d/e"]
    var first = PackageTree()
    try first.makeDirectory(SystemPath("d"))
    for name in names { try first.update(name, "0") }
    let start = try first.write(to: path).tree
    let isDone = Guarded(false)
    let outcomes = Guarded<[String: Int]>([:])
    let read: @Sendable () throws -> Void = {
      while !isDone.withLock({ $0 }) {
        do {
          let tree = try PackageTree(openingPackageAt: path)
          // All names of a directory, and all of one revision.
          #expect(try tree.names().count == 3 && tree.names(in: SystemPath("d")).count == 2)
          let texts = try names.map { try tree.contents(of: SystemPath($0)) }
          #expect(Set(texts).count == 1, "\(texts)")
          outcomes.withLock { $0["whole", default: 0] += 1 }
        } catch let error as PackageError {
          #expect(error.code == .packageReplaced, "\(error)")
          outcomes.withLock { $0["replaced", default: 0] += 1 }
        }
      }
    }
    try await together([
      {
        defer { isDone.withLock { $0 = true } }
        var tree = start
        for number in 1...count {
          for name in names { try tree.update(name, "\(number)") }
          tree = try tree.write(to: path).tree
        }
      }, read, read,
    ])
    #expect(outcomes.withLock { $0["whole", default: 0] } > 0)
    #expect(try box.text("p/d/e") == "\(count)")
    #expect(try box.names() == ["p"])
  }
}
