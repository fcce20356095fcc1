import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

@Suite("Uncoordinated changes of an item", .serialized, .timeLimit(.minutes(4)), .betweenProcesses)
struct UncoordinatedChangesTests {
  @Test("C-200: A stranger's write is told as did-change, marked, without relinquish")
  func write() async throws {
    try await withSandbox { box in
      try box.write("f")
      let presenter = try box.observe("f")
      try box.scribble("f")
      let message = try await presenter.wait(for: .itemDidChange)
      #expect(message.origin.kind == .uncoordinated)
      #expect(!message.origin.isCoordinated)
      #expect(message.origin.processIdentifier == 0)
      #expect(message.origin.isVerified == true)
      #expect("\(message.origin)" == "uncoordinated")
      try await box.settle(presenter)
      #expect(Set(presenter.callbacks) == [.itemDidChange])
    }
  }

  @Test("C-201: A presenter that doesn't ask for changes by strangers isn't notified of them")
  func notAskedFor() async throws {
    try await withSandbox { box in
      try box.write("f")
      let silent = try box.present("f", as: "silent")
      let presenter = try box.observe("f")
      try box.scribble("f")
      try await presenter.wait(for: .itemDidChange)
      try await box.settle(presenter)
      #expect(silent.callbacks == [])
    }
  }

  @Test("C-200: A file that's replaced again and again changes each time and doesn't move")
  func atomicReplace() async throws {
    try await withSandbox { box in
      try box.write("f")
      let presenter = try box.observe("f")
      for round in 1...3 {
        let count = presenter.messages.count
        try box.replace("f", "round \(round)")
        try await presenter.waitUntil { $0.count > count }
        try await box.settle(presenter)
      }
      #expect(Set(presenter.callbacks) == [.itemDidChange])
    }
  }

  @Test("C-200: Changes of attributes are changes, also through another hard link")
  func attributesAndLinks() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.makeDirectory("e")
      try FileManager.default.linkItem(atPath: box.url("d/f").path, toPath: box.url("e/f").path)
      let presenter = try box.observe("d/f")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: box.url("d/f").path)
      try await presenter.wait(for: .itemDidChange)
      try await box.settle(presenter)
      let count = presenter.messages.count
      try box.scribble("e/f")
      try await presenter.waitUntil { $0.count > count }
    }
  }

  @Test("C-200: A file that's moved is followed, also to where nobody watches", arguments: ["d/g", "e/g"])
  func followedMove(destination: String) async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try box.makeDirectory("e")
      let presenter = try box.observe("d/f")
      try box.rename("d/f", to: destination)
      try await box.settle(presenter)
      let message = try await presenter.wait(for: .itemDidMove)
      #expect(message.urls == [box.url(destination)])
      #expect(message.origin.kind == .uncoordinated)
      try await box.settle(presenter)
      try box.scribble(destination)
      try await presenter.wait(for: .itemDidChange)
      // A coordinator at the new place finds the presenter there.
      try await box.coordinator("writer").write(box.url(destination)) { _ in }
      #expect(presenter.callbacks.contains(.relinquishToWriter))
    }
  }

  @Test("C-200: A file is followed when a directory further up is moved")
  func movedAncestor() async throws {
    try await withSandbox { box in
      try box.write("a/b/c/f")
      let presenter = try box.observe("a/b/c/f")
      try box.rename("a", to: "z")
      try await box.settle(presenter)
      #expect(try await presenter.wait(for: .itemDidMove).urls == [box.url("z/b/c/f")])
    }
  }

  @Test("C-200: A file that's deleted and made again changes twice")
  func deletion() async throws {
    try await withSandbox { box in
      try box.write("f")
      let presenter = try box.observe("f")
      try box.remove("f")
      try await presenter.wait(for: .itemDidChange)
      try await box.settle(presenter)
      let count = presenter.messages.count
      try box.scribble("f")
      try await presenter.waitUntil { $0.count > count }
      try await box.settle(presenter)
      #expect(Set(presenter.callbacks) == [.itemDidChange])
    }
  }

  @Test("C-200: A file is awaited whose directories don't exist yet")
  func appearance() async throws {
    try await withSandbox { box in
      let presenter = try box.observe("a/b/f")
      try box.write("a/b/f")
      try await presenter.wait(for: .itemDidChange)
    }
  }

  @Test("C-200: A coordinated write is told once, and not as a stranger's")
  func coordinatedWrite() async throws {
    try await withSandbox { box in
      let url = try box.write("f")
      let presenter = try box.observe("f")
      let writer = box.coordinator("writer")
      for _ in 0..<5 { try await writer.replaceContents(of: url, with: Data("new".utf8)) }
      try await writer.write(url) { try Data("in place".utf8).write(to: $0.url) }
      try await box.settle(presenter)
      #expect(presenter.messages.filter { !$0.origin.isCoordinated } == [])
      #expect(presenter.callbacks.count { $0 == .itemDidChange } == 6)
    }
  }

  @Test("C-200: A presenter isn't notified of its own writes")
  func ownWrites() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.observe("d/f")
      let directory = try box.observe("d", as: "D")
      let coordinator = box.coordinator("own", presenter: presenter)
      for _ in 0..<5 { try await coordinator.replaceContents(of: url, with: Data("own".utf8)) }
      try await box.settle(presenter, directory)
      #expect(presenter.messages == [])
      #expect(directory.messages.filter { !$0.origin.isCoordinated } == [])
    }
  }

  @Test("C-200: A coordinated move or deletion is told once, and not as a stranger's")
  func coordinatedMove() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.observe("d/f")
      let directory = try box.observe("d", as: "D")
      try await box.move("d/f", to: "d/g")
      try await box.settle(presenter, directory)
      try await box.coordinator("deleter").delete(box.url("d/g"))
      try await box.settle(presenter, directory)
      #expect((presenter.messages + directory.messages).filter { !$0.origin.isCoordinated } == [])
      #expect(presenter.callbacks.filter { $0 == .itemDidMove } == [.itemDidMove])
      #expect(directory.summary(in: box).contains("subitemDidMove d/f d/g"))
    }
  }
}

