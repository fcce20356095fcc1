import FileCoordination
import Foundation

// Every call of the coordinator whose cost is compared. Each worker has a coordinator of its own, because accesses of one
// coordinator never wait for each other, and a private copy of its path, because threads that retain one string slow each
// other down.

/// Resolves an item once.
///
/// - Parameters:
///   - path: The item.
///   - domain: Where it will be accessed.
/// - Returns: The handle.
/// - Throws: `FileCoordinationError` when the path can't name an item.
func itemHandle(_ path: String, in domain: CoordinationDomain) throws -> ResolvedItem {
  try domain.resolve(fileURL(path))
}

/// A domain that asks the kernel once a second whether the way to an item has changed, not at each access.
func domainThatTrustsIdentities() -> CoordinationDomain {
  var configuration = CoordinationDomain.Configuration()
  configuration.identityCheckInterval = .seconds(1)
  return CoordinationDomain(configuration)
}

/// A file URL that shares no storage with another one.
func fileURL(_ path: String) -> URL { URL(filePath: privateCopy(of: path), directoryHint: .notDirectory) }

func privateCopy(of path: String) -> String { String(decoding: Array(path.utf8), as: UTF8.self) }

/// Claims by resolved item, blocking.
struct HandleWorker: LockWorker, ~Copyable {
  private let coordinator: BlockingFileCoordinator
  private let item: ResolvedItem

  init(_ path: String, _ domain: CoordinationDomain = .process) throws {
    coordinator = FileCoordinator(label: "handle", domain: domain).blocking
    item = try itemHandle(path, in: domain)
  }

  func read(_ body: () -> Void) throws { try coordinator.read(item) { _ in body() } }

  func write(_ body: () -> Void) throws { try coordinator.write(item) { _ in body() } }
}

/// Claims by lexical path, blocking: no symbolic link is resolved.
struct PathWorker: LockWorker, ~Copyable {
  private let coordinator: BlockingFileCoordinator
  private let path: String

  init(_ path: String, _ domain: CoordinationDomain = .process) {
    coordinator = FileCoordinator(label: "path", domain: domain).blocking
    self.path = privateCopy(of: path)
  }

  func read(_ body: () -> Void) throws { try coordinator.read(path: path) { _ in body() } }

  func write(_ body: () -> Void) throws { try coordinator.write(path: path) { _ in body() } }
}

/// Claims by URL, blocking: its symbolic links are resolved, and checked again as often as the domain requires.
struct URLWorker: LockWorker, ~Copyable {
  private let coordinator: BlockingFileCoordinator
  private let url: URL

  init(_ path: String, _ domain: CoordinationDomain = .process) {
    coordinator = FileCoordinator(label: "URL", domain: domain).blocking
    url = fileURL(path)
  }

  func read(_ body: () -> Void) throws { try coordinator.read(url) { _ in body() } }

  func write(_ body: () -> Void) throws { try coordinator.write(url) { _ in body() } }
}

/// Claims by resolved item, suspending.
struct AsyncHandleWorker: AsyncLockWorker {
  private let coordinator: FileCoordinator
  private let item: ResolvedItem

  init(_ path: String, _ domain: CoordinationDomain = .process) throws {
    coordinator = FileCoordinator(label: "async", domain: domain)
    item = try itemHandle(path, in: domain)
  }

  // In line, as for the locks that block: an asynchronous function around the one that is measured costs as much as a lock.
  @inline(__always)
  func read(_ body: () -> Void) async throws { try await coordinator.read(item) { _ in body() } }

  @inline(__always)
  func write(_ body: () -> Void) async throws { try await coordinator.write(item) { _ in body() } }
}
