import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// The order in which accesses wait (C-001…C-018), in a sandbox with `d/f`, `d/g`, `d/x/f`, `k.pkg/a`, `k.pkg/b` and a
/// package in another.
struct ClaimRow: Sendable, CustomTestStringConvertible {
  let rule: String
  let held: Access
  let heldPath: String
  let asked: Access
  let askedPath: String
  let waits: Bool

  init(_ rule: String, _ held: Access, _ heldPath: String, _ asked: Access, _ askedPath: String, waits: Bool) {
    (self.rule, self.held, self.heldPath) = (rule, held, heldPath)
    (self.asked, self.askedPath, self.waits) = (asked, askedPath, waits)
  }

  var testDescription: String { "\(rule): \(held) \(heldPath), \(asked) \(askedPath)" }

  static let all: [ClaimRow] = [
    ClaimRow("C-001", .read, "d/f", .read, "d/f", waits: false),
    ClaimRow("C-002", .read, "d/f", .write, "d/f", waits: true),
    ClaimRow("C-003", .write, "d/f", .read, "d/f", waits: true),
    ClaimRow("C-004", .write, "d/f", .write, "d/f", waits: true),
    ClaimRow("C-005", .write, "d/f", .write, "d/g", waits: false),
    ClaimRow("C-006", .read, "k.pkg/b", .write, "k.pkg/a", waits: true),
    ClaimRow("C-007", .read, "k.pkg/b", .read, "k.pkg/a", waits: false),
    ClaimRow("C-008", .write, "k.pkg/x/y", .write, "k.pkg", waits: true),
    ClaimRow("C-009", .write, "o.pkg/i.pkg/a", .write, "o.pkg/b", waits: true),
    ClaimRow("C-010", .write, "d/f", .read, "d", waits: false),
    ClaimRow("C-010", .read, "d", .write, "d/f", waits: false),
    ClaimRow("C-011", .write(.forDeleting), "d/f", .read, "d", waits: false),
    ClaimRow("C-012", .read, "d/f", .write, "d", waits: false),
    ClaimRow("C-012", .write, "d", .write, "d/f", waits: false),
    ClaimRow("C-013", .read, "d/x/f", .write(.forDeleting), "d", waits: true),
    ClaimRow("C-014", .write, "d/x/f", .write(.forMoving), "d", waits: true),
    ClaimRow("C-015", .read, "d/x/f", .write(.forReplacing), "d", waits: true),
    ClaimRow("C-015", .write, "d/f", .write(.forReplacing), "d", waits: true),
    ClaimRow("C-016", .write(.forMoving), "d", .read, "d/f", waits: true),
    ClaimRow("C-017", .read, "d/f", .write(.forMoving), "d/f", waits: true),
    ClaimRow("C-017", .write(.forMoving), "d/f", .write, "d/g", waits: false),
    ClaimRow("C-018", .write(.forMerging), "d", .write, "d/f", waits: false),
    ClaimRow("C-018", .write(.contentIndependentMetadataOnly), "d", .write, "d/f", waits: false),
    ClaimRow("C-021", .write, "d/none", .write, "d/none", waits: true),
    ClaimRow("C-042", .write, "d/f", .read(.immediatelyAvailableMetadataOnly), "d/f", waits: true),
    ClaimRow("C-047", .read(.forUploading), "d/f", .write, "d/f", waits: false),
  ]
}

@Suite("Conformance under Apple's names: claims", .blocking, .timeLimit(.minutes(4)))
struct ClaimConformanceTests {
  @Test("C-001 to C-021: Accesses wait for each other as the table says", arguments: ClaimRow.all)
  func row(_ row: ClaimRow) throws {
    try withSandbox { box in
      for name in ["d/f", "d/g", "d/x/f", "k.pkg/a", "k.pkg/b", "k.pkg/x/y", "o.pkg/i.pkg/a", "o.pkg/b"] {
        _ = try box.write(name)
      }
      let journal = Journal()
      var worker: Worker?
      row.held.run(box.url(row.heldPath)) { _ in
        if row.waits {
          worker = box.waiter(row.asked, row.askedPath, journal)
          #expect(journal.entries.isEmpty)
        } else {
          worker = box.worker(row.asked, row.askedPath, journal)
          // Later than this there would be no access to wait for.
          if case .read(.forUploading) = row.asked { return }
          #expect(journal.wait { !$0.isEmpty })
        }
      }
      #expect(worker?.join() == true)
      #expect(journal.entries.count == 1)
    }
  }

