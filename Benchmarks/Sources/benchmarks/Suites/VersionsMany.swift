import FileCoordination
import FileVersions
import Foundation
import Synchronization

/// A file with very many versions.
///
/// The store is filled in memory where that's possible, and copied then: a hundred thousand waits for the disk take minutes.
final class ManyVersions: Sendable {
  private struct State {
    var isFilled = false
    /// Versions to restore and to remove: a list right before that would leave the allocator with work.
    var chosen: [FileVersion] = []
    /// How long the purge took, which is done once.
    var purge: Double?
  }

  private let directory: URL
  private let file: URL
  private let count: Int
  private let domain = CoordinationDomain()
  private let state = Mutex(State())

  private var store: URL { directory.appending(path: "many-store") }
  private var purgedStore: URL { directory.appending(path: "purged-store") }

  init(in directory: URL, isTiny: Bool) {
    self.directory = directory
    file = directory.appending(path: "many")
    count = isTiny ? 50 : 100_000
  }

  private func versions(in store: URL) -> FileVersions {
    FileVersions(domain: domain, storage: .directory(store), removalWindow: .zero)
  }

  private func fill() throws {
    try Data("text".utf8).write(to: file)
    let memory = "/dev/shm/fc-many.\(ProcessInfo.processInfo.processIdentifier)"
    let isInMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
    let place = isInMemory ? URL(filePath: memory) : store
    defer { if isInMemory { try? shell("rm -rf '\(memory)'") } }
    // A file can't have a hundred thousand names.
    let sources = try (0..<4).map { number in
      let source = directory.appending(path: "many-\(number)")
      try Data("text \(number)".utf8).write(to: source)
      return source
    }
    let versions = versions(in: place)
    for number in 0..<count { try versions.blocking.addVersion(of: file, contentsOf: sources[number % 4]) }
    if isInMemory { try shell("cp -a '\(memory)' '\(store.path)'") }
    try shell("cp -a '\(store.path)' '\(purgedStore.path)' && sync -f '\(store.path)'")
  }

  private func shell(_ line: String) throws { _ = try ShellCommand(program: "sh", line: line).time() }

  private func filled() throws -> FileVersions {
    try state.withLock { state in
      if state.isFilled { return }
      try fill()
      state.isFilled = true
      state.chosen = try versions(in: store).blocking.versions(of: file)?.shuffled() ?? []
    }
    return versions(in: store)
  }

  private func another() throws -> FileVersion {
    guard let version = state.withLock({ $0.chosen.popLast() }) else { throw BenchmarkFailure("no version is left") }
    return version
  }

  private func cell(
    _ id: String, _ subject: String, _ body: @escaping @Sendable (BlockingFileVersions) throws -> Double
  ) -> Cell {
    .experiment("versions/many/\(id)", subject, "100,000 versions of one file", isOurs: true) { [self] in
      try body(filled().blocking)
    }
  }

  var cells: [Cell] {
    [
      cell("open", "the store opened, and the file looked at") { [self] _ in
        try time { _ = try versions(in: store).blocking.currentVersion(of: file) }
      },
      cell("add", "one added") { [self] versions in
        try time { _ = try versions.addVersion(of: file) }
      },
      cell("save", "replaceContents, keepingVersion:") { [self] versions in
        let coordinator = FileCoordinator(domain: domain)
        let contents = Data("\(UInt64.random(in: .min ... .max))".utf8)
        return try time {
          try coordinator.blocking.replaceContents(of: file, with: contents, keepingVersion: self.versions(in: store))
        }
      },
      cell("list", "all listed") { [self] versions in
        try time { _ = try versions.versions(of: file) }
      },
      cell("restore", "one restored") { [self] versions in
        let version = try another()
        return try time { try versions.restore(version, to: file) }
      },
      cell("remove", "one removed") { [self] versions in
        let version = try another()
        return try time { try versions.remove(version, of: file) }
      },
      cell("purge", "all but ten removed, once") { [self] _ in
        if let known = state.withLock({ $0.purge }) { return known }
        let versions = versions(in: purgedStore)
        let time = try time {
          let all = try versions.blocking.versions(of: file) ?? []
          let removals = Set(FileVersionRetention(countMax: 10).removals(among: all, at: .now))
          try versions.blocking.removeOtherVersions(of: file) { removals.contains($0) }
        }
        guard try versions.blocking.versions(of: file)?.count == 10 else {
          throw BenchmarkFailure("a purge to ten versions left others")
        }
        state.withLock { $0.purge = time }
        return time
      },
    ]
  }
}
