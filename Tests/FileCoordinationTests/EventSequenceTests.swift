import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Sequence of events", .timeLimit(.minutes(4)))
struct EventSequenceTests {
  @Test("Events come in order, each with its origin")
  func order() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let events = try box.domain.events(at: box.url("d"))
      for label in ["first", "second"] { try await box.coordinator(label).write(url) { _ in } }
      var iterator = events.makeAsyncIterator()
      for label in ["first", "second"] {
        let event = await iterator.next()
        #expect(event?.kind == .subitemDidChange(url))
        #expect(event?.origin.label == label)
      }
    }
  }

  @Test("Versions, attributes and moves of an item come with their names and places, as those inside a directory do")
  func kinds() async throws {
    try await withSandbox { box in
      let (url, destination) = (try box.write("d/f"), box.url("d/g"))
      let (item, inside) = (try box.domain.events(at: url), try box.domain.events(at: box.url("d")))
      let coordinator = box.coordinator("author")
      try await coordinator.write(url) { $0.didChangeVersion(.gained, version: "v1") }
      try await coordinator.item(at: url, didChangeUbiquityAttributes: ["isUploaded"])
      try await coordinator.move(url, to: destination)
      try await coordinator.write(box.url("d/h")) { access in
        try Data("new".utf8).write(to: access.url)
      }
      var kinds: [FilePresenterEvent.Kind] = []
      for await event in item {
        #expect(event.origin.label == "author")
        kinds.append(event.kind)
        if case .itemDidMove = event.kind { break }
      }
      #expect(
        kinds == [
          .itemDidChangeVersion(.gained, version: "v1"), .itemDidChange,
          .itemDidChangeUbiquityAttributes(["isUploaded"]), .itemDidMove(to: destination),
        ])
      kinds = []
      for await event in inside {
        kinds.append(event.kind)
        if case .subitemDidAppear = event.kind { break }
      }
      #expect(
        kinds == [
          .subitemDidChangeVersion(url, .gained, version: "v1"), .subitemDidChange(url),
          .subitemDidMove(from: url, to: destination), .subitemDidAppear(box.url("d/h")),
        ])
    }
  }

  @Test("More events than the buffer takes hold the mailbox back, and none is lost")
  func fullBuffer() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let events = try box.domain.events(at: url)
      let count = FilePresenterEvents.bufferedEventCountMax + 10
      for number in 0..<count { try await box.coordinator("\(number)").write(url) { _ in } }
      var labels: [String] = []
      for await event in events {
        labels.append(event.origin.label)
        if labels.count == count { break }
      }
      #expect(labels == (0..<count).map(String.init))
    }
  }

  @Test("Tasks that iterate one sequence together each get an event of their own")
  func sharedIteration() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let events = try box.domain.events(at: url)
      let labels = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<2 {
          group.addTask {
            var iterator = events.makeAsyncIterator()
            return await iterator.next()?.origin.label
          }
        }
        for label in ["first", "second"] { try await box.coordinator(label).write(url) { _ in } }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(labels == ["first", "second"])
    }
  }

  @Test("A cancelled task gets no event more, and its presenter keeps nobody waiting")
  func cancellation() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let events = try box.domain.events(at: url)
      let consumer = Task {
        var iterator = events.makeAsyncIterator()
        return await iterator.next()
      }
      consumer.cancel()
      #expect(await consumer.value == nil)
      for number in 0...FilePresenterEvents.bufferedEventCountMax {
        try await box.coordinator("\(number)").write(url) { _ in }
      }
      try await box.quiesce()
    }
  }

  @Test("Observation ends with the sequence")
  func end() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      do {
        let events = try box.domain.events(at: url)
        #expect(try await box.domain.snapshot().presenters.count == 1)
        withExtendedLifetime(events) {}
      }
      #expect(try await box.domain.snapshot().presenters.isEmpty)
    }
  }
}
