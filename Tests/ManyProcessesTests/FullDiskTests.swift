import Foundation
import TestSupport
import Testing

@Suite("A full disk loses nothing", .blocking, .timeLimit(.minutes(4)))
struct FullDiskTests {
  /// Mounts in a namespace of their own: for root, where the kernel allows it.
  private static let mounting = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c"]

  private static let canMount: Bool = {
    let arguments = Array(mounting[1...]) + ["mount -t tmpfs -o size=64k none /mnt"]
    return (try? ChildProcess(mounting[0], arguments, errors: .nothing))?.waitUntilExit() == .exit(0)
  }()

  @Test(
    "A safe save that finds no room fails with ENOSPC, and the old contents and permissions are there",
    .enabled(if: canMount, "needs the right to mount a file system"))
  func savesFailWhole() throws {
    let directory = URL.temporaryDirectory.appending(path: "full-disk-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let script = "mount -t tmpfs -o size=256k none \"$3\" && exec \"$@\""
    let worker = try HelperProcess(
      ["save", directory.path], launcher: Self.mounting + [script, "sh"])
    let lines = try worker.lines()
    worker.finish()
    #expect(lines.count == 6)
    #expect(lines.first?.hasPrefix("fileSystem: ") == true && lines.first?.contains("(ENOSPC)") == true)
    #expect(lines.dropFirst() == ["old", "640", "ballast file", "new", "640"])
  }
}
