import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Conformance under Apple's names: deleting", .blocking, .timeLimit(.minutes(4)))
struct DeletionConformanceTests {
  @Test(
    "C-071 to C-074: Presenters are asked to accommodate as the table says",
    arguments: [NSFileCoordinator.WritingOptions.forDeleting, .forReplacing])
  func accommodating(options: NSFileCoordinator.WritingOptions) throws {
    try withSandbox { box in
      let url = try box.write("d/k.pkg/e/f")
      let presenters = ["d", "d/k.pkg", "d/k.pkg/e", "d/k.pkg/e/f"].map { HandlerPresenter(box.url($0)) }
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      defer { for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) } }
      var heard: [[String]] = []
      #expect(
        Access.write(options).run(url.deletingLastPathComponent()) { _ in heard = presenters.map(\.journal.entries) }
          == nil)
      let asked = "relinquish to writer"
      #expect(heard == [["deletion of e"], [asked, "deletion of e"], [asked, "deletion"], [asked, "deletion"]])
    }
  }

  @Test(
    "C-075, C-077: A presenter that refuses to accommodate keeps the item",
    arguments: [NSFileCoordinator.WritingOptions.forDeleting, .forReplacing])
  func refusing(options: NSFileCoordinator.WritingOptions) throws {
    try withSandbox { box in
      let url = try box.write("f")
      box.presenting(AsyncPresenter(url)) {
        let error = Access.write(options).run(url) { _ in Issue.record("granted") }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteNoPermission)
      }
    }
  }

  @Test("C-076: A deletion in a write without options asks nobody to accommodate")
  func plainWrite() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      box.presenting(presenter) { Access.write.run(url) { try? FileManager.default.removeItem(at: $0) } }
      #expect(presenter.journal.entries == ["relinquish to writer", "changed", "reacquire"])
    }
  }

  @Test("C-078: To put something where nothing is asks nobody")
  func emptyPlace() throws {
    try withSandbox { box in
      _ = try box.write("d/f")
      let (directory, neighbour) = (HandlerPresenter(box.url("d")), HandlerPresenter(box.url("d/f")))
      var heard: [String]?
      box.presenting(directory, neighbour) {
        Access.write(.forReplacing).run(box.url("d/new")) { _ in
          heard = directory.journal.entries + neighbour.journal.entries
        }
      }
      #expect(heard == [])
    }
  }

  @Test("C-079 to C-081: When the item moves away, who replaces stays, and who deletes follows")
  func movedAway() throws {
    for (options, path, asked) in [
      (NSFileCoordinator.WritingOptions.forReplacing, "d/f", 0), (.forDeleting, "d/g", 1),
    ] {
      try withSandbox { box in
        _ = try box.write("d/f")
        let (presenter, journal) = (HandlerPresenter(box.url("d/f")), Journal())
        var worker: Worker?
        box.presenting(presenter) {
          box.move("d/f", to: "d/g") { worker = box.waiter(.write(options), "d/f", journal) }
          #expect(worker?.join() == true)
        }
        #expect(journal.entries == [path])
        #expect(presenter.journal.count(of: "deletion") == asked)
      }
    }
  }
}

@Suite("Conformance under Apple's names: moving", .blocking, .timeLimit(.minutes(4)))
struct MoveConformanceTests {
  @Test("C-090 to C-092, C-095, C-106: A moved directory is announced to all inside and around, not to the mover's own")
  func directory() throws {
    try withSandbox { box in
      _ = try box.write("a/d/x/f")
      let presenters = ["a", "a/d", "a/d/x/f"].map { HandlerPresenter(box.url($0)) }
      let own = HandlerPresenter(box.url("a/d"))
      box.presenting(presenters[0], presenters[1], presenters[2], own) {
        box.move("a/d", to: "a/e", by: NSFileCoordinator(filePresenter: own))
      }
      #expect(presenters[0].journal.entries == ["d moved to e"])
      #expect(presenters[1].journal.entries == ["relinquish to writer", "moved to e", "reacquire"])
      #expect(presenters[2].journal.entries == ["relinquish to writer", "moved to f", "reacquire"])
      #expect(presenters[2].presentedItemURL == box.url("a/e/x/f"))
      #expect(own.journal.entries.isEmpty)
    }
  }

  @Test("C-093: A package without the method for moves is told that it changed")
  func package() throws {
    try withSandbox { box in
      _ = try box.write("k.pkg/f")
      let presenter = PlainPresenter(box.url("k.pkg"))
      box.presenting(presenter) {
        // The class is tried once for the methods that it hasn't implemented.
        for (old, new) in [("k.pkg/f", "k.pkg/g"), ("k.pkg/g", "k.pkg/h")] { box.move(old, to: new) }
      }
      #expect(presenter.journal.entries == ["changed", "changed"])
    }
  }

