import Glibc
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// A store whose directories the kernel doesn't watch.
@Suite("Stores that can't be watched", .blocking, .timeLimit(.minutes(2)))
struct ConcurrencyUnwatchedStoreTests {
  private let sandbox: StoreSandbox

  init() throws { sandbox = try StoreSandbox() }

  /// A kernel that refuses watches as long as it's told to.
  private final class Kernel: Sendable {
    private let number: Guarded<Int32?>
    /// How many stores' directories have been watched.
    private let count = Guarded(0)

    init(_ number: Int32?) { self.number = Guarded(number) }

    var watchCount: Int { count.withLock { $0 } }

    func permit() { number.withLock { $0 = nil } }

    /// Its watches; if `permitsStore`, it refuses only those of the directories around the store's one.
    func means(permittingStore permitsStore: Bool = false) -> StoreWatch.Means {
      StoreWatch.Means(
        begin: { [self] (directory, take) throws(SystemError) in
          let isPermitted = permitsStore && directory.lastComponent == SystemPath("s")
          if let number = number.withLock({ $0 }), !isPermitted {
            throw SystemError(call: "inotify_add_watch(2)", paths: [directory], errno: number)
          }
          let watch = try DirectoryWatch.begin(directory, take)
          count.withLock { $0 += 1 }
          return watch
        }, unwatchedInterval: .milliseconds(5))
    }
  }

  @Test(
    "CK-23: A store is read and written, and hears of other processes, also if the kernel watches no directory",
    arguments: [ENOSPC, EMFILE, ENFILE, EOPNOTSUPP], [false, true])
  func unwatched(_ number: Int32, _ permitsStore: Bool) async throws {
    let store = try sandbox.store(watching: Kernel(number).means(permittingStore: permitsStore))
    try store.set(1, for: "a")
    let other = try sandbox.store()
    #expect(other["a"] == 1)
    try other.set(2, for: "b")
    await store.wait(for: ["a": 1, "b": 2])
  }

  @Test("A store that couldn't be watched is watched as soon as that's possible, and isn't looked at any more")
  func watchedLater() async throws {
    let kernel = Kernel(ENOSPC)
    let store = try sandbox.store(watching: kernel.means())
    let other = try sandbox.store()
    try other.set(1, for: "a")
    await store.wait(for: ["a": 1])
    #expect(kernel.watchCount == 0)
    kernel.permit()
    try other.set(2, for: "a")
    await store.wait(for: ["a": 2])
    try other.set(3, for: "a")
    await store.wait(for: ["a": 3])
    // The three directories, once.
    #expect(kernel.watchCount == 3)
  }

  @Test("A store that can't be watched hears that its files were removed, and takes the ones that are made then")
  func removed() async throws {
    let store = try sandbox.store(watching: Kernel(EOPNOTSUPP).means())
    try store.set(1, for: "a")
    removeSurely(sandbox.path + "/home")
    await store.wait(for: [:])
    let other = try sandbox.store()
    try other.set(2, for: "b")
    await store.wait(for: ["b": 2])
  }

  @Test("CK-11: A store that can't be watched hears of the account's other processes after a sign-in")
  func signedIn() async throws {
    let store = try sandbox.store(watching: Kernel(ENOSPC).means())
    try store.signIn(as: "ann")
    var configuration = sandbox.configuration()
    configuration.account = "ann"
    let other = try sandbox.store("s", configuration)
    try other.set(1, for: "a")
    await store.wait(for: ["a": 1])
  }

  @Test("A store that can't be watched for another reason isn't opened")
  func unwatchable() throws {
    let means = Kernel(EACCES).means()
    let code = code { () throws(KeyValueStoreError) in _ = try sandbox.store(watching: means) }
    #expect(code == .permissionDenied)
  }
}
