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

  @Test("Of two items the code is that of what was to be done with the one that's missing: 260 or 4")
  func missingOfTwo() throws {
    try withSandbox { box in
      let (file, other) = (try box.write("d/f"), try box.write("other"))
      let link = box.url("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: box.url("d"))
      let (missing, nowhere) = (file.appendingPathComponent("child"), link.appendingPathComponent("f/child"))
      for (read, written, code) in [
        (missing, other, 260), (other, missing, 4), (missing, missing, 4), (nowhere, other, 260), (other, nowhere, 4),
        // The item to read is looked up first.
        (file.appendingPathComponent("a"), file.appendingPathComponent("b"), 260),
      ] {
        var errors: [NSError?] = [nil, nil]
        NSFileCoordinator().coordinate(readingItemAt: read, writingItemAt: written, error: &errors[0]) { _, _ in
          Issue.record("accessed")
        }
        NSFileCoordinator().prepare(forReadingItemsAt: [read], writingItemsAt: [written], error: &errors[1]) { _ in
          Issue.record("begun")
        }
        let queued = Journal()
        NSFileCoordinator().coordinate(
          with: [.readingIntent(with: read), .writingIntent(with: written)], queue: serialQueue()
        ) { error in
          let error = error as NSError?
          queued.note("\(error?.domain ?? "none") \(error?.code ?? 0)")
        }
        for error in errors {
          #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(read), \(written)")
        }
        #expect(queued.wait { !$0.isEmpty })
        #expect(queued.entries == ["\(NSCocoaErrorDomain) \(code)"], "\(read), \(written)")
      }
    }
  }

  @Test("C-021: A snapshot of a missing item that's read while another is written can't be made: error 260")
  func missingSnapshot() throws {
    try withSandbox { box in
      var error: NSError?
      NSFileCoordinator().coordinate(
        readingItemAt: box.url("none"), options: .forUploading, writingItemAt: try box.write("f"), error: &error
      ) { _, _ in Issue.record("accessed") }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == CocoaError.fileReadNoSuchFile.rawValue)
    }
  }

  @Test(
    "A URL that names no file has the code of what was to be done with it: 262 or 518",
    arguments: ["https://example.org/f", "https://example.org", "https://example.org/../..", "mailto:f"])
  func noFileOfTwo(text: String) throws {
    try withSandbox { box in
      let (file, web) = (try box.write("f"), try #require(URL(string: text)))
      var errors: [NSError?] = [nil, nil, nil]
      NSFileCoordinator().coordinate(readingItemAt: web, writingItemAt: file, error: &errors[0]) { _, _ in }
      NSFileCoordinator().coordinate(readingItemAt: file, writingItemAt: web, error: &errors[1]) { _, _ in }
      NSFileCoordinator().coordinate(writingItemAt: file, writingItemAt: web, error: &errors[2]) { _, _ in }
      #expect(errors.map { $0?.code } == [262, 518, 518])
    }
  }

  /// In a process of its own, because its domain has another file system.
  @Test(
    "An operation that the system doesn't permit is 513 for a writer and 257 for a reader; a full disk is 640, for a reader 642"
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
