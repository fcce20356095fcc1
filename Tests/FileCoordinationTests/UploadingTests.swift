import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Testing

@Suite("Uploading", .timeLimit(.minutes(4)), .betweenProcesses)
struct UploadingTests {
  @Test("C-045: .forUploading on a file yields a different, temporary URL with equal content")
  func snapshotOfFile() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "content")
      let presenter = try box.present("d/f")
      try await box.coordinator("uploader").read(url, options: .forUploading) { access in
        #expect(access.url.path != url.path)
        #expect(access.url.lastPathComponent == "f")
        let text = try box.text(at: access.url)
        #expect(text == "content")
      }
      #expect(presenter.callbacks == [.relinquishToReader, .saveChanges])
    }
  }

  @Test("C-046: .forUploading on a directory yields a single archive file (zip)")
  func snapshotOfDirectory() async throws {
    try await withSandbox { box in
      try box.write("d/f", "one")
      try box.write("d/x/g", "two")
      try await box.coordinator("uploader").read(box.url("d"), options: .forUploading) { access in
        #expect(access.url.lastPathComponent == "d.zip")
        let bytes = try Data(contentsOf: access.url)
        #expect(bytes.starts(with: Array("PK".utf8)))
        for name in ["d/f", "d/x/g"] { #expect(bytes.firstRange(of: Data(name.utf8)) != nil) }
      }
    }
  }

  @Test("C-047: While the .forUploading accessor runs, a write of the original is granted without waiting for it")
  func writersGoOn() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "before")
      let presenter = try box.present("d/f", reacquires: true)
      let uploader = try await box.hold(.read("d/f", .forUploading), as: "uploader")
      #expect(try await box.domain.snapshot().accesses.isEmpty)
      try await presenter.wait(for: .reacquire)
      try await box.coordinator("writer").write(url) { access in
        try "after".write(to: access.url, atomically: false, encoding: .utf8)
      }
      #expect(try String(contentsOfFile: uploader.paths[0], encoding: .utf8) == "before")
      try await uploader.finish()
    }
  }

  @Test("C-048: After the accessor the snapshot's path is gone, but a descriptor opened inside stays readable")
  func snapshotIsRemoved() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f", "content")
      let (path, file) = try await box.coordinator("uploader").read(url, options: .forUploading) { access in
        (access.url.path, try OpenFile(access.url.path))
      }
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try file.text() == "content")
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["d"])
    }
  }

  @Test("C-048: The snapshot is removed when the accessor throws, too")
  func snapshotIsRemovedAfterError() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      await #expect(throws: TestFailure()) {
        try await box.coordinator("uploader").read(url, options: .forUploading) { _ in throw TestFailure() }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["d"])
    }
  }

  @Test("C-045: A snapshot of nothing is an error, and the claim ends")
  func snapshotOfNothing() async throws {
    try await withSandbox { box in
      let error = await #expect(throws: FileCoordinationError.self) {
        try await box.access(.read("nothing", .forUploading), as: "uploader")
      }
      #expect(error?.code == .fileSystem)
      let accesses = try await box.domain.snapshot().accesses
      #expect(accesses.isEmpty)
    }
  }

  @Test("C-047: Together with a write in one request, the access lasts until the accessor returns")
  func snapshotAndWrite() async throws {
    try await withSandbox { box in
      let (file, log) = (try box.write("d/f", "content"), try box.write("d/log"))
      let intents = [FileAccessIntent.reading(file, options: .forUploading), .writing(log)]
      try await box.coordinator("uploader").coordinate(intents) { set in
        #expect(set[0].url.path != file.path)
        #expect(set[1].url.path == log.path)
        #expect(try await box.domain.snapshot().isHolding("uploader"))
        let text = try box.text(at: intents[0].url)
        #expect(text == "content")
      }
    }
  }
}
