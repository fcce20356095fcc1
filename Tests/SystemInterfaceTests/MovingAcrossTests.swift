import Glibc
import Testing

@testable import SystemInterface

@Suite("A move to another file system loses nothing of what others need")
struct MovingAcrossTests {
  @Test(
    "The replaced item goes also if the former directory can't be brought to the disk, and the error names what stays",
    arguments: [ItemKind.file, .directory])
  func formerDirectory(kind: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      for name in ["from", "to"] { try sandbox.makeDirectory(name) }
      try sandbox.make(kind, "from/a", marker: "A")
      try sandbox.make(kind, "to/b", marker: "B")
      let door = ScriptedFileSystem(ScriptedFileSystem.acrossDevices) {
        $0.call == .synchronize && $0.openedPath == sandbox.path("from") ? .fail(EIO) : .proceed
      }
      let error = errorThrown { () throws(SystemError) in
        try door.moveItem(from: sandbox.path("from/a"), to: sandbox.path("to/b"), replacing: true)
      }
      #expect(error?.errno == EIO && error?.advice?.contains("in place") == true)
      #expect(try sandbox.names(in: "to") == ["b"])
      #expect(try sandbox.holds(kind, "to/b", marker: "A"))
      let left = try sandbox.names(in: "from")
      #expect(left.count == (kind == .directory ? 1 : 0))
      for name in left { #expect(error?.advice?.contains("'\(name)'") == true) }
    }
  }
}
