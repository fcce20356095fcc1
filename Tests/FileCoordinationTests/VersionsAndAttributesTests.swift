import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Versions and ubiquity attributes", .timeLimit(.minutes(4)), .betweenProcesses)
struct VersionsAndAttributesTests {
  @Test(
    "C-112, C-203: Adding, removing, resolving a version notifies all presenters of the item, the own one too",
    arguments: [FileVersionChange.gained, .lost, .resolved])
  func versionMessages(change: FileVersionChange) async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let (own, other) = (try box.present("d/f", as: "own"), try box.present("d/f", as: "other"))
      try await box.coordinator("C(own)", presenter: own).write(url) { $0.didChangeVersion(change, version: "v1") }
      for presenter in [own, other] {
        let message = try await presenter.wait(for: .itemDidChangeVersion)
        #expect(message.version?.change == change)
        #expect(message.version?.version == "v1")
      }
      try await box.quiesce()
      #expect(own.callbacks == [.itemDidChangeVersion])
    }
  }

  @Test("C-204: Presenters of containing directories get the subitem version messages")
  func containers() async throws {
    try await withSandbox { box in
      let url = try box.write("d/k.pkg/f")
      let presenters = try ["d", "d/k.pkg"].map { try box.present($0, as: $0) }
      let fallback = try box.present("d/k.pkg", as: "fallback", .itemDidChange)
      try await box.coordinator("writer").write(url) { access in
        access.didChangeVersion(.gained, version: "v1")
        for presenter in presenters {
          let message = try await presenter.wait(for: .subitemDidChangeVersion)
          #expect(message.urls.map(\.path) == [url.path])
        }
        try await fallback.wait(for: .itemDidChange)
      }
    }
  }

  @Test("C-204: A reader beside whom nobody else is announces a version, too")
  func reader() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let container = try box.present("d", as: "D")
      try await box.coordinator("reader").read(url, options: .withoutChanges) { access in
        access.didChangeVersion(.gained, version: "v1")
        // It's told before the access ends.
        try await container.wait(for: .subitemDidChangeVersion)
        access.didChangeVersion(.lost, version: "v1")
      }
      try await box.quiesce()
      #expect(container.messages.map(\.version?.change) == [.gained, .lost])
      #expect(container.messages.flatMap(\.urls).map(\.path) == [url.path, url.path])
      #expect(container.callbacks == [.subitemDidChangeVersion, .subitemDidChangeVersion])
    }
  }

  @Test("C-205, C-206: Attribute messages reach only presenters that observe one of them, and name only those")
  func attributesAreFiltered() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let all = try box.present("d/f", as: "all")
      let one = try box.present("d/f", as: "one", observing: ["isUploaded", "isDownloaded"])
      let none = try box.present("d/f", as: "none", observing: ["isShared"])
      let container = try box.present("d", as: "D")
      try await box.coordinator("provider").item(at: url, didChangeUbiquityAttributes: ["isUploaded", "isUploading"])
      try await box.quiesce()
      #expect(all.messages.map(\.attributes) == [["isUploaded", "isUploading"]])
      #expect(one.messages.map(\.attributes) == [["isUploaded"]])
      #expect(all.messages.map(\.origin.kind) == [.announcing])
      #expect(none.messages.isEmpty)
      #expect(container.messages.isEmpty)
    }
  }

  /// Counts how often its observed attributes are read, and changes them each time.
  final class Fickle: FilePresenter {
    let recorder: RecordingPresenter
    let reads = EventTimeline()

    init(_ recorder: RecordingPresenter) { self.recorder = recorder }

    var presentedItemURL: URL? { recorder.presentedItemURL }
    var presentedItemCallbacks: FilePresenterCallbacks { .itemDidChangeUbiquityAttributes }
    var observedPresentedItemUbiquityAttributes: Set<String>? {
      reads.note("read")
      return recorder.presentedItemURL == nil ? ["before"] : ["located", "read \(reads.events.count)"]
    }

    func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<String>, origin: AccessOrigin) async {
      await recorder.presentedItemDidChangeUbiquityAttributes(attributes, origin: origin)
    }
  }

  @Test("C-207: The observed set is sampled at registration, not later")
  func sampledOnce() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = Fickle(RecordingPresenter(url))
      try box.register(presenter)
      let provider = box.coordinator("provider")
      for _ in 0..<2 { try await provider.item(at: url, didChangeUbiquityAttributes: ["located", "read 1", "read 2"]) }
      try await presenter.recorder.wait(for: .itemDidChangeUbiquityAttributes, count: 2)
      #expect(presenter.recorder.messages.map(\.attributes) == [["located", "read 1"], ["located", "read 1"]])
    }
  }

  @Test("C-207: The observed set is sampled when a nil URL becomes non-nil")
  func sampledWhenLocated() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      let presenter = Fickle(RecordingPresenter(nil))
      try box.register(presenter)
      try await box.coordinator("C(P)", presenter: presenter).write(url) { _ in
        presenter.recorder.presentedItemURL = url
      }
      try await box.coordinator("provider").item(at: url, didChangeUbiquityAttributes: ["before", "located"])
      try await box.quiesce()
      #expect(presenter.recorder.messages.map(\.attributes) == [["located"]])
    }
  }
}
