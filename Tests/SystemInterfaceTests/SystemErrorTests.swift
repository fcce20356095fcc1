import Glibc
import SystemInterface
import Testing

@Suite("An error says which call failed, on what, and why")
struct SystemErrorTests {
  @Test("The description names call, path, text and symbol")
  func onePath() {
    let error = SystemError(.rename, paths: [SystemPath("/a/b")], errno: ENOSPC)
    #expect(error.description == "rename(2) '/a/b' failed: No space left on device (ENOSPC)")
  }

  @Test("The description names both paths and the advice")
  func twoPaths() {
    let error = SystemError(
      call: "link(2)", paths: [SystemPath("a"), SystemPath("b")], errno: EEXIST, advice: "Pass another name.")
    #expect(error.description == "link(2) 'a' to 'b' failed: File exists (EEXIST). Pass another name.")
  }

  @Test("An error number without a symbol shows as a number")
  func unknownNumber() {
    #expect(SystemError(.read, errno: 9999).description == "read(2) failed: Error 9999 (errno 9999)")
  }

  @Test("A number has the same value under its name as in the C library", arguments: SystemError.Number.named)
  func names(number: SystemError.Number, errno: Int32, symbol: String) {
    #expect(number.rawValue == errno)
    #expect(SystemError.symbol(of: number.rawValue) == symbol)
    let error = SystemError(.open, errno: errno)
    #expect(error.number == number && error.isOne(of: .init(rawValue: 0), number))
    #expect(!error.isOne(of: .init(rawValue: 0)))
  }

  @Test("A path with a NUL byte is refused before the kernel could take a prefix of it", arguments: SystemPath.withNUL)
  func embeddedNUL(path: SystemPath) {
    #expect(throws: SystemError(.status, paths: [path], errno: EINVAL)) {
      try HostFileSystem().statusIfPresent(of: path)
    }
  }
}

extension SystemError.Number {
  fileprivate static let named: [(Self, Int32, String)] = [
    (.notPermitted, EPERM, "EPERM"), (.noSuchFileOrDirectory, ENOENT, "ENOENT"), (.interrupted, EINTR, "EINTR"),
    (.resourceTemporarilyUnavailable, EAGAIN, "EAGAIN"), (.noMemory, ENOMEM, "ENOMEM"),
    (.permissionDenied, EACCES, "EACCES"), (.fileExists, EEXIST, "EEXIST"),
    (.tooManyOpenFilesInSystem, ENFILE, "ENFILE"), (.tooManyOpenFiles, EMFILE, "EMFILE"),
    (.noSpace, ENOSPC, "ENOSPC"), (.fileNameTooLong, ENAMETOOLONG, "ENAMETOOLONG"), (.noFunction, ENOSYS, "ENOSYS"),
    (.tooManySymbolicLinkLevels, ELOOP, "ELOOP"), (.notSupported, EOPNOTSUPP, "EOPNOTSUPP"),
    (.noBufferSpace, ENOBUFS, "ENOBUFS"), (.connectionRefused, ECONNREFUSED, "ECONNREFUSED"),
  ]
}

extension SystemPath {
  fileprivate static let withNUL = [SystemPath("/tmp\0x"), SystemPath("\0"), SystemPath("/tmp\0")]
}