@Suite("Uncoordinated changes inside a directory", .serialized, .timeLimit(.minutes(4)), .betweenProcesses)
struct UncoordinatedChangesInsideTests {
  @Test("C-200: Changes by strangers at any depth are reported")
  func inside() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let presenter = try box.observe("d")
      try box.scribble("d/x/f")
      try await presenter.wait(for: .subitemDidChange)
      try box.scribble("d/x/g")
      try await presenter.wait(for: .subitemDidAppear)
      try await box.settle(presenter)
      try box.rename("d/x/g", to: "d/h")
      try await box.settle(presenter)
      try await presenter.wait(for: .subitemDidMove)
      let count = presenter.messages.count
      try box.remove("d/h")
      try await presenter.waitUntil { $0.count > count }
      let summary = presenter.summary(in: box)
      #expect(summary.first == "subitemDidChange d/x/f*")
      #expect(summary.contains("subitemDidAppear d/x/g*"))
      #expect(summary.contains("subitemDidMove d/x/g d/h*"))
      #expect(summary.last == "subitemDidChange d/h*")
      #expect(!presenter.callbacks.contains(.itemDidChange))
    }
  }

  @Test("C-200: Everything in a directory that was just made is seen (L1)")
  func newDirectories() async throws {
    try await withSandbox { box in
      try box.makeDirectory("d")
      let presenter = try box.observe("d")
      for number in 0..<20 { try box.write("d/\(number)/b/c/f") }
      try await presenter.waitUntil { messages in
        let told = Set(messages.filter { $0.callback == .subitemDidAppear }.flatMap(\.urls).map(\.path))
        return (0..<20).allSatisfy { told.contains(box.url("d/\($0)/b/c/f").path) }
      }
    }
  }

  @Test("C-056: A package that declares nothing about subitems has changed as a whole")
  func package() async throws {
    try await withSandbox { box in
      try box.write("k.pkg/x/f")
      let presenter = try box.observe("k.pkg", as: "P", .itemDidChange)
      try box.scribble("k.pkg/x/f")
      let message = try await presenter.wait(for: .itemDidChange)
      #expect(message.origin.kind == .uncoordinated)
    }
  }

  @Test("C-200: Temporary files of coordinated writes aren't told, what stays beside them is")
  func temporaryFiles() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.observe("d")
      let domain = box.domain(of: presenter)
      try await box.coordinator("writer").write(url) { _ in
        try box.scribble("d/f.tmp")
        domain.readUncoordinatedChanges()
        _ = try await domain.snapshot()
        try box.renameOver("d/f.tmp", "d/f")
        try box.scribble("d/left")
        domain.readUncoordinatedChanges()
      }
      try await box.settle(presenter)
      try await presenter.wait(for: .subitemDidAppear)
      #expect(
        presenter.summary(in: box).filter { !$0.contains("d/left") } == ["subitemDidChange d/f"])
      #expect(presenter.summary(in: box).contains("subitemDidAppear d/left*"))
    }
  }

  @Test("C-200: A directory that's moved takes its presenters along, and what's inside is still seen")
  func movedDirectory() async throws {
    try await withSandbox { box in
      try box.write("d/x/f")
      let directory = try box.observe("d", as: "D")
      let file = try box.observe("d/x/f", as: "F")
      try box.rename("d", to: "e")
      try await box.settle(directory, file)
      #expect(try await directory.wait(for: .itemDidMove).urls == [box.url("e")])
      #expect(try await file.wait(for: .itemDidMove).urls == [box.url("e/x/f")])
      try await box.settle(directory, file)
      try box.scribble("e/x/f")
      try await file.wait(for: .itemDidChange)
      try await directory.waitUntil { _ in directory.summary(in: box).contains("subitemDidChange e/x/f*") }
    }
  }
}

