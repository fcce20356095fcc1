import FileCoordination
import FileCoordinationTesting
import FileWatching
import Foundation
import Glibc
import SystemInterface
import Testing

@Suite("Inotify instances, of which a user may have 128", .timeLimit(.minutes(4)))
struct InotifyInstanceTests {
  @Test("A process takes three, however many domains observe and trees are watched")
  func count() async {
    await #expect(processExitsWith: .success) {
      let directory = FileManager.default.temporaryDirectory.path + "/FileCoordinationTests." + UUID().uuidString
      for number in 0..<200 {
        try FileManager.default.createDirectory(
          atPath: directory + "/\(number)", withIntermediateDirectories: true)
      }
      defer { try? FileManager.default.removeItem(atPath: directory) }
      var kept: [Any] = []
      for number in 0..<200 {
        let item = URL(filePath: directory + "/\(number)", directoryHint: .isDirectory)
        let domain = CoordinationDomain(CoordinationDomain.Configuration())
        let presenter = RecordingPresenter(item, observesUncoordinatedChanges: true)
        let registration = try await domain.register(presenter)
        if let problem = registration.uncoordinatedChangesProblem { throw problem }
        try await FileCoordinator(label: "reader", domain: domain).read(item) { _ in }
        let watcher = try TreeWatcher([SystemPath(item.path)])
        try await watcher.waitUntilCurrent()
        kept += [presenter, registration, watcher]
      }
      let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) ?? ""
      }
      let count = links.count { $0 == "anon_inode:inotify" }
      _ = FileManager.default.createFile(atPath: directory + "/7/new", contents: nil)
      let watcher = kept[7 * 3 + 2] as? TreeWatcher
      let isSeen = await watcher?.catchUp()?.changes.count == 1
      try? FileManager.default.removeItem(atPath: directory)
      exit(count != 3 ? 10 + Int32(count) : isSeen ? 0 : 2)
    }
  }
}
