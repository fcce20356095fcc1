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
    let count = Budget.isLong ? 1_000 : 150
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
      while true {
        let isLast = isDone.withLock { $0 }
        do {
          let tree = try PackageTree(openingPackageAt: path)
          // All names of a directory, and all of one revision.
          #expect(try tree.names().count == 3 && tree.names(in: SystemPath("d")).count == 2)
          let texts = try names.map { try tree.contents(of: SystemPath($0)) }
          #expect(Set(texts).count == 1, "\(texts)")
          outcomes.withLock { $0["whole", default: 0] += 1 }
        } catch let error as PackageError {
          // Nobody replaces it any more.
          #expect(error.code == .packageReplaced && !isLast, "\(error)")
          outcomes.withLock { $0["replaced", default: 0] += 1 }
        }
        if isLast { return }
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
    #expect(outcomes.withLock { $0["whole", default: 0] } >= 2)
    #expect(try box.text("p/d/e") == "\(count)")
    #expect(try box.names() == ["p"])
  }

  @Test("CD-15: Of saves at once each is in the package, or its writer is told that it isn't")
  func writers() async throws {
    let count = Budget.isLong ? 300 : 60
    let box = try PackageSandbox.make()
    defer { box.remove() }
    let path = box.path("p")
    _ = try PackageTree().write(to: path)
    let overtaken = Guarded(0)
    func writer(_ name: String) -> @Sendable () throws -> Void {
      {
        for number in 0..<count {
          // A writer that was overtaken opens the package again, as often as it takes.
          while true {
            do {
              var tree = try PackageTree(openingPackageAt: path)
              try tree.update("\(name)\(number)", name)
              _ = try tree.write(to: path)
              break
            } catch let error as PackageError where error.code == .packageReplaced && !error.isInPlace {
              overtaken.withLock { $0 += 1 }
            }
          }
        }
      }
    }
    try await together([writer("x"), writer("y"), writer("z")])
    let names = try PackageTree(openingPackageAt: path).names().map(\.description)
    #expect(Set(names) == Set(["x", "y", "z"].flatMap { name in (0..<count).map { "\(name)\($0)" } }))
    #expect(try box.names() == ["p"])
  }

  @Test("CD-15: A package that somebody else has locked is saved all the same")
  func foreignLock() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      let door = ScriptedFileSystem { $0.call == .lock ? .fail(11) : .proceed }
      var tree = try PackageTree(openingPackageAt: box.path("p"), files: door)
      try tree.update("a", "2")
      #expect(try tree.write(to: box.path("p")).tree.listing() == ["a 2"])
      #expect(door.log.count { $0.call == .lock } > 1)
    }
  }
}
