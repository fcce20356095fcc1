import Foundation
import Glibc
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Errors of queries have the system call that failed", .blocking, .timeLimit(.minutes(4)))
struct QuerySystemErrorTests {
  private static func error(_ body: () throws(MetadataQueryError) -> Void) -> MetadataQueryError? {
    do throws(MetadataQueryError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  private static func error(of place: SystemPath) -> MetadataQueryError? {
    error { () throws(MetadataQueryError) in
      _ = try MetadataQuery(.constant(true), in: [URL(filePath: place.description)])
    }
  }

  /// From now on every call of this process that makes a descriptor fails with EMFILE.
  private static func exhaustDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 0
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

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
      let error = try #require(Self.error(of: place))
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
      let error = Self.error(of: directory.appending("scope"))
      if user == 0 { seteuid(user) }
      chmod(directory.description, 0o700)
      #expect(error?.code == .invalidScope)
      #expect(error?.systemError?.errno == EACCES)
    }
  }

  @Test("A query that can't be started for lack of descriptors says so by number, and starts later")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let tree = try TemporaryTree()
      try tree.write("a")
      let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
      var usual = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
      Self.exhaustDescriptors()
      let error = Self.error { () throws(MetadataQueryError) in _ = try query.start() }
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

  @Test("Other scopes that can't be followed are an error with its number, and the query goes on")
  func noDescriptorsWhileRunning() async {
    await #expect(processExitsWith: .success) {
      let tree = try TemporaryTree()
      try tree.write("a")
      let live = try await LiveQuery(tree)
      try await live.query.waitUntilCurrent()
      let other = try TemporaryTree()
      var usual = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
      Self.exhaustDescriptors()
      let error = Self.error { () throws(MetadataQueryError) in
        try live.query.replaceScopes(by: [.directory(URL(filePath: other.root.description))])
      }
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &usual)
      #expect(error?.systemError?.errno == EMFILE)
      try tree.write("b")
      #expect(try await Set(live.query.waitUntilCurrent().map(\.name)) == ["a", "b"])
    }
  }

  @Test("Errors that no system call caused have none")
  func otherErrors() throws {
    let tree = try TemporaryTree()
    let scope = URL(filePath: tree.root.description)
    let errors = [
      Self.error { () throws(MetadataQueryError) in _ = try MetadataQuery(.constant(true), scopes: []) },
      Self.error { () throws(MetadataQueryError) in
        _ = try MetadataQuery(.constant(true), in: [scope], sortedBy: [MetadataSortDescriptor("kMDItemComment")])
      },
      Self.error { () throws(MetadataQueryError) in
        _ = try MetadataQuery(.constant(true), scopes: [.directory(scope), .ubiquitousData])
      },
    ]
    #expect(errors.map(\.?.code) == [.noScope, .unsortableAttribute, .invalidScope])
    #expect(errors.allSatisfy { $0?.systemError == nil })
  }
}
