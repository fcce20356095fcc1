import FileCoordination
import Foundation

/// A process that holds something, or presents it and doesn't answer, until it ends.
enum IdleWorker {
  /// Writes a file until the test says that it's enough.
  static func hold(_ file: URL, in domain: CoordinationDomain) throws {
    try FileCoordinator(label: "holder", domain: domain).blocking.write(file) { _ in
      Worker.report("holding")
      while readLine() != nil {}
    }
  }

  /// Presents a file and, when it's asked to let go, neither does nor refuses.
  static func present(_ file: URL, in domain: CoordinationDomain) throws {
    let presenter = MutePresenter(file)
    let registration = try domain.register(presenter)
    Worker.report("presenting")
    while readLine() != nil {}
    registration.end()
  }

  private final class MutePresenter: FilePresenter {
    let presentedItemURL: URL?
    let presenterLabel = "mute"
    let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToWriter]

    init(_ file: URL) { presentedItemURL = file }

    func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? {
      Worker.report("asked")
      let (never, end) = AsyncStream<Never>.makeStream()
      for await _ in never {}
      end.finish()
      return nil
    }
  }
}

extension CoordinationDomain.Configuration {
  /// Files are coordinated by device and inode, too.
  static var byIdentity: Self {
    var configuration = Self()
    configuration.coordinatesFilesByIdentity = true
    return configuration
  }
}
