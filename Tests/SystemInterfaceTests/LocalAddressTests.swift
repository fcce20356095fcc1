import Glibc
import Testing

@testable import SystemInterface

@Suite("The path of a socket fits into the kernel's address, or the error says what to do")
struct LocalAddressTests {
  @Test("A path of 107 bytes works on both sides, one of 108 is refused")
  func longestPath() async throws {
    try await withTemporaryDirectory(in: "/tmp") { sandbox in
      let rest = LocalAddress.lengthMax - sandbox.root.bytes.count - 1
      #expect(LocalAddress.lengthMax == 107)
      let address = try LocalAddress(sandbox.path(String(repeating: "s", count: rest)))
      let listener = try LocalListener(binding: address)
      _ = try LocalStream(connectingTo: address)
      #expect(try listener.accept() != nil)

      let path = sandbox.path(String(repeating: "s", count: rest + 1))
      let error = #expect(throws: SystemError.self) { try LocalAddress(path) }
      #expect(error?.errno == ENAMETOOLONG)
      #expect(error?.paths == [path])
      #expect(error?.advice?.contains("107") == true)
    }
  }

  @Test("A short name leaves room for the temporary one")
  func shortName() throws {
    let directory = "/" + String(repeating: "d", count: 97)
    _ = try LocalAddress(SystemPath("\(directory)/s"))
    let error = #expect(throws: SystemError.self) { try LocalAddress(SystemPath("\(directory)d/s")) }
    #expect(error?.errno == ENAMETOOLONG)
  }

  @Test("A path needs a place and a name", arguments: ["", "/", "name", "/a/..", "/a\0b"])
  func malformed(path: String) {
    let error = #expect(throws: SystemError.self) { try LocalAddress(SystemPath(path)) }
    #expect(error?.errno == EINVAL)
  }

  @Test("Slashes at the end don't count")
  func trailingSlashes() throws {
    #expect(try LocalAddress(SystemPath("/run/s//")).path == SystemPath("/run/s"))
    #expect(try LocalAddress(SystemPath("/s")).description == "/s")
  }
}
