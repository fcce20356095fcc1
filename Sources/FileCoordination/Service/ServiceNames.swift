internal import SystemInterface

/// The names by which others find a service: its locks and its socket.
///
/// Without them others elect a second service, so the first has to end. It hears of that from the kernel; as long as the user has
/// no watches left it doesn't.
struct ServiceNames {
  static let token = UInt64.max - 1
  private let right: ServingRight
  private let listener: LocalListener
  private let changes: InotifyQueue?

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - right: The right to serve.
  ///   - listener: Where the service listens.
  ///   - poller: Reports with ``token`` that something may have changed.
  init(_ right: ServingRight, _ listener: LocalListener, _ poller: ReadinessPoller) {
    self.right = right
    self.listener = listener
    changes = try? InotifyQueue()
    guard let changes, (try? poller.add(changes, token: Self.token, awaiting: .readable)) != nil else { return }
    // The file stays open, so the loss of a name is reported as a change of attributes.
    for path in right.places.flatMap({ [$0.lock.path, $0.address.path] }) {
      _ = try? changes.watch(path, [.attributes, .itself], isDirectory: false)
    }
  }

  /// Checks the names after something may have changed.
  ///
  /// - Returns: Whether others still find the service by the names.
  func areKept() -> Bool {
    _ = changes?.takeRecords()
    return right.isKept && listener.hasItsName
  }

  func stopWatching(_ poller: ReadinessPoller) {
    if let changes { poller.remove(changes) }
  }
}
