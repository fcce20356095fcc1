import FileWatching
import Foundation
import Glibc
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

/// A file system of its own below a directory, which takes the right to mount.
private enum Mounting {
  static func mount(on path: SystemPath) -> Bool { Glibc.mount("none", path.description, "tmpfs", 0, "size=1m") == 0 }
  static func unmount(_ path: SystemPath) { umount2(path.description, Int32(MNT_DETACH)) }

  /// Only root may mount, and not in every container.
  static let isAllowed: Bool = {
    let path = SystemPath(FileManager.default.temporaryDirectory.path).appending(
      "FileMetadataTests.\(UUID().uuidString)")
    guard mkdir(path.description, 0o700) == 0 else { return false }
    defer { rmdir(path.description) }
    guard mount(on: path) else { return false }
    unmount(path)
    return true
  }()
}

@Suite(
  "Volumes are mounted and unmounted below a scope", .blocking, .serialized,
  .enabled(if: Mounting.isAllowed, "only root may mount"))
struct MountTests {
  @Test("L11: a mount over a directory takes the place of what was in it, and unmounting brings that back")
  func mount() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a b")
    try tree.write("a b/below")
    try tree.write("other")
    var live = try await LiveQuery(tree, .fileName != "a b")
    try await live.gather()
    #expect(live.names == ["below", "other"])
    let place = tree.path("a b")
    #expect(Mounting.mount(on: place))
    defer { Mounting.unmount(place) }
    while live.names != ["other"] { _ = try await live.next() }
    try tree.write("a b/above")
    while live.names != ["above", "other"] { _ = try await live.next() }
    // Nothing polls: the kernel reports each of these.
    #expect(live.query.health.isComplete)
    Mounting.unmount(place)
    while live.names != ["below", "other"] { _ = try await live.next() }
    try tree.write("a b/new")
    while live.names != ["below", "new", "other"] { _ = try await live.next() }
  }

  @Test("L11: a mount over the scope itself")
  func mountOverRoot() async throws {
    let tree = try TemporaryTree()
    try tree.write("below")
    var live = try await LiveQuery(tree)
    try await live.gather()
    #expect(Mounting.mount(on: tree.root))
    defer { Mounting.unmount(tree.root) }
    while !live.names.isEmpty { _ = try await live.next() }
    try tree.write("above")
    while live.names != ["above"] { _ = try await live.next() }
    Mounting.unmount(tree.root)
    while live.names != ["below"] { _ = try await live.next() }
  }

  @Test("L11: a mount before the thread first waits for changes is seen, though it reports nothing to that thread")
  func mountBeforeWaiting() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    let watcher = try InotifyWatcher()
    _ = try watcher.watch(tree.root, .names, isDirectory: true)
    let place = tree.path("d")
    #expect(Mounting.mount(on: place))
    defer { Mounting.unmount(place) }
    // So that the wait ends in any case.
    try tree.write("new")
    try watcher.waitForEvents()
    #expect(watcher.takeEvents().contains(.mountsChanged))
  }

  @Test("L11: A mounted volume doesn't belong to a scope that excludes it")
  func exclusion() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("d/below")
    let place = tree.path("d")
    #expect(Mounting.mount(on: place))
    defer { Mounting.unmount(place) }
    try tree.write("d/above")
    let indexed = try IndexedTree(tree, options: ScopeOptions(includesMountedVolumes: false))
    #expect(indexed.number("d") != nil && indexed.number("d/above") == nil)
  }
}