@Suite("Uncoordinated changes, by the clock", .serialized, .timeLimit(.minutes(4)))
struct UncoordinatedChangesByClockTests {
  @Test("C-200: A file that's moved away and made anew has changed (vim with 'backupcopy=no')")
  func backup() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      let presenter = try box.present("d/f", observesStrangers: true)
      try box.rename("d/f", to: "d/f~")
      // So late that the move has been seen for itself.
      box.domain.readUncoordinatedChanges()
      box.domain.readUncoordinatedChanges()
      // For the move, and for others that may cross it.
      #expect(box.clock.scheduledCount == 2)
      try box.scribble("d/f")
      try box.remove("d/f~")
      try await box.settle(presenter)
      #expect(Set(presenter.summary(in: box)) == ["itemDidChange*"])
      let count = presenter.messages.count
      box.letChangesSettle()
      try box.scribble("d/f")
      try await presenter.waitUntil { $0.count > count }
    }
  }

  @Test("C-200: Messages that wait already aren't told again")
  func coalescing() async throws {
    try await withSandbox { box in
      try box.write("f")
      let presenter = try box.present("f", observesStrangers: true)
      let gate = presenter.hold(.itemDidChange)
      // Each change has been left alone for long enough, and so is reported, before the next one.
      func change() throws {
        try box.scribble("f")
        box.domain.readUncoordinatedChanges()
        while box.clock.scheduledCount > 0 {
          box.clock.advance(by: .milliseconds(100))
          box.domain.readUncoordinatedChanges()
        }
      }
      try change()
      try await presenter.wait(for: .itemDidChange)
      for _ in 0..<10 { try change() }
      gate.open()
      try await box.settle(presenter)
      #expect(presenter.callbacks == [.itemDidChange, .itemDidChange])
    }
  }

  @Test("C-201: A snapshot says who observes strangers, and nothing is watched any more when nobody does")
  func snapshot() async throws {
    try await withSandbox { box in
      let url = try box.write("f")
      let presenter = RecordingPresenter(url, observesUncoordinatedChanges: true)
      let registration = try await box.domain.register(presenter)
      #expect(try await box.domain.snapshot().presenters.map(\.observesUncoordinatedChanges) == [true])
      #expect(try await box.domain.snapshot().presenters.map(\.callbacks) == [.all])
      #expect(registration.uncoordinatedChangesProblem == nil)
      registration.end()
      try box.scribble("f")
      box.domain.readUncoordinatedChanges()
      try await box.quiesce()
      #expect(presenter.messages == [])
    }
  }
}