  @Test("C-019, C-020: A reader that comes after a waiting writer doesn't overtake it")
  func order() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      var workers: [Worker] = []
      Access.read.run(url) { _ in
        workers.append(
          Worker {
            Access.write.run(url) { _ in
              journal.note("write")
              // The reader would be in here as well.
              #expect(journal.entries == ["write"])
            }
          })
        box.awaitWait(for: url)
        workers.append(Worker { Access.read.run(url) { _ in journal.note("read") } })
        box.awaitWaits(for: url, count: 2)
      }
      for worker in workers { #expect(worker.join()) }
      #expect(journal.entries == ["write", "read"])
    }
  }

  @Test("C-016: While a .forMoving write of d is queued, a later read of d/f waits for it")
  func queuedMover() throws {
    // other   [----]
    // mover     w··[--]
    // reader      r···[--]      // not in the way of `other`, but behind the queued mover
    try withSandbox { box in
      _ = try box.write("d/f")
      let other = try box.write("d/g")
      let journal = Journal()
      var workers: [Worker] = []
      Access.read.run(other) { _ in
        workers.append(box.waiter(.write(.forMoving), "d", journal))
        workers.append(box.waiter(.read, "d/f", journal))
        journal.note("d/g")
      }
      for worker in workers { #expect(worker.join()) }
      #expect(workers.count == 2 && journal.entries == ["d/g", "d", "d/f"])
    }
  }

  @Test("C-022: The claim ends when the accessor returns, not when work it began ends")
  func end() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (begun, goOn) = (Journal(), DispatchSemaphore(value: 0))
      var worker: Worker?
      Access.write.run(url) { _ in
        worker = Worker {
          begun.note("begun")
          goOn.wait()
        }
        begun.wait(for: "begun")
      }
      var isWritten = false
      Access.write.run(url) { _ in isWritten = true }
      goOn.signal()
      #expect(isWritten && worker?.join() == true)
    }
  }

  @Test("C-023, C-152: Intents of one request never block each other, and all are held until the accessor returns")
  func intents() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let (journal, queue) = (Journal(), serialQueue())
      let intents = [
        NSFileAccessIntent.writingIntent(with: url), .readingIntent(with: url),
        .writingIntent(with: box.url("d"), options: .forMoving),
      ]
      NSFileCoordinator().coordinate(with: intents, queue: queue) { error in
        #expect(error == nil)
        _ = box.waiter(.read, "d/f", journal)
        #expect(journal.entries.isEmpty)
        journal.note("accessor")
      }
      #expect(journal.wait(for: "d/f"))
      queue.waitUntilAllOperationsAreFinished()
      #expect(journal.entries == ["accessor", "d/f"])
    }
  }

  @Test("C-024, C-025, C-153: Requests of the same items in swapped order end, whatever they do")
  func swapped() throws {
    try withSandbox { box in
      let (first, second) = (try box.write("a"), try box.write("b"))
      let journal = Journal()
      let roundCount = 25
      let pair = [(first, second), (second, first)]
      let workers = pair.map { one, other in
        Worker {
          for _ in 0..<roundCount {
            NSFileCoordinator().coordinate(readingItemAt: one, writingItemAt: other, error: nil) { _, _ in
              journal.note("two")
            }
          }
        }
      }
      for (one, other) in pair {
        for _ in 0..<roundCount {
          NSFileCoordinator().coordinate(
            with: [.writingIntent(with: one), .readingIntent(with: other)], queue: serialQueue()
          ) { error in journal.note(error == nil ? "intents" : "\(error as Any)") }
        }
      }
      for worker in workers { #expect(worker.join()) }
      #expect(journal.wait(for: "intents", count: 2 * roundCount))
      #expect(journal.count(of: "two") == 2 * roundCount)
    }
  }

  @Test("C-044 to C-046, C-048: Links, and snapshots of files and directories")
  func urls() throws {
    try withSandbox { box in
      let (target, link) = (try box.write("d/f", "text"), box.url("link"))
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
      Access.read.run(link) { #expect($0 == link) }
      Access.read(.resolvesSymbolicLink).run(link) { #expect($0 == target) }
      var snapshot: URL?
      var file: FileHandle?
      Access.read(.forUploading).run(target) { url in
        #expect(url != target && (try? box.text(url)) == "text")
        file = try? FileHandle(forReadingFrom: url)
        snapshot = url
      }
      #expect(!FileManager.default.fileExists(atPath: try #require(snapshot).path))
      #expect(try file?.readToEnd() == Data("text".utf8))
      Access.read(.forUploading).run(box.url("d")) { url in
        #expect((try? Data(contentsOf: url))?.starts(with: Data("PK".utf8)) == true)
      }
    }
  }
}
