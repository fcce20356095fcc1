internal import SystemInterface

/// A serving process that ends in order takes in all frames that were sent before, its own among them: none is lost
/// with the service.
enum ExitDrain {
  private struct WeakLink: Sendable { weak var link: ServiceLink? }

  private static let links = Guarded<[WeakLink]>([])
  private static let isRegistered: Bool = HostProcess.atExit { ExitDrain.run() }
  /// A child of fork(2) has the handler too, but no thread that serves.
  private static let process = HostProcess.processIdentifier

  static func add(_ link: ServiceLink) {
    _ = process
    _ = isRegistered
    links.withLock { links in
      links.removeAll { $0.link == nil || $0.link === link }
      links.append(WeakLink(link: link))
    }
  }

  private static func run() {
    if HostProcess.processIdentifier != process { return }
    for link in links.withLock({ $0 }).compactMap(\.link) {
      link.writeFrames()
      link.stopService()
    }
  }
}

extension ServiceLink {
  /// Ends the service if this process runs it.
  ///
  /// It has ended when this returns, also if another thread ends it: otherwise a process could end before its socket is removed.
  func stopService() {
    guard let running = service.withLock({ $0 }) else { return }
    running.stop()
    service.withLock { if $0 === running { $0 = nil } }
  }
}
