import CTestShims
import Foundation
import Glibc
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// Root may write everywhere, so that root's tests run as another user here: this thread alone, and to the file system alone.
@Suite("Stored packages in which nobody can change anything")
struct ClosedPackagesTests {
  private static let otherUser: UInt32 = 65_534

  /// The body mustn't suspend.
  private func asUser<Result>(_ sandbox: StoreSandbox, _ body: () throws -> Result) throws -> Result {
    guard geteuid() == 0 else { return try body() }
    for path in [sandbox.root, sandbox.root.appending("files")] {
      try #require(chown(path.description, Self.otherUser, Self.otherUser) == 0)
    }
    _ = setfsuid(Self.otherUser)
    defer { _ = setfsuid(0) }
    return try body()
  }

  private func writePackage(_ sandbox: StoreSandbox, _ text: String) throws -> SystemPath {
    try sandbox.write("p/d/e/x", text)
    try sandbox.write("p/y", "same")
    return sandbox.path("p")
  }

  private func isRefused(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      return (error as? SystemError)?.isOne(of: .permissionDenied) == true
    }
  }

  /// Whether nothing can be added to a directory, removed from it, or renamed there.
  private func isClosed(_ directory: SystemPath, _ sandbox: StoreSandbox) throws -> Bool {
    let files = sandbox.files
    let status = try files.status(of: directory, at: .workingDirectory, links: .noFollow)
    let name = directory.appending(try #require(try files.names(in: directory).first))
    return status.mode == 0o555
      && isRefused { try files.makeDirectory(directory.appending("new"), at: .workingDirectory, mode: 0o700) }
      && isRefused { try files.unlink(name, at: .workingDirectory, .file) }
      && isRefused {
        try files.rename(name, at: .workingDirectory, to: sandbox.path("out"), at: .workingDirectory, .exclusive)
      }
  }

  @Test(
    "CV-21: No name can be added, removed or replaced in the version of a package, however it came there",
    arguments: [Taking.copying, .moving])
  func closed(taking: Taking) async throws {
    try await withStore { sandbox in
      try asUser(sandbox) {
        let (store, path) = (try sandbox.store(), try writePackage(sandbox, "1"))
        let item = try #require(try store.item(at: path, creating: true))
        // The second one shares its files with the first.
        _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
        let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes, taking: taking)
        #expect(try (store.status(of: path) == nil) == (taking == .moving))
        let top = store.path(of: version)
        for directory in [top, top.appending("d"), top.appending("d").appending("e")] {
          #expect(try isClosed(directory, sandbox), "\(directory)")
        }
        try store.verify(version)
        #expect(
          try sandbox.files.status(of: top.appending("y"), at: .workingDirectory, links: .noFollow).linkCount == 3)
      }
    }
  }

  @Test("They are restored, removed, brought back, taken to another store and removed there, by their user")
  func uses() async throws {
    try await withStore { sandbox in
      try asUser(sandbox) {
        let (store, path) = (try sandbox.store(), try writePackage(sandbox, "1"))
        let item = try #require(try store.item(at: path, creating: true))
        let version = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
        let copy = try store.add(contentsOf: path, to: item, StoreSandbox.attributes)
        try sandbox.write("p/d/e/x", "2")
        try sandbox.write("p/d/z", "2")
        try store.restore(version, to: path)
        #expect(try sandbox.text(path.appending("d").appending("e").appending("x")) == "1")
        #expect(try sandbox.files.names(in: path.appending("d")) == ["e"].map { SystemPath($0) })
        #expect(
          try sandbox.files.status(of: path.appending("d"), at: .workingDirectory, links: .noFollow).mode == 0o755)
        // A program of the store's user has put something there all the same.
        let top = store.path(of: version)
        try store.openDirectory(top)
        try store.writeDraft([1], to: top.appending("log"))
        try store.restore(version, to: sandbox.path("q"))
        #expect(try sandbox.files.names(in: sandbox.path("q")).sorted() == ["d", "y"].map { SystemPath($0) })

        try store.retire(version.id, of: item)
        #expect(try store.reinstate(version.id, of: item) == version)
        try store.retire(copy.id, of: item)
        let moved = sandbox.path("moved")
        try sandbox.files.copyItem(from: path, to: moved, replacing: false)
        try sandbox.files.removeItem(at: path)
        let other = try VersionStore(at: sandbox.root.appending("other"), worker: "2", time: { 9 })
        #expect(try other.adopt(item, at: moved, from: store))
        #expect(try sandbox.tree("store/contents").filter { $0.count > 60 } == [])
        #expect(try isClosed(other.path(of: version).appending("d"), sandbox))
        _ = try other.reinstate(copy.id, of: item)
        for version in try other.versions(of: item) {
          try other.verify(version)
          try other.remove(version.id, of: item)
        }
        #expect(try sandbox.tree("other/contents").filter { $0.count > 60 } == [])
        #expect(try sandbox.tree("other/steps").filter { !$0.hasPrefix("spare.") } == [])
      }
    }
  }

  @Test("A kill at any moment leaves nothing that the next process can't remove", arguments: [false, true])
  func killed(isRestoration: Bool) async throws {
    var (call, isOver) = (0, false)
    while !isOver {
      call += Budget.isLong || call == 0 ? 1 : 4
      let last = call
      isOver = try await withStore { sandbox in
        try asUser(sandbox) {
          let path = try writePackage(sandbox, "1")
          let item = try #require(try sandbox.store().item(at: path, creating: true))
          let version = try sandbox.store().add(contentsOf: path, to: item, StoreSandbox.attributes)
          try sandbox.write("p/y", "2")
          let door = DyingDoor.dying(atCall: last)
          _ = try? sandbox.store(door)
          do {
            let store = try sandbox.store(door)
            if isRestoration {
              try store.restore(version, to: path)
            } else {
              _ = try store.add(contentsOf: path, to: item, StoreSandbox.attributes, taking: .moving)
            }
          } catch {}
          try sandbox.settle(item)
          _ = try sandbox.store().takeLeftovers(at: path, StoreSandbox.attributes, claimed: [path])
          #expect(try sandbox.tree("store/steps").filter { !$0.hasPrefix("spare.") } == [], "call \(last)")
          for version in try sandbox.store().versions(of: item) { try sandbox.store().verify(version) }
          return door.log.count < last
        }
      }
    }
    #expect(call > 8)
  }
}