  @Test("C-094: From a directory to another: one hears of the move, the other that it appeared")
  func movingOut() throws {
    try withSandbox { box in
      for name in ["d/f", "e/g"] { _ = try box.write(name) }
      let (source, target) = (HandlerPresenter(box.url("d")), HandlerPresenter(box.url("e")))
      box.presenting(source, target) { box.move("d/f", to: "e/h") }
      #expect(source.journal.entries == ["f moved to h"])
      #expect(target.journal.entries == ["h appeared"])
    }
  }

  @Test("C-096, C-097: An access that waits for the item, or for an item in it, gets it where it's now")
  func waiters() throws {
    try withSandbox { box in
      _ = try box.write("d/x")
      let journal = Journal()
      var workers: [Worker] = []
      box.move("d/x", to: "d/y") { workers.append(box.waiter(.read, "d/x", journal)) }
      #expect(workers[0].join())
      box.move("d", to: "e") { workers.append(box.waiter(.write, "d/y", journal)) }
      #expect(workers[1].join())
      #expect(journal.entries == ["d/y", "e/y"])
    }
  }

  @Test("C-099, C-100: Presenters are asked where they are now, and directories hear of what's in them there")
  func presenters() throws {
    try withSandbox { box in
      _ = try box.write("d/f")
      let (directory, item) = (HandlerPresenter(box.url("d")), HandlerPresenter(box.url("d/f")))
      box.presenting(directory, item) {
        box.move("d", to: "e")
        box.quiesce()
        Access.write.run(box.url("d/f"))
        Access.write.run(box.url("e/f"))
      }
      #expect(item.journal.count(of: "relinquish to writer") == 2)
      #expect(directory.journal.entries.suffix(1) == ["f changed"])
      #expect(directory.journal.count(of: "f changed") == 1)
    }
  }

  @Test("C-101, C-103: A move to where it is, and one that was only planned, are none")
  func noMove() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let presenter = HandlerPresenter(url)
      let mover = NSFileCoordinator()
      box.presenting(presenter) {
        Access.write(.forMoving).run(by: mover, url) {
          mover.item(at: $0, willMoveTo: box.url("d/g"))
          mover.item(at: $0, didMoveTo: $0)
        }
      }
      #expect(presenter.journal.entries == ["relinquish to writer", "changed", "reacquire"])
    }
  }

  @Test("C-102: A move that's announced while only reading, or writing something else, is reported and told to nobody")
  func uncoveredMoves() throws {
    try withSandbox { box in
      let (url, other) = (try box.write("f"), try box.write("other"))
      let (presenter, directory) = (HandlerPresenter(url), HandlerPresenter(box.root))
      let mover = NSFileCoordinator()
      box.presenting(presenter, directory) {
        Access.read(.withoutChanges).run(by: mover, url) { mover.item(at: $0, didMoveTo: box.url("g")) }
        Access.write.run(by: mover, other) { _ in mover.item(at: url, didMoveTo: box.url("g")) }
      }
      #expect(Sandbox.misuse.entries.count { $0.contains(url.path) && $0.contains("didMoveTo") } == 2)
      #expect(presenter.journal.entries == ["relinquish to reader", "reacquire"])
      #expect(directory.journal.entries == ["other changed"])
      // To write the new place is enough.
      box.presenting(presenter) {
        Access.write.run(by: mover, box.url("g")) { new in
          #expect((try? FileManager.default.moveItem(at: url, to: new)) != nil)
          mover.item(at: url, didMoveTo: new)
        }
      }
      #expect(presenter.journal.count(of: "moved to g") == 1)
      #expect(Sandbox.misuse.entries.count { $0.contains(url.path) && $0.contains("didMoveTo") } == 2)
    }
  }

  @Test("C-104: A name whose case changes arrives as it was asked for")
  func spelling() throws {
    try withSandbox { box in
      _ = try box.write("d/name")
      let presenter = HandlerPresenter(box.url("d/name"))
      box.presenting(presenter) { box.move("d/name", to: "d/NAME") }
      #expect(presenter.journal.entries == ["relinquish to writer", "moved to NAME", "reacquire"])
    }
  }

  @Test("C-105, C-107: Of two files in a move, what's overwritten accommodates, what's moved neither saves nor does")
  func overwriting() throws {
    try withSandbox { box in
      let (source, target) = (HandlerPresenter(try box.write("d/f")), ClosingPresenter(try box.write("d/g")))
      box.presenting(source, target) {
        let mover = NSFileCoordinator()
        mover.coordinate(
          writingItemAt: box.url("d/f"), options: .forMoving, writingItemAt: box.url("d/g"), options: .forReplacing,
          error: nil
        ) {
          _ = try? FileManager.default.removeItem(at: $1)
          _ = try? FileManager.default.moveItem(at: $0, to: $1)
          mover.item(at: $0, didMoveTo: $1)
        }
      }
      #expect(source.journal.entries == ["relinquish to writer", "moved to g", "reacquire"])
      #expect(target.journal.entries == ["deletion"])
    }
  }
}

private final class PlainPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedItemDidChange() { note("changed") }
}

/// Closes when its item is to vanish.
private final class ClosingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    note("deletion")
    NSFileCoordinator.removeFilePresenter(self)
    completionHandler(nil)
  }
}
