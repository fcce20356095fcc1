import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import TestSupport
import Testing

@Suite("The blocking twins of the verbs do the same, and let others know", .blocking, .timeLimit(.minutes(4)))
struct BlockingVerbTests {
  @Test("An update sees the old contents, makes the file if there's none, and writes only what's new")
  func update() async throws {
    try await withSandbox { box in
      let url = box.url("d/f")
      try box.makeDirectory("d")
      let coordinator = box.coordinator("C")
      let first = try await onThread {
        let first = try coordinator.blocking.update(url) { data in
          data.append(contentsOf: "a".utf8)
          return data.count
        }
        try coordinator.blocking.update(url) { $0.append(contentsOf: "b".utf8) }
        return first
      }
      #expect(first == 1)
      #expect(try box.text("d/f") == "ab")
      try box.age("d/f")
      let date = { try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date }
      let before = try date()
      try await onThread { try coordinator.blocking.update(url) { _ in } }
      #expect(try date() == before)
      await #expect(throws: TestFailure.self) {
        try await onThread {
          try coordinator.blocking.update(url) { data in
            data = Data()
            throw TestFailure()
          }
        }
      }
      #expect(try box.text("d/f") == "ab")
    }
  }

  @Test("A file is moved with its presenter, copied, and deleted; nothing is replaced unasked")
  func placing() async throws {
    try await withSandbox { box in
      try box.write("d/a", "A")
      try box.write("d/b", "B")
      let presenter = try box.present("d/a")
      let (coordinator, urls) = (box.coordinator("C"), ["a", "b", "c"].map { box.url("d/\($0)") })
      let attempts: [@Sendable () throws -> Void] = [
        { try coordinator.blocking.move(urls[0], to: urls[1]) },
        { try coordinator.blocking.copy(urls[0], to: urls[1]) },
      ]
      for place in attempts {
        let error = await #expect(throws: FileCoordinationError.self) { try await onThread(place) }
        #expect(error?.code == .destinationExists)
      }
      #expect(try box.text("d/a") == "A" && box.text("d/b") == "B")
      try await onThread { try coordinator.blocking.copy(urls[0], to: urls[1], replacing: true) }
      #expect(try box.text("d/a") == "A" && box.text("d/b") == "A")
      try await onThread { try coordinator.blocking.move(urls[0], to: urls[2]) }
      try await presenter.wait(for: .itemDidMove)
      #expect(presenter.presentedItemURL?.path == urls[2].path)
      #expect(try !box.exists("d/a") && box.text("d/c") == "A")
      try await onThread { try coordinator.blocking.delete(urls[2]) }
      #expect(!box.exists("d/c") && box.exists("d/b"))
      #expect(presenter.callbacks.contains(.accommodateDeletion))
    }
  }

  @Test("The item of a coordinator's presenter is read and written wherever it is")
  func presentedItem() async throws {
    try await withSandbox { box in
      try box.write("d/a", "A")
      let presenter = try box.present("d/a")
      let coordinator = box.coordinator("C", presenter: presenter)
      let text = try await onThread {
        try coordinator.blocking.writePresentedItem { try "B".write(to: $0.url, atomically: false, encoding: .utf8) }
        return try coordinator.blocking.readPresentedItem { try String(contentsOf: $0.url, encoding: .utf8) }
      }
      #expect(text == "B")
      // Its own accesses aren't told to it.
      try await box.quiesce()
      #expect(presenter.callbacks == [])
    }
  }
}
