import FileCoordination
import Foundation

/// A process that presents many items while it may have few files open, and then uses up all descriptors that are left.
package enum GreedyWorker {
  package static let descriptorCountMax = 64
  package static let itemCount = 100

  /// Presents the items in a directory, and holds a file beside them.
  static func main(_ directory: URL, in domain: CoordinationDomain) throws {
    let urls = (0..<itemCount).map { directory.appending(path: "items/\($0)") }
    for url in urls { try Data().write(to: url) }
    var descriptors = ScarceDescriptors()
    descriptors.limit(to: descriptorCountMax)
    var registrations: [FilePresenterRegistration] = []
    // Only this array keeps them.
    var observers: [Observer] = []
    for url in urls {
      let observer = Observer(url)
      observers.append(observer)
      registrations.append(try domain.register(observer))
    }
    try FileCoordinator(label: "greedy", domain: domain).blocking.write(directory.appending(path: "held")) { _ in
      Worker.report("presenting")
      while let command = readLine() {
        if command == "exhaust" { descriptors.exhaust() } else { descriptors.release() }
        Worker.report(command)
      }
    }
    for registration in registrations { registration.end() }
    withExtendedLifetime(observers) {}
  }

  private final class Observer: FilePresenter {
    let presentedItemURL: URL?
    let presenterLabel = "observer"
    let presentedItemCallbacks: FilePresenterCallbacks = [.itemDidChange, .itemDidMove]
    let observesUncoordinatedChanges = true

    init(_ url: URL) { presentedItemURL = url }

    func presentedItemDidChange(origin: AccessOrigin) async { Worker.report("changed \(name)") }

    func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
      Worker.report("moved \(name) to \(url.lastPathComponent)")
    }

    private var name: String { presentedItemURL?.lastPathComponent ?? "" }
  }
}

/// A process that begins with few descriptors left, alone in its domain.
package enum ScarceWorker {
  /// Reports the outcome of a registration and of a write.
  static func main(_ file: URL, freeCount: Int, in domain: CoordinationDomain) throws {
    var descriptors = ScarceDescriptors()
    descriptors.leave(freeCount)
    let outcome: String
    do {
      try domain.register(Nobody(file)).end()
      let deadlines = AccessDeadlines(waitingForAccesses: .seconds(30))
      try FileCoordinator(label: "scarce", domain: domain, deadlines: deadlines).blocking.write(file) { _ in }
      outcome = "done"
    } catch {
      outcome = "\(error)".contains("EMFILE") ? "names what's missing" : "\(error)"
    }
    descriptors.release()
    Worker.report(outcome)
    try FileCoordinator(label: "rich", domain: domain).blocking.write(file) { _ in }
    Worker.report("goes on")
  }

  private final class Nobody: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = []

    init(_ file: URL) { presentedItemURL = file }
  }
}
