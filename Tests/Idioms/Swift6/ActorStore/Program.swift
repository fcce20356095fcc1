import Foundation
import FoundationCompatibility
import Scene

// An actor that owns a file and blocks itself while it waits, as its author used no asynchronous method.

struct NoResult: Error {}

actor FileStore {
  let url: URL

  init(url: URL) { self.url = url }

  func read() throws -> Data {
    var coordinationError: NSError?
    var result: Result<Data, any Error>?
    NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: &coordinationError) { url in
      result = Result { try Data(contentsOf: url) }
    }
    if let coordinationError { throw coordinationError }
    guard let result else { throw NoResult() }
    return try result.get()
  }

  func write(_ data: Data) throws {
    var coordinationError: NSError?
    var writeError: (any Error)?
    NSFileCoordinator().coordinate(writingItemAt: url, options: .forReplacing, error: &coordinationError) { url in
      do { try data.write(to: url) } catch { writeError = error }
    }
    if let error = coordinationError ?? writeError { throw error }
  }

  /// Reads, changes and writes in one access, so that no other writer comes between.
  func append(_ text: String) throws {
    var error: NSError?
    NSFileCoordinator(filePresenter: nil).coordinate(writingItemAt: url, options: .forMerging, error: &error) { url in
      let old = (try? Data(contentsOf: url)) ?? Data()
      try? (old + Data(text.utf8)).write(to: url, options: .atomic)
    }
    if let error { throw error }
  }
}

@main
struct Program {
  static func main() async throws {
    let url = Scene.folder.appendingPathComponent("store")
    let store = FileStore(url: url)
    try await store.write(Data("one".utf8))
    Scene.check(try await store.read() == Data("one".utf8), "what was written is read")

    // Two actors of one file: neither loses the text of the other.
    let other = FileStore(url: url)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<20 { group.addTask { try await (index % 2 == 0 ? store : other).append("+") } }
      try await group.waitForAll()
    }
    Scene.check(try await store.read().count == 23, "nothing is lost")

    let missing = FileStore(url: Scene.folder.appendingPathComponent("missing"))
    do {
      _ = try await missing.read()
      Scene.check(false, "read what isn't there")
    } catch let error as CocoaError {
      Scene.check(error.code == .fileReadNoSuchFile, "\(error)")
    }
    Scene.finish()
  }
}
