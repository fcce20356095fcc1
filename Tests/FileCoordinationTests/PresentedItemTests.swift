import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Accesses to the presented item", .timeLimit(.minutes(1)))
struct PresentedItemTests {
  @Test("A presenter reads and writes its own item without naming it")
  func ownItem() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = try box.present("d/f")
      let coordinator = box.coordinator("C(P)", presenter: presenter)
      try await coordinator.writePresentedItem { try "new".write(to: $0.url, atomically: false, encoding: .utf8) }
      let text = try await coordinator.readPresentedItem { try String(contentsOf: $0.url, encoding: .utf8) }
      #expect(text == "new" && presenter.presentedItemURL == url)
    }
  }

  @Test("Section 5: A presenter that hasn't heard of a move yet is led to its item all the same")
  func unseenMove() async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("d/f"), box.url("d/g"))
      let queue = ControllablePresenterQueue()
      let presenter = RecordingPresenter(old, callbacks: [.itemDidMove], executor: queue)
      try box.register(presenter)
      try await box.coordinator("mover").move(old, to: new)
      #expect(presenter.presentedItemURL == old, "the message is on its way")
      let coordinator = box.coordinator("C(P)", presenter: presenter)
      let found = try await coordinator.readPresentedItem { ($0.url.path, $0.wasMoved, $0.exists) }
      #expect(found == (new.path, true, true))
      queue.open()
      try await presenter.wait(for: .itemDidMove)
      #expect(presenter.presentedItemURL?.path == new.path)
    }
  }

  @Test("Without a presenter, or with one that has no URL, there's no presented item to access")
  func nothingPresented() async throws {
    try await withSandbox { box in
      let nameless = box.coordinator("C(P)", presenter: RecordingPresenter(nil, label: "untitled"))
      let errors = [
        await #expect(throws: FileCoordinationError.self) { try await nameless.writePresentedItem { _ in } },
        await #expect(throws: FileCoordinationError.self) {
          try await box.coordinator("stranger").readPresentedItem { _ in }
        },
      ]
      #expect(errors.map(\.?.code) == [.presenterWithoutURL, .presenterWithoutURL])
      #expect(errors[0]?.message.contains("untitled") == true && errors[1]?.message.contains("stranger") == true)
    }
  }
}
