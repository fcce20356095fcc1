internal import SystemInterface

/// A process that serves and ends in order takes in what has been told before, its own frames among them, so that nothing of
/// it is lost with the service.
enum ExitDrain {
  private struct WeakLink: Sendable { weak var link: ServiceLink? }

  private static let links = Guarded<[WeakLink]>([])
  private static let isRegistered: Bool = HostProcess.atExit { ExitDrain.run() }

  static func add(_ link: ServiceLink) {
    _ = isRegistered
    links.withLock { links in
      links.removeAll { $0.link == nil || $0.link === link }
      links.append(WeakLink(link: link))
    }
  }

  private static func run() {
    for link in links.withLock({ $0 }).compactMap(\.link) {
      link.flush()
      link.stopService()
    }
  }
}

extension ServiceLink {
  /// Ends the service if this process runs it.
  func stopService() { service.withLock { $0.take() }?.stop() }
}
