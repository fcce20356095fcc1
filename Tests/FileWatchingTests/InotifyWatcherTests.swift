import FileWatching
import Foundation
import Glibc
import SystemInterface
import Testing

/// A directory for one test, and its watches.
private final class Watch {
  let directory: URL
  let watcher: InotifyWatcher

  init() throws {
    directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "FileWatchingTests.\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    watcher = try InotifyWatcher()
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func path(_ name: String) -> SystemPath { SystemPath(directory.path).appending(name) }
  func url(_ name: String) -> URL { directory.appending(path: name) }
  func write(_ name: String) throws { try Data("text".utf8).write(to: url(name)) }

  func rename(_ old: String, to new: String) throws {
    try HostFileSystem().rename(path(old), at: .workingDirectory, to: path(new), at: .workingDirectory, .replacing)
  }
}

@Suite("Watching files through inotify")
struct InotifyWatcherTests {
  @Test("An event is there as soon as the call has returned that caused it")
  func synchrony() throws {
    let watch = try Watch()
    let id = try watch.watcher.watch(SystemPath(watch.directory.path), [.names, .contents], isDirectory: true)
    try watch.write("f")
    let events = watch.watcher.takeEvents()
    #expect(events.first == .name(id, SystemPath("f"), .created, isDirectory: false))
    #expect(events.last == .name(id, SystemPath("f"), .changed, isDirectory: false))
    #expect(watch.watcher.takeEvents() == [])
  }

  @Test("Both halves of a rename have one cookie")
  func renamePair() throws {
    let watch = try Watch()
    let id = try watch.watcher.watch(SystemPath(watch.directory.path), .names, isDirectory: true)
    try FileManager.default.createDirectory(at: watch.url("d"), withIntermediateDirectories: false)
    try watch.rename("d", to: "e")
    let actions = watch.watcher.takeEvents().compactMap { event -> WatchEvent.Action? in
      guard case .name(id, _, let action, isDirectory: true) = event else { return nil }
      return action
    }
    try #require(actions.count == 3)
    guard case .departed(let first) = actions[1], case .arrived(let second) = actions[2] else {
      Issue.record("\(actions)")
      return
    }
    #expect(first == second)
  }

  // A child that another test starts holds the open file until it executes its program: the end comes after it.
  @Test("A watched file tells of writes through another hard link, of its move and of its end")
  func item() throws {
    let watch = try Watch()
    try watch.write("f")
    let id = try watch.watcher.watch(watch.path("f"), [.contents, .itself], isDirectory: false)
    try FileManager.default.linkItem(at: watch.url("f"), to: watch.url("g"))
    _ = watch.watcher.takeEvents()
    try "more".write(to: watch.url("g"), atomically: false, encoding: .utf8)
    #expect(Set(watch.watcher.takeEvents()) == [.itemChanged(id)])
    try watch.rename("f", to: "h")
    #expect(watch.watcher.takeEvents().contains(.itemMoved(id)))
    try FileManager.default.removeItem(at: watch.url("g"))
    try FileManager.default.removeItem(at: watch.url("h"))
    var last = watch.watcher.takeEvents().last
    while last != .ended(id) {
      try watch.watcher.waitForEvents()
      last = watch.watcher.takeEvents().last ?? last
    }
  }

  @Test("Paths that lead to one item have one watch, and a further interest adds to the first")
  func oneWatch() throws {
    let watch = try Watch()
    try watch.write("f")
    try FileManager.default.linkItem(at: watch.url("f"), to: watch.url("g"))
    let id = try watch.watcher.watch(watch.path("f"), .contents, isDirectory: false)
    #expect(try watch.watcher.watch(watch.path("g"), .itself, isDirectory: false) == id)
    try "more".write(to: watch.url("g"), atomically: false, encoding: .utf8)
    #expect(watch.watcher.takeEvents().contains(.itemChanged(id)))
    watch.watcher.unwatch(id)
    #expect(watch.watcher.takeEvents() == [.ended(id)])
  }

  @Test("A path that can't be watched is an error: nothing there, no directory, no word from the kernel")
  func errors() throws {
    let watch = try Watch()
    try watch.write("f")
    #expect(throws: SystemError.self) { try watch.watcher.watch(watch.path("none"), .names, isDirectory: true) }
    #expect(throws: SystemError.self) { try watch.watcher.watch(watch.path("f"), .names, isDirectory: true) }
    let error = #expect(throws: SystemError.self) {
      try watch.watcher.watch(SystemPath("/proc/sys"), .names, isDirectory: true)
    }
    #expect(error?.errno == EOPNOTSUPP)
  }

  @Test("A wait ends by an event and by a call, also one that came before it")
  func waiting() throws {
    let watch = try Watch()
    _ = try watch.watcher.watch(SystemPath(watch.directory.path), .names, isDirectory: true)
    try watch.write("f")
    try watch.watcher.waitForEvents()
    #expect(watch.watcher.takeEvents() != [])
    watch.watcher.wake()
    try watch.watcher.waitForEvents()
    #expect(watch.watcher.takeEvents() == [])
  }

  @Test("A watcher for tests loses events and is short of watches when it's told to")
  func manual() throws {
    let watch = try Watch()
    let manual = ManualFileWatcher(watch.watcher)
    manual.allowWatches(1)
    _ = try manual.watch(SystemPath(watch.directory.path), .names, isDirectory: true)
    let error = #expect(throws: SystemError.self) {
      try manual.watch(SystemPath(watch.directory.path), .names, isDirectory: true)
    }
    #expect(error?.errno == ENOSPC)
    try watch.write("f")
    manual.loseEvents()
    #expect(manual.takeEvents() == [.overflow])
    try watch.write("g")
    #expect(manual.takeEvents().count == 1)
    try manual.loseEvents {
      try watch.write("h")
      #expect(manual.takeEvents() == [])
    }
    #expect(manual.takeEvents() == [.overflow])
  }
}
