import Foundation
import FoundationCompatibility
import TestSupport
import Testing

private final class FolderPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  var observesUncoordinatedChanges: Bool { true }
  func presentedSubitemDidAppear(at url: URL) { note("\(url.path) appeared") }
  func presentedSubitemDidChange(at url: URL) { note("\(url.path) changed") }
}
private final class DeafPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func presentedSubitemDidAppear(at url: URL) { note("\(url.path) appeared") }
}

@Suite("Changes by strangers, under Apple's names", .blocking, .timeLimit(.minutes(4)))
struct StrangersTests {
  @Test("One write is one message, and a new file is one; the class or the process may opt out")
  func oneMessage() throws {
    try withSandbox { box in
      let file = try box.write("d/f")
      let (folder, deaf) = (FolderPresenter(box.url("d")), DeafPresenter(box.url("d")))
      for presenter in [folder, deaf] as [any NSFilePresenter] { NSFileCoordinator.addFilePresenter(presenter) }
      defer {
        for presenter in [folder, deaf] as [any NSFilePresenter] { NSFileCoordinator.removeFilePresenter(presenter) }
      }
      let handle = try FileHandle(forWritingTo: file)
      for _ in 1...3 { try handle.write(contentsOf: Data("text".utf8)) }
      try handle.close()
      #expect(folder.journal.wait(for: "\(file.path) changed"))
      let new = try box.write("d/new")
      #expect(folder.journal.wait(for: "\(new.path) appeared"))
      let atomic = box.url("d/atomic")
      try Data("text".utf8).write(to: atomic, options: .atomic)
      #expect(folder.journal.wait(for: "\(atomic.path) appeared"))
      // An atomic write may be seen before its end: its temporary file is a file then.
      let entries = folder.journal.entries.filter { !$0.contains(".dat.nosync") }
      // A writer that has to wait for the processor between two of its calls is reported again, but not more often than it writes.
      func count(_ message: String) -> Int { entries.count { $0 == message } }
      #expect((1...4).contains(count("\(file.path) changed")))
      #expect(count("\(new.path) appeared") == 1 && count("\(new.path) changed") <= 1)
      #expect(count("\(atomic.path) appeared") == 1 && count("\(atomic.path) changed") <= 1)
      #expect(
        Set(entries).isSubset(of: [file, new, atomic].flatMap { ["\($0.path) changed", "\($0.path) appeared"] }))
      #expect(count("\(file.path) appeared") == 0)
      #expect(deaf.journal.entries.isEmpty)
    }
  }

  @Test("A directory that's presented through a symbolic link is notified of changes in it by any program")
  func link() throws {
    try withSandbox { box in
      _ = try box.write("real/f")
      try FileManager.default.createSymbolicLink(at: box.url("link"), withDestinationURL: box.url("real"))
      let folder = FolderPresenter(box.url("link"))
      NSFileCoordinator.addFilePresenter(folder)
      defer { NSFileCoordinator.removeFilePresenter(folder) }
      #expect(Access.write.run(box.url("real/f")) { _ = try? Data("new".utf8).write(to: $0) } == nil)
      #expect(folder.journal.wait(for: "\(box.url("link/f").path) changed"))
      #expect(Access.write.run(box.url("link/new")) { _ = try? Data("new".utf8).write(to: $0) } == nil)
      #expect(folder.journal.wait(for: "\(box.url("link/new").path) appeared"))
      _ = try box.write("real/stranger")
      #expect(folder.journal.wait(for: "\(box.url("link/stranger").path) appeared"))
    }
  }
}
