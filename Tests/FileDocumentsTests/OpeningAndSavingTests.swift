import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Opening, saving and closing documents", .timeLimit(.minutes(8)))
struct OpeningAndSavingTests {
  @Test("CD-01, UD-1: A new document is closed; after it was opened its state is normal")
  func opening() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      #expect(document.state.conditions == .closed)
      #expect(await document.contents == nil)
      try await document.open()
      #expect(document.state.conditions == .normal && document.state.editingObstacles.isEmpty)
      #expect(await document.contents == "old")
      try await document.close()
      #expect(document.state.conditions == .closed)
      #expect(await document.contents == nil)
    }
  }

  @Test("CD-02, UD-6, PP-12: An open that fails leaves the document closed, and says why")
  func failing() async throws {
    try await withFixture { fixture in
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      await #expect { try await document.open() } throws: { ($0 as? DocumentError)?.code == .fileNotFound }
      #expect(document.state.conditions == .closed && document.state.openingError?.code == .fileNotFound)
      try Data([0xff]).write(to: fixture.file)
      await #expect { try await document.open() } throws: { ($0 as? DocumentError)?.code == .unreadableContents }
      #expect(document.state.openingError?.code == .unreadableContents)
      try FileManager.default.removeItem(at: fixture.file)
      try FileManager.default.createDirectory(at: fixture.file, withIntermediateDirectories: false)
      await #expect { try await document.open() } throws: { ($0 as? DocumentError)?.code == .coordination }
      try FileManager.default.removeItem(at: fixture.file)
      try await document.open(creatingWith: "new")
      #expect(document.state.conditions == .normal && document.state.openingError == nil)
      #expect(try fixture.text() == "new")
      try await document.close()
    }
  }

  @Test("CD-03, UD-2, SP-11: The modification date is unknown until the document was opened, and then the file's own")
  func modificationDate() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      #expect(document.fileModificationDate == nil)
      func date() throws -> Date { Date(timeIntervalSince1970: Double(try fixture.status().modificationTime) / 1e9) }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: fixture.file.path)
      try await document.open()
      #expect(try document.fileModificationDate == date())
      try await document.edit { $0 = "new" }
      try await document.save()
      #expect(try document.fileModificationDate == date())
      #expect(document.fileModificationDate != Date(timeIntervalSince1970: 1e9))
      try await document.close()
    }
  }

  @Test("CD-04: A document that's made on the main actor lives there, and reads and writes elsewhere")
  @MainActor func isolation() async throws {
    struct Format: DocumentFormat {
      let wasOnMainThread = Counter()
      func contents(of bytes: Data) throws -> String {
        if Thread.isMainThread { wasOnMainThread.add(1) }
        return try TextFormat().contents(of: bytes)
      }
      func bytes(of contents: String) throws -> Data {
        if Thread.isMainThread { wasOnMainThread.add(1) }
        return TextFormat().bytes(of: contents)
      }
    }
    try await withFixture { fixture in
      try fixture.write("old")
      let format = Format()
      let document = FileDocument(fixture.file, as: format, options: fixture.options(), in: MainActor.shared)
      try await document.open()
      try await document.edit { text in
        MainActor.assertIsolated()
        text += "er"
      }
      try await MainActor.run { try document.assumeIsolated { _ = try $0.editNow { $0 += "!" } } }
      try await document.close()
      #expect(try fixture.text() == "older!")
      #expect(format.wasOnMainThread.value == 0)
    }
  }

  @Test("CD-06, CD-07, UD-9, ND-3: Editing goes on while a save runs, and these edits stay unsaved when it ends")
  func editingWhileSaving() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      let document = try await fixture.open("old", GatedFormat(gate: gate))
      try await document.edit { $0 = "saved" }
      async let saving = document.save()
      try await gate.waitForArrival()
      try await document.edit { $0 = "later" }
      gate.open()
      #expect(try await saving)
      #expect(try fixture.text() == "saved")
      #expect(document.hasUnsavedChanges)
      #expect(try await document.close())
      #expect(try fixture.text() == "later")
    }
  }

  @Test("CD-08, CD-09, UD-7: Without changes nothing is written; with changes closing writes them first")
  func closing() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format)
      let before = try fixture.status()
      #expect(try await document.save() == false)
      #expect(try await document.close() == false)
      #expect(try fixture.status().identity == before.identity)
      #expect(format.writing.value == 0)
      try await document.open()
      try await document.edit { $0 = "new" }
      #expect(try await document.close())
      #expect(try fixture.text() == "new")
      try await document.open()
      try await document.edit { $0 = "dropped" }
      #expect(try await document.close(discardingChanges: true) == false)
      #expect(try fixture.text() == "new")
      // Closing a closed document is no error; everything else is.
      try await document.close()
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .notOpen }
      await #expect { try await document.edit { $0 = "" } } throws: { ($0 as? DocumentError)?.code == .notOpen }
    }
  }

  @Test(
    "CD-13, CD-14: A save keeps permissions, owner, access list and attributes of the file, and leaves nothing beside it"
  )
  func attributes() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      if geteuid() == 0 {
        try FileManager.default.setAttributes(
          [.ownerAccountID: 12_346, .groupOwnerAccountID: 12_347], ofItemAtPath: fixture.file.path)
      } else {
        print("CD-13: the owner of a file is compared by root alone")
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: fixture.file.path)
      let name = ExtendedAttributeName("user.note")
      let files = HostFileSystem()
      func withFile<Result>(_ body: (FileDescriptor) throws -> Result) throws -> Result {
        let descriptor = try files.open(SystemPath(fixture.file.path), at: .workingDirectory, flags: [], mode: 0)
        defer { try? files.close(descriptor) }
        return try body(descriptor)
      }
      let hasAttributes = (try? withFile { try files.setExtendedAttribute(name, of: $0, to: [1, 2]) }) != nil
      // The owner reads and writes, user 12345 and the group read: acl(5), in the form of the kernel.
      let list: [UInt8] =
        [2, 0, 0, 0] + [1, 0, 6, 0, 255, 255, 255, 255] + [2, 0, 4, 0, 57, 48, 0, 0] + [4, 0, 4, 0, 255, 255, 255, 255]
        + [16, 0, 4, 0, 255, 255, 255, 255] + [32, 0, 0, 0, 255, 255, 255, 255]
      let hasLists =
        (try? withFile {
          try files.setExtendedAttribute(ExtendedAttributeName("system.posix_acl_access"), of: $0, to: list)
        }) != nil
      let former = try fixture.status()
      try await document.edit { $0 = "new" }
      try await document.save()
      #expect(try fixture.status().mode == 0o640 && fixture.status().inode != former.inode)
      #expect(try fixture.status().owner == former.owner && fixture.status().group == former.group)
      #expect(geteuid() != 0 || former.owner == 12_346)
      if hasLists {
        #expect(
          try withFile { try files.extendedAttribute(ExtendedAttributeName("system.posix_acl_access"), of: $0) } == list
        )
      }
      if hasAttributes { #expect(try withFile { try files.extendedAttribute(name, of: $0) } == [1, 2]) }
      #expect(try fixture.names() == ["note.txt"])
      try await document.close()
    }
  }

  @Test("CD-24, UD-3: A save that fails says so in the state; the next one that succeeds clears that")
  func savingError() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format)
      try await document.edit { $0 = "new" }
      format.refusesWriting.add(1)
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .unwritableContents }
      #expect(document.state.conditions == .savingError && document.state.savingError?.code == .unwritableContents)
      // Closing fails as well, and the document remains as it was.
      await #expect(throws: DocumentError.self) { try await document.close() }
      try await document.edit { $0 += "er" }
      format.refusesWriting.add(-1)
      try await document.save()
      #expect(document.state.conditions == .normal && document.state.savingError == nil)
      #expect(try fixture.text() == "newer")
      try await document.close()
    }
  }

  @Test("CD-12, PP-13: Whichever call to the system a save fails at, the file has the old contents or the new ones")
  func failingCalls() async throws {
    var number = 0
    var hasSucceeded = false
    while !hasSucceeded {
      number += 1
      try #require(number < 200)
      let fault = Guarded(Int?.none)
      let door = ScriptedFileSystem(HostFileSystem()) { _ in
        fault.withLock { left -> ScriptedAction in
          guard let count = left else { return .proceed }
          left = count - 1
          return count == 0 ? .fail(5) : .proceed
        }
      }
      let failing = number - 1
      try await withFixture(door) { fixture in
        let document = try await fixture.open("old")
        try await document.edit { $0 = "new" }
        fault.withLock { $0 = failing }
        let error = await result { try await document.save() }
        let isUnused = fault.withLock { left in
          defer { left = nil }
          return (left ?? 0) >= 0
        }
        #expect(["old", "new"].contains(try fixture.text()))
        #expect(await document.contents == "new")
        // Nothing was lost, and the next save goes through.
        try await document.save()
        #expect(try fixture.text() == "new")
        #expect(try await fixture.versionTexts().allSatisfy { $0 == "new" || $0 == "old" })
        #expect(document.state.conditions.subtracting(.inConflict) == .normal)
        try await document.close()
        if isUnused, error == nil { hasSucceeded = true }
      }
    }
    #expect(number > 5)
  }

  @Test(
    "CD-30: A save that fails after its contents took their place isn't the text of another program, and the next one replaces it",
    arguments: [true, false])
  func failedAfterwards(isEdited: Bool) async throws {
    let faults = FaultsAfterRenames()
    try await withFixture(faults.files) { fixture in
      let document = try await fixture.open("old")
      try await document.edit { $0 = "new" }
      faults.begin()
      await #expect(throws: DocumentError.self) { try await document.save() }
      #expect(try fixture.text() == "new")
      #expect(document.hasUnsavedChanges)
      // Equal contents alone don't make the second attempt succeed.
      if !isEdited { await #expect(throws: DocumentError.self) { try await document.save() } }
      faults.end()
      if isEdited { try await document.edit { $0 = "newer" } }
      let inode = try fixture.status().inode
      #expect(try await document.save())
      #expect(try fixture.status().inode != inode)
      #expect(try fixture.text() == (isEdited ? "newer" : "new"))
      #expect(document.state.conditions == .normal)
      #expect(try await fixture.versionTexts().isEmpty)
      try await document.close()
    }
  }

  private func result(_ body: () async throws -> Bool) async -> (any Error)? {
    do {
      _ = try await body()
      return nil
    } catch { return error }
  }
}
