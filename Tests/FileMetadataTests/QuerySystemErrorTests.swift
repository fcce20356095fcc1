import Foundation
import Glibc
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

private func queryError(_ body: () throws(MetadataQueryError) -> Void) -> MetadataQueryError? {
  do throws(MetadataQueryError) {
    try body()
    return nil
  } catch {
    return error
  }
}

private func queryError(of place: SystemPath) -> MetadataQueryError? {
  queryError { () throws(MetadataQueryError) in
    _ = try MetadataQuery(.constant(true), in: [URL(filePath: place.description)])
  }
}

/// From now on every call of this process that makes a descriptor fails with EMFILE.
private func exhaustDescriptors() {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  limit.rlim_cur = 0
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

@Suite("Errors of queries have the system call that failed", .blocking, .timeLimit(.minutes(4)))
struct QuerySystemErrorTests {
  @Test("Q24: a scope that leads nowhere has the error number and the path of the call")
  func unreachableScopes() throws {
    let tree = try TemporaryTree()
    try tree.write("file")
    try tree.symbolicLink(tree.path("circle"), to: "circle")
    let places = [
      (tree.path("none"), ENOENT), (tree.path("file").appending("below"), ENOTDIR), (tree.path("circle"), ELOOP),
      (tree.path(String(repeating: "n", count: 256)), ENAMETOOLONG),
    ]
    for (place, errno) in places {
      let error = try #require(queryError(of: place))
      #expect(error.code == .invalidScope && error.subject == place.description)
      let systemError = try #require(error.systemError)
      #expect(systemError.errno == errno && !systemError.paths.isEmpty)
      #expect(error.description.contains(SystemError.symbol(of: errno)))
    }
  }

  @Test("A scope inside of a directory that the user can't search is an error with EACCES")
  func forbiddenScope() async throws {
    await #expect(processExitsWith: .success) {
      let tree = try TemporaryTree()
      let directory = tree.path("closed")
      try tree.makeDirectory(directory)
      try tree.makeDirectory(directory.appending("scope"))
      // Nothing is forbidden to root: another user asks.
      let user = geteuid()
      for path in [tree.base, tree.root] { chmod(path.description, 0o755) }
      chmod(directory.description, user == 0 ? 0o700 : 0)
      if user == 0 { seteuid(65_534) }
      let error = queryError(of: directory.appending("scope"))
      if user == 0 { seteuid(user) }
      chmod(directory.description, 0o700)
      #expect(error?.code == .invalidScope)
      #expect(error?.systemError?.errno == EACCES)
    }
  }

  /// Starts a query whose engine can be kept from waiting.
  private func start(_ query: MetadataQuery) throws -> UnwaitableWatcher {
    let watcher = UnwaitableWatcher(try InotifyWatcher())
    _ = try query.start { key, plan, port throws(SystemError) in
      let engine = try ScopeEngine(key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
      guard let number = engine.attach(plan, port) else { preconditionFailure("the engine has ended") }
      return (engine, number)
    }
    return watcher
  }

  @Test("L12: a shortage during the wait for events ends no query")
  func shortage() async throws {
    let tree = try TemporaryTree()
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    let watcher = try start(query)
    var live = LiveQuery(query)
    try await live.gather()
    var health = query.healthUpdates.makeAsyncIterator()
    watcher.fail(SystemError(call: "epoll_create1(2)", errno: EMFILE))
    while try #require(await health.next()).waitError?.errno != EMFILE {}
    try tree.write("a")
    while live.names != ["a"] { _ = try await live.next() }
    #expect(!query.health.isComplete)
    watcher.fail(nil)
    while try #require(await health.next()).waitError != nil {}
    #expect(query.health.isComplete)
    try tree.write("b")
    while live.items.count < 2 { _ = try await live.next() }
    query.stop()
  }

  @Test("A query that ends because the system doesn't let it wait says why")
  func brokenWait() async throws {
    let tree = try TemporaryTree()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    let watcher = try start(query)
    var live = LiveQuery(query)
    try await live.gather()
    watcher.fail(SystemError(call: "epoll_wait(2)", errno: EBADF))
    #expect(await live.isEnded())
    #expect(query.health.waitError?.errno == EBADF)
    query.stop()
  }

  @Test("A query that can't be started for lack of descriptors says so by number, and starts later")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let tree = try TemporaryTree()
      try tree.write("a")
      let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
      var usual = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
      exhaustDescriptors()
      let error = queryError { () throws(MetadataQueryError) in _ = try query.start() }
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
      #expect(error?.code == .watchingUnavailable)
      #expect(error?.systemError?.errno == EMFILE)
      // The remedy is a part of it, and of the text.
      let advice = try #require(error?.systemError?.advice)
      #expect(advice.contains("RLIMIT_NOFILE") && error?.description.contains(advice) == true)
      #expect(!query.isStarted)
      try query.start()
      #expect(try await query.waitUntilCurrent().map(\.name) == ["a"])
    }
  }

  @Test("Q25: other scopes that lead nowhere are an error with its number, and the query goes on")
  func replacedScopes() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    try tree.symbolicLink(tree.base.appending("circle"), to: "circle")
    let query = try await LiveQuery(tree).query
    try await query.waitUntilCurrent()
    let circle = URL(filePath: tree.base.appending("circle").description)
    let error = queryError { () throws(MetadataQueryError) in
      try query.replaceScopes(by: [.directory(circle.appending(path: "below"))])
    }
    #expect(error?.code == .invalidScope && error?.systemError?.errno == ELOOP)
    try tree.write("b")
    #expect(try await Set(query.waitUntilCurrent().map(\.name)) == ["a", "b"])
  }

  @Test("Errors that no system call caused have none")
  func otherErrors() throws {
    let tree = try TemporaryTree()
    let scope = URL(filePath: tree.root.description)
    let errors = [
      queryError { () throws(MetadataQueryError) in _ = try MetadataQuery(.constant(true), scopes: []) },
      queryError { () throws(MetadataQueryError) in
        _ = try MetadataQuery(.constant(true), in: [scope], sortedBy: [MetadataSortDescriptor("kMDItemComment")])
      },
      queryError { () throws(MetadataQueryError) in
        _ = try MetadataQuery(.constant(true), scopes: [.directory(scope), .ubiquitousData])
      },
    ]
    #expect(errors.map(\.?.code) == [.noScope, .unsortableAttribute, .invalidScope])
    #expect(errors.allSatisfy { $0?.systemError == nil })
  }
}
