import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Accesses to the presented item", .timeLimit(.minutes(4)), .betweenProcesses)
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

  @Test("C-317: A presenter that hasn't heard of a move yet is led to its item all the same")
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

@Suite("Contents inside an accessor", .timeLimit(.minutes(4)))
struct ContentsInsideTests {
  @Test("An access reads and safely saves its item, in both colours")
  func readAndSave() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let coordinator = box.coordinator("C")
      try await coordinator.write(url) { access in
        let old = try await access.contents()
        try await access.replaceContents(with: old + Data(" and more".utf8))
      }
      let expected = try Data(contentsOf: url)
      #expect(expected.suffix(9) == Data(" and more".utf8))
      let blocking = Blocking(coordinator.blocking, url)
      #expect(try blocking.append("!") == expected + Data("!".utf8))
    }
  }

  /// A synchronous context, where the blocking forms are meant.
  private struct Blocking {
    let coordinator: BlockingFileCoordinator
    let url: URL

    init(_ coordinator: BlockingFileCoordinator, _ url: URL) {
      self.coordinator = coordinator
      self.url = url
    }

    func append(_ text: String) throws -> Data {
      try coordinator.write(url) { access in
        try access.replaceContents(with: access.contents() + Data(text.utf8))
        return try access.contents()
      }
    }
  }

  @Test("An access that only reads refuses to save, and the file stays as it is")
  func readOnly() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let old = try Data(contentsOf: url)
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.coordinator("C").read(url) { try await $0.replaceContents(with: Data("new".utf8)) }
      }
      #expect(error?.code == .notWritable)
      #expect(try Data(contentsOf: url) == old)
    }
  }

  @Test("Inside an access for uploading, the contents are those of the snapshot")
  func snapshot() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let old = try Data(contentsOf: url)
      let seen = try await box.coordinator("uploader").read(url, options: .forUploading) { access in
        try await box.coordinator("writer").replaceContents(of: url, with: Data("new".utf8))
        return try await access.contents()
      }
      #expect(seen == old)
    }
  }
}

@Suite("Accesses that outlive their accessor", .timeLimit(.minutes(4)))
struct EndedAccessTests {
  @Test("An access taken out of a set is good for nothing after the accessor")
  func takenOut() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let old = try Data(contentsOf: url)
      var outlived: FileAccess?
      try await box.coordinator("C").coordinate([.writing(url)]) { outlived = $0[0] }
      guard let kept = outlived.take() else { return }
      var codes: [FileCoordinationError.Code] = []
      do throws(FileCoordinationError) {
        try await kept.replaceContents(with: Data("late".utf8))
      } catch { codes.append(error.code) }
      do throws(FileCoordinationError) { _ = try await kept.contents() } catch { codes.append(error.code) }
      do throws(FileCoordinationError) { try await kept.didMove(to: box.url("d/g")) } catch { codes.append(error.code) }
      do throws(FileCoordinationError) { try kept.willMove(to: box.url("d/g")) } catch { codes.append(error.code) }
      #expect(codes == [.accessEnded, .accessEnded, .accessEnded, .accessEnded])
      #expect(try Data(contentsOf: url) == old)
    }
  }
}
