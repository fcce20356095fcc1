import FileCoordination
import FileCoordinationTesting
import Foundation
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Documents that many tasks use at once: Concurrency", .timeLimit(.minutes(8)))
struct ConcurrencyDocumentTests {
  @Test("CD-28: Many tasks that open one file at once have one document, and lose no edit")
  func joiningAtOnce() async throws {
    try await withFixture { fixture in
      try fixture.write("")
      try await withThrowingTaskGroup { group in
        for number in 0..<30 {
          group.addTask {
            let document = try await FileDocument.opened(fixture.file, as: .text, options: fixture.options())
            try await document.edit { $0 += "\(number)\n" }
            try await document.close()
          }
        }
        try await group.waitForAll()
      }
      #expect(Set(try fixture.text().split(separator: "\n")).count == 30)
      #expect(try await fixture.versionTexts() == [])
    }
  }

  @Test("CD-15, CD-27, UD-11: Saves that are made at once never mix, and each of them ends")
  func manySaves() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      let format = GatedFormat(gate: gate)
      let document = try await fixture.open("", format)
      let start = document.state.revision
      try await withThrowingTaskGroup { group in
        for number in 0..<50 {
          group.addTask {
            try await document.edit { $0 += "\(number)\n" }
            try await document.save()
            let text = try fixture.text()
            #expect(text.split(separator: "\n").contains("\(number)"))
          }
        }
        // The first save is held until all edits are made: the others need one more together.
        try await gate.waitForArrival()
        try await document.waitUntil { $0.state.revision >= start + 50 }
        gate.open()
        try await group.waitForAll()
      }
      #expect(Set(try fixture.text().split(separator: "\n")).count == 50)
      #expect(format.writing.value <= 2)
      #expect(!document.hasUnsavedChanges)
      try await document.close()
    }
  }

  @Test("CD-35, UD-2: The state may be read by many threads while the document is edited, saved and closed")
  func readers() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("", .text, AutosavePolicy(sizeMax: 3)) { $0.undo = DocumentUndoPolicy() }
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            var last: UInt64 = 0
            for await snapshot in document.states {
              #expect(snapshot.state.revision >= last && document.snapshot.state.revision >= snapshot.state.revision)
              last = snapshot.state.revision
              if snapshot.state.conditions.contains(.closed) { return }
            }
          }
        }
        for number in 0..<100 {
          try await document.edit { $0 += "\(number)\n" }
          if number % 10 == 0 { try await document.save() }
        }
        try await document.close()
        try await group.waitForAll()
      }
      #expect(try fixture.text().split(separator: "\n").count == 100)
    }
  }
}
