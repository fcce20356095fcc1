import FileCoordination
import Foundation
import Testing

@testable import filecoord

@Suite("Paths on the command line")
struct FilePathTests {
  @Test(
    "A path has the URL that Foundation makes of it, with nothing of what means nothing",
    arguments: [
      ("/a b/100%", "/a b/100%"), ("/a//b/./c/", "/a/b/c"), ("/a/../b", "/a/../b"), ("/", "/"), ("/;+#?", "/;+#?"),
      ("/e\u{301}\n\u{1F642}", "/e\u{301}\n\u{1F642}"),
    ])
  func absolute(argument: String, path: String) throws {
    let url = try URL(file: Argument(argument))
    #expect(url == URL(filePath: path, directoryHint: .notDirectory))
    #expect(url.pathBytes == Array(path.utf8))
  }

  @Test(
    "A relative path is placed in the working directory",
    arguments: [(".", ""), ("", ""), ("./a b", "/a b"), ("a/.", "/a")])
  func relative(argument: String, suffix: String) throws {
    let directory = FileManager.default.currentDirectoryPath
    #expect(try URL(file: Argument(argument)) == URL(filePath: directory + suffix, directoryHint: .notDirectory))
  }

  @Test("Bytes that aren't UTF-8 are kept")
  func foreign() throws {
    let bytes = Array("/a/".utf8) + [0xFF, 0x20]
    let url = try URL(file: Argument(bytes: bytes))
    #expect(url.absoluteString == "file:///a/%FF%20" && url.pathBytes == bytes)
  }
}
