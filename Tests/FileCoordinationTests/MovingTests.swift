import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Glibc
import SystemInterface
import Testing

@Suite("Moving", .timeLimit(.minutes(4)), .betweenProcesses)
struct MovingTests {
  @Test("C-090: Announcing /d/f → /d/g inside a write sends P did-move(/d/g)")
  func presenterIsTold() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.move("d/f", to: "d/g")
      #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [box.url("d/g").path])
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove])
    }
  }

  @Test(
    "C-090: A move is announced though a step after it fails; the error says that it's done, and what's left",
    arguments: [SystemCall.unlink, .synchronize], [true, false])
  func stepAfterMoveFails(call: SystemCall, isBlocking: Bool) async throws {
    let door = ScriptedFileSystem { $0.call == call ? .fail(EACCES) : .proceed }
    try await withSandbox(configure: { $0.fileSystem = door }) { box in
      try box.write("d/f", "moved")
      try box.write("e/f", "replaced")
      let presenter = try box.present("d/f")
      let error = await #expect(throws: FileCoordinationError.self) {
        let (from, to) = (box.url("d"), box.url("e"))
        if isBlocking {
          try await onThread { try box.coordinator("mover").blocking.move(from, to: to, replacing: true) }
        } else {
          try await box.coordinator("mover").move(from, to: to, replacing: true)
        }
      }
      #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [box.url("e/f").path])
      #expect(error?.code == .fileSystem && error?.systemError?.errno == EACCES && error?.isChangeInPlace == true)
      #expect(try box.text("e/f") == "moved")
      let leftover = try #require(error?.leftoverPath)
      #expect(error?.message.contains("'\(leftover)'") == true)
      #expect(try String(contentsOf: URL(filePath: leftover).appending(path: "f"), encoding: .utf8) == "replaced")
    }
  }

  @Test("A move that fails before it's done says so, and isn't announced")
  func moveFails() async throws {
    let door = ScriptedFileSystem { $0.call == .rename ? .fail(EACCES) : .proceed }
    try await withSandbox(configure: { $0.fileSystem = door }) { box in
      try box.write("f")
      let presenter = try box.present("f")
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("mover").move(box.url("f"), to: box.url("g"))
      }
      #expect(error?.isChangeInPlace == false && error?.leftoverPath == nil)
      try await box.quiesce()
      #expect(!presenter.callbacks.contains(.itemDidMove))
    }
  }

  /// If the process were killed when the original is gone, nobody could say where the item is.
  @Test(
    "C-090: A move to another volume is announced before the original goes, and back if that's refused",
    arguments: [true, false])
  func moveAcrossIsRefused(isBlocking: Bool) async throws {
    let door = ScriptedFileSystem { call in
      if call.call == .rename, call.paths == [SystemPath("f"), SystemPath("g")] { return .fail(EXDEV) }
      return call.call == .unlink && call.paths.first == SystemPath("f") ? .fail(EACCES) : .proceed
    }
    try await withSandbox(configure: { $0.fileSystem = door }) { box in
      try box.write("d/f", "text")
      let presenter = try box.present("d/f")
      let (from, to) = (box.url("d/f"), box.url("d/g"))
      let error = await #expect(throws: FileCoordinationError.self) {
        if isBlocking {
          try await onThread { try box.coordinator("mover").blocking.move(from, to: to) }
        } else {
          try await box.coordinator("mover").move(from, to: to)
        }
      }
      #expect(error?.systemError?.errno == EACCES && error?.isChangeInPlace == false)
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove, .itemDidMove])
      #expect(presenter.presentedItemURL?.path == from.path)
      #expect(try box.text("d/f") == "text" && !FileManager.default.fileExists(atPath: to.path))
    }
  }

  @Test("C-091: Moving directory d sends did-move with the matching URL to presenters of everything below")
  func everythingBelowIsTold() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenters = try ["d", "d/x", "d/x/f"].map { try box.present($0, as: $0) }
      try await box.move("d", to: "e")
      for (presenter, place) in zip(presenters, ["e", "e/x", "e/x/f"]) {
        #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [box.url(place).path])
      }
    }
  }

  @Test("C-092: Presenters of directories containing the item get subitem-did-move with both URLs")
  func containersAreTold() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenters = try ["d", "d/x"].map { try box.present($0, as: $0) }
      try await box.move("d/x/f", to: "d/x/g")
      for presenter in presenters {
        let message = try await presenter.wait(for: .subitemDidMove)
        #expect(message.urls.map(\.path) == [box.url("d/x/f").path, box.url("d/x/g").path])
      }
    }
  }

  @Test("C-093: A package presenter lacking subitem-did-move gets did-change")
  func packageFallback() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/f")
      let presenter = try box.present("k.pkg", as: "P", .itemDidChange)
      try await box.move("k.pkg/f", to: "k.pkg/g")
      try await box.quiesce()
      #expect(presenter.callbacks == [.itemDidChange])
    }
  }

  @Test("C-094: Moving out of a presented directory reports a new URL outside of it")
  func movingOut() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.makeDirectory("e")
      let (source, target) = (try box.present("d", as: "D"), try box.present("e", as: "E"))
      try await box.move("d/f", to: "e/f")
      try await box.quiesce()
      #expect(source.callbacks == [.subitemDidMove])
      #expect(source.messages[0].urls.map(\.path) == [box.url("d/f").path, box.url("e/f").path])
      #expect(target.callbacks == [.subitemDidAppear])
      #expect(target.messages[0].urls.map(\.path) == [box.url("e/f").path])
    }
  }

  @Test("C-095: The mover's own presenter gets none of these")
  func ownPresenterIsNotTold() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.move("d/f", to: "d/g", presenter: presenter)
      try await box.quiesce()
      #expect(presenter.messages.isEmpty)
      // It's followed all the same.
      #expect(try await box.domain.snapshot().presenter("P")?.path == box.url("d/g").path)
    }
  }

  @Test("C-096: A reader queued on /d/f when the mover announces /d/g is called with /d/g")
  func waiterFollows() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      var reader: Lane?
      try await box.move("d/f", to: "d/g") { reader = try await box.queue(.read("d/f"), as: "reader") }
      try await reader?.finish()
      #expect(reader?.paths == [box.url("d/g").path])
    }
  }

  @Test("C-097: A reader queued on d/x when d moved to e gets e/x")
  func waiterFollowsAncestor() async throws {
    try await withSandbox { box in
      try box.write("d/x")
      var reader: Lane?
      try await box.move("d", to: "e") { reader = try await box.queue(.read("d/x"), as: "reader") }
      try await reader?.finish()
      #expect(reader?.paths == [box.url("e/x").path])
    }
  }

  @Test("C-098, C-431: An intent's URL reflects the move inside the accessor, and the grant says so")
  func intentFollows() async throws {
    try await withSandbox { box in
      let intent = FileAccessIntent.reading(try box.write("d/f"))
      var request: Task<(String, String, Bool), any Error>?
      try await box.move("d/f", to: "d/g") {
        request = Task.detached {
          try await box.coordinator("request").coordinate([intent]) { set in
            (intent.url.path, set[0].url.path, set[0].wasMoved)
          }
        }
        try await box.domain.waitUntil { $0.isWaiting("request") }
      }
      let seen = try #require(try await request?.value)
      #expect(seen == (box.url("d/g").path, box.url("d/g").path, true))
    }
  }

  @Test("C-099: Later messages to P use its new location: a write of /d/g relinquishes P, one of /d/f doesn't")
  func presenterFollows() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.move("d/f", to: "d/g")
      try await box.quiesce()
      try await box.access(.write("d/f"), as: "old place")
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove])
      try await box.access(.write("d/g"), as: "new place")
      try await presenter.wait(for: .relinquishToWriter, count: 2)
    }
  }

  @Test("C-100: After a presented directory moved, its presenter still gets subitem messages")
  func directoryPresenterFollows() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d")
      try await box.move("d", to: "e")
      try await box.access(.write("e/f"), as: "writer")
      #expect(try await presenter.wait(for: .subitemDidChange).urls.map(\.path) == [box.url("e/f").path])
    }
  }

  @Test("C-101: Announcing a move to the same URL has no effect")
  func sameURL() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let (presenter, container) = (try box.present("d/f"), try box.present("d", as: "D"))
      try await box.coordinator("mover").write(url, options: .forMoving) { try $0.didMove(to: url) }
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
      #expect(container.callbacks == [.subitemDidChange])
    }
  }

  @Test("C-102: Announcing a move that no write of this access covers is refused")
  func uncoveredMove() async throws {
    try await withSandbox { box in
      let (url, other) = (try box.write("d/f"), try box.write("d/other"))
      let coordinator = box.coordinator("mover")
      var error = await #expect(throws: FileCoordinationError.self) {
        try await coordinator.read(url) { try $0.didMove(to: box.url("d/g")) }
      }
      #expect(error?.code == .moveNotCovered)
      error = await #expect(throws: FileCoordinationError.self) {
        try await coordinator.write(other) { try $0.didMove(itemAt: url, to: box.url("d/g")) }
      }
      #expect(error?.code == .moveNotCovered)
      // Covering the new place is enough.
      try await coordinator.write(box.url("d/g")) { try $0.didMove(itemAt: url, to: box.url("d/g")) }
    }
  }

  @Test("C-103: willMove sends no message and needs no matching didMove if the rename failed")
  func willMove() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      try await box.coordinator("mover").write(url, options: .forMoving) { access in
        try access.willMove(to: box.url("d/g"))
        try await box.quiesce()
        #expect(presenter.callbacks == [.relinquishToWriter])
      }
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidChange])
      #expect(try await box.domain.snapshot().presenter("P")?.path == url.path)
    }
  }

  @Test("C-104: A case-only rename delivers the requested spelling as destination")
  func caseOnlyRename() async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("d/name"), box.url("d/Name"))
      let presenter = try box.present("d/name")
      try await box.coordinator("mover").write(old, options: .forMoving, and: new, secondOptions: .forReplacing) {
        #expect($0.url.path == old.path)
        #expect($1.url.path == new.path)
        try FileManager.default.moveItem(atPath: $0.url.path, toPath: $1.url.path)
        try $0.didMove(to: $1.url)
      }
      #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [new.path])
    }
  }

  @Test("C-105: .forMoving a directory sends everything inside relinquish, and neither save nor accommodate")
  func movingDirectoryAsks() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenters = try ["d", "d/x/f"].map { try box.present($0, as: $0) }
      let mover = try await box.hold(.write("d", .forMoving), as: "mover")
      for presenter in presenters { #expect(presenter.callbacks == [.relinquishToWriter]) }
      try await mover.finish()
    }
  }

  @Test("C-106: A presenter may get did-move without a relinquish before it")
  func moveWithoutRelinquish() async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("d/f"), box.url("d/g"))
      let presenter = try box.present("d/f")
      try await box.coordinator("mover").write(new) { access in
        try box.rename("d/f", to: "d/g")
        try access.didMove(itemAt: old, to: new)
      }
      try await box.quiesce()
      #expect(presenter.callbacks == [.itemDidMove])
    }
  }

  @Test("C-107: In the recommended move, the presenter of the overwritten item accommodates, that of the source not")
  func recommendedMove() async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("d/f", "source"), try box.write("d/g", "target"))
      let (source, target) = (try box.present("d/f", as: "source"), try box.present("d/g", as: "target"))
      try await box.coordinator("mover").write(old, options: .forMoving, and: new, secondOptions: .forReplacing) {
        #expect(source.callbacks == [.relinquishToWriter])
        #expect(target.callbacks == [.relinquishToWriter, .accommodateDeletion])
        try FileManager.default.removeItem(at: $1.url)
        try FileManager.default.moveItem(at: $0.url, to: $1.url)
        try $0.didMove(to: $1.url)
      }
      try await box.quiesce()
      #expect(source.callbacks == [.relinquishToWriter, .itemDidMove])
    }
  }

  @Test("C-425: A move that nobody announced is announced when the access ends", arguments: [true, false])
  func forgottenAnnouncement(isDeclared: Bool) async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("d/f"), box.url("d/g"))
      let presenter = try box.present("d/f")
      let mover = box.coordinator("mover")
      if isDeclared {
        try await mover.write(old, options: .forMoving) {
          try $0.willMove(to: new)
          try box.rename("d/f", to: "d/g")
        }
      } else {
        try await mover.write(old, options: .forMoving, and: new, secondOptions: .forReplacing) { _, _ in
          try box.rename("d/f", to: "d/g")
        }
      }
      #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [new.path])
      try await box.quiesce()
      #expect(presenter.callbacks == [.relinquishToWriter, .itemDidMove])
    }
  }

  @Test("C-424: Presenters and accessors see the spelling that they used, also after a move")
  func spelling() async throws {
    try await withSandbox { box in
      try box.write("real/d/f")
      try FileManager.default.createSymbolicLink(
        atPath: box.url("link").path, withDestinationPath: box.url("real").path)
      let presenter = try box.present("link/d/f")
      let container = try box.present("link", as: "D")
      var reader: Lane?
      try await box.move("real/d/f", to: "real/d/g") { reader = try await box.queue(.read("link/d/f"), as: "reader") }
      try await reader?.finish()
      #expect(reader?.paths == [box.url("link/d/g").path])
      #expect(try await presenter.wait(for: .itemDidMove).urls.map(\.path) == [box.url("link/d/g").path])
      // A presented link to a directory is that directory, in its own spelling.
      #expect(
        try await container.wait(for: .subitemDidMove).urls.map(\.path)
          == ["link/d/f", "link/d/g"].map { box.url($0).path })
    }
  }

  @Test(
    "C-424: Names come through as they are",
    arguments: ["ü mlaut", "100%", "a#b?c;d", "e\u{301}", "new\nline", ".hidden", "🗂️", "a\\b"])
  func names(name: String) async throws {
    try await withSandbox { box in
      let url = try box.write("d/\(name)/f")
      let presenter = try box.present("d/\(name)")
      let text = try await box.coordinator("reader").read(url) { try box.text(at: $0.url) }
      #expect(text == "old")
      try await box.move("d/\(name)/f", to: "d/\(name)/\(name)")
      let message = try await presenter.wait(for: .subitemDidMove)
      #expect(message.urls.map(\.path) == [url.path, box.url("d/\(name)/\(name)").path])
    }
  }

  @Test("C-424: A trailing slash makes no difference")
  func trailingSlash() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = RecordingPresenter(URL(filePath: box.url("d").path, directoryHint: .isDirectory))
      try box.register(presenter)
      try await box.access(.write("d/f"), as: "writer")
      #expect(try await presenter.wait(for: .subitemDidChange).urls.map(\.path) == [box.url("d/f").path])
    }
    try await withSandbox { box in
      try box.write("d/f")
      try await box.expect(.write("d/", .forDeleting), waitsFor: .read("d/f"))
    }
  }

  @Test("C-305: Symbolic links in the middle of a path are always resolved")
  func linksInTheMiddle() async throws {
    try await withSandbox { box in
      try box.write("real/d/f")
      try FileManager.default.createSymbolicLink(
        atPath: box.url("link").path, withDestinationPath: box.url("real").path)
      try await box.expect(.write("link/d/f"), waitsFor: .read("real/d/f"))
    }
  }

  @Test(
    "C-305: contents(of:) a symbolic link waits for a writer of the file that it leads to", arguments: [false, true])
  func contentsOfLink(blocks: Bool) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try FileManager.default.createSymbolicLink(
        atPath: box.url("link").path, withDestinationPath: box.url("d/f").path)
      let writer = try await box.hold(.write("d/f"), as: "writer")
      let reader = Task.detached {
        let coordinator = box.coordinator("reader")
        if blocks { return try await onThread { try coordinator.blocking.contents(of: box.url("link")) } }
        return try await coordinator.contents(of: box.url("link"))
      }
      try await box.domain.waitUntil { $0.isWaiting("reader") }
      try await writer.finish()
      #expect(try await reader.value == Data("old".utf8))
    }
  }

  @Test("C-306: Two hard links are two items")
  func hardLinks() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try FileManager.default.linkItem(at: box.url("d/f"), to: box.url("d/g"))
      try await box.expect(.write("d/f"), overlaps: .write("d/g"))
    }
  }
}
