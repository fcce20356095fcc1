import Foundation
import Glibc
import SystemInterface
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("The trash", .blocking, .timeLimit(.minutes(4)))
struct TrashTests {
  @Test("A trashed item is in the trash, with a note of where it was; a second one of the name gets a number")
  func throwing() throws {
    try withSandbox { box in
      let trash = Trash(directory: SystemPath(box.url("data/Trash").path), top: nil)
      for (text, name) in [("first", "a b.txt"), ("second", "a b 2.txt")] {
        let url = try box.write("d/a b.txt", text)
        let place = try trash.put(SystemPath(url.path))
        #expect(place.description == box.url("data/Trash/files/\(name)").path)
        #expect(try box.text(box.url("data/Trash/files/\(name)")) == text)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        let lines = try box.text(box.url("data/Trash/info/\(name).trashinfo")).split(separator: "\n")
        #expect(lines.first == "[Trash Info]" && lines.count == 3)
        #expect(lines[1] == "Path=\(box.root.path)/d/a%20b.txt")
        #expect(try #/DeletionDate=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/#.wholeMatch(in: lines[2]) != nil)
      }
    }
  }

  @Test("Directories, links and long names too; the trash of a volume has paths relative to its top")
  func kinds() throws {
    try withSandbox { box in
      let trash = Trash.ofVolume(SystemPath(box.root.path))
      #expect(trash.directory.lastComponent.description == ".Trash-\(geteuid())")
      _ = try box.write("d/e/f")
      let directory = try trash.put(SystemPath(box.url("d/e").path))
      #expect(try box.text(URL(fileURLWithPath: directory.description + "/f")) == "old")
      let info = box.url("\(trash.directory.lastComponent)/info/e.trashinfo")
      #expect(try box.text(info).contains("\nPath=d/e\n"))
      try FileManager.default.createSymbolicLink(atPath: box.url("link").path, withDestinationPath: "nowhere")
      let link = try trash.put(SystemPath(box.url("link").path))
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.description) == "nowhere")
      let name = String(repeating: "n", count: 251) + ".txt"
      for _ in 1...2 {
        let place = try trash.put(SystemPath(try box.write(name).path))
        #expect(place.lastComponent.description.hasSuffix(".txt") && place.lastComponent.bytes.count <= 245)
      }
    }
  }

  @Test("The call throws items into the trash of the user who runs the program, and says where they are")
  func call() async {
    await #expect(processExitsWith: .success) {
      try withSandbox { box in
        setenv("XDG_DATA_HOME", box.url("data").path, 1)
        let url = try box.write("d/f", "thrown away")
        var place: NSURL?
        try FileManager.default.trashItem(at: url, resultingItemURL: &place)
        #expect(place?.path == box.url("data/Trash/files/f").path && !FileManager.default.fileExists(atPath: url.path))
        #expect(try box.text(box.url("data/Trash/files/f")) == "thrown away")
        // A link goes itself, and nobody has to ask for the place.
        let link = box.url("link")
        let thrown = box.url("data/Trash/files/link")
        let target = try box.write("target")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        try FileManager.default.trashItem(at: link, resultingItemURL: nil)
        #expect(FileManager.default.fileExists(atPath: target.path))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: thrown.path) == target.path)
        let web = try #require(URL(string: "https://example.org/f"))
        #expect(refusal(of: web) == .fileWriteUnsupportedScheme)
        #expect(refusal(of: url) == .fileNoSuchFile)
      }
    }
  }

  @Test("An item that can't be thrown away stays, and leaves no note")
  func failing() throws {
    try withSandbox { box in
      let trash = Trash(directory: SystemPath(box.url("Trash").path), top: nil)
      #expect(throws: SystemError.self) { try trash.put(SystemPath(box.url("none").path)) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.url("Trash/info").path).isEmpty)
      let url = try box.write("f")
      _ = try box.write("file")
      let blocked = Trash(directory: SystemPath(box.url("file").path), top: nil)
      #expect(throws: SystemError.self) { try blocked.put(SystemPath(url.path)) }
      #expect(throws: CocoaError.self) { try FileManager.default.trashItem(at: box.url("none"), resultingItemURL: nil) }
      #expect(FileManager.default.fileExists(atPath: url.path))
    }
  }
}

private func refusal(of url: URL) -> CocoaError.Code? {
  do { try FileManager.default.trashItem(at: url, resultingItemURL: nil) } catch {
    return (error as? CocoaError)?.code
  }
  return nil
}
