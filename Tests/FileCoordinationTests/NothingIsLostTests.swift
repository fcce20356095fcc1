import FileCoordination
import FoundationEssentials
import Glibc
import SystemInterface
import Testing

@Suite("Verbs lose nothing, and don't wait for what never ends", .timeLimit(.minutes(4)))
struct NothingIsLostTests {
  @Test("A link isn't moved or copied over its target, nor a file over its link or its other name")
  func oneItem() async throws {
    try await withSandbox { box in
      let text = try box.write("text", "text")
      let (link, twin) = (box.url("link"), box.url("twin"))
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "text")
      try FileManager.default.linkItem(atPath: text.path, toPath: twin.path)
      let coordinator = box.coordinator("mover")
      for (from, to) in [(link, text), (text, link), (text, twin), (twin, text)] {
        for copies in [false, true] {
          let error = await #expect(throws: FileCoordinationError.self) {
            if copies {
              try await coordinator.copy(from, to: to, replacing: true)
            } else {
              try await coordinator.move(from, to: to, replacing: true)
            }
          }
          #expect(error?.code == .fileSystem)
          #expect(error?.subjects == [from.path, to.path])
          #expect(try ["text", "link", "twin"].map { try box.text($0) } == ["text", "text", "text"])
        }
      }
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "text")
    }
  }

  @Test("Reading and updating a FIFO or a device is an error, whatever the deadline")
  func specialFiles() async throws {
    try await withSandbox { box in
      let pipe = box.url("pipe")
      try #require(mkfifo(pipe.path, 0o600) == 0)
      let coordinator = box.coordinator("reader")
      for url in [pipe, URL(filePath: "/dev/zero")] {
        await #expect(throws: FileCoordinationError.self) { _ = try await coordinator.contents(of: url) }
        await #expect(throws: FileCoordinationError.self) { try await coordinator.update(url) { $0.append(1) } }
      }
    }
  }

  @Test("A file without write permission is replaced only with the option that the error names")
  func readOnlyFile() async throws {
    let door = ScriptedFileSystem { $0.call == .writePermission ? .fail(EACCES) : .proceed }
    try await withSandbox(configure: { $0.fileSystem = door }) { box in
      let url = try box.write("f", "old")
      let coordinator = box.coordinator("saver")
      let errors = [
        await #expect(throws: FileCoordinationError.self) {
          try await coordinator.replaceContents(of: url, with: Data("new".utf8))
        },
        await #expect(throws: FileCoordinationError.self) { try await coordinator.update(url) { $0.append(1) } },
        await #expect(throws: FileCoordinationError.self) {
          try await coordinator.write(url) { try await $0.replaceContents(with: Data()) }
        },
      ]
      #expect(errors.allSatisfy { $0?.message.contains("'.replacesReadOnly'") == true })
      #expect(try box.text("f") == "old")
      try await coordinator.replaceContents(of: url, with: Data("n".utf8), options: .replacesReadOnly)
      try await coordinator.update(url, options: .replacesReadOnly) { $0 += Data("e".utf8) }
      try await coordinator.write(url) {
        try await $0.replaceContents(with: $0.contents() + Data("w".utf8), options: .replacesReadOnly)
      }
      #expect(try box.text("f") == "new")
    }
  }

  @Test("An upload says what its archive can't hold")
  func leftOut() async throws {
    try await withSandbox { box in
      try box.write("d/f")
      try #require(mkfifo(box.url("d/pipe").path, 0o600) == 0)
      let coordinator = box.coordinator("uploader")
      try await coordinator.read(box.url("d"), options: .forUploading) { access in
        #expect(access.pathsLeftOut == [box.url("d/pipe").path])
      }
      try await coordinator.read(box.url("d")) { access in #expect(access.pathsLeftOut == []) }
    }
  }
}
