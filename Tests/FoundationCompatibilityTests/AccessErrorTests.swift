import FileCoordination
import Foundation
import FoundationCompatibility
import SystemInterface
import TestSupport
import Testing

@Suite("Codes of errors under Apple's names", .blocking, .timeLimit(.minutes(4)))
struct AccessErrorTests {
  @Test("Below a file there's nothing: error 4 for who deletes or writes, 260 for who reads")
  func belowFile() throws {
    try withSandbox { box in
      let url = try box.write("f").appendingPathComponent("child")
      for (access, code) in [(Access.write(.forDeleting), 4), (.write, 4), (.write(.forReplacing), 4), (.read, 260)] {
        let error = access.run(url) { _ in Issue.record("accessed") }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(access)")
        #expect(error?.userInfo[NSUnderlyingErrorKey] is FileCoordinationError)
      }
    }
  }

  /// In a process of its own, because its domain has another file system.
  @Test(
    "What the system doesn't permit is 513 for who writes and 257 for who reads; a full disk is 640, one for reading 642"
  )
  func refusals() async {
    await #expect(processExitsWith: .success) {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errors-\(UUID().uuidString)")
        .resolvingSymlinksInPath()
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let url = folder.appendingPathComponent("f")
      try Data("text".utf8).write(to: url)
      let looking: Set<SystemCall> = [.openWithoutSymbolicLinks, .open, .status, .readLink]
      let copying: Set<SystemCall> = [.clone, .copyRange, .write, .truncate]
      for (refused, errno, access, code) in [
        (looking, EACCES, Access.write, 513), (looking, EACCES, .write(.forDeleting), 513),
        (looking, EACCES, .read, 257),
        (copying, ENOSPC, .read(.forUploading), 640), (copying, EDQUOT, .read(.forUploading), 640),
        (copying, EROFS, .read(.forUploading), 642),
      ] {
        var configuration = CoordinationDomain.Configuration()
        configuration.fileSystem = ScriptedFileSystem { refused.contains($0.call) ? .fail(errno) : .proceed }
        NSFileCoordinator.coordinationDomain = CoordinationDomain(configuration)
        let error = access.run(url) { _ in Issue.record("accessed") }
        #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(access): \(error as Any)")
      }
    }
  }
}
