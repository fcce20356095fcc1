import FileCoordination
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("One service takes the place of another", .blocking)
struct ChangeOfServiceTests {
  @Test("Callbacks of a presenter run one after the other, also when the new service doesn't know that one runs")
  func callbacks() throws {
    let bench = try Workbench()
    let url = URL(filePath: try bench.makeFile("a"))
    try bench.makeFile("elsewhere")
    let server = try bench.hold("elsewhere")
    let domain = CoordinationDomain.socket(bench.scratch.url.appending(path: "domain/s").path)
    let presenter = SlowPresenter(url)
    let bystander = SlowPresenter(URL(filePath: bench.path("elsewhere")))
    let registrations = [try domain.register(presenter), try domain.register(bystander)]
    defer { for registration in registrations { registration.end() } }
    let reader = try bench.start("read", url.path, "--", "true")
    presenter.isSaving.wait()
    server.signal(SIGKILL)
    // The new service tells both that they may have missed something, and the other one last.
    bystander.isTold.wait()
    #expect(presenter.events.withLock { $0 } == ["saving"])
    presenter.mayReturn.signal()
    presenter.isTold.wait()
    #expect(presenter.events.withLock { Array($0.prefix(3)) } == ["saving", "saved", "told"])
    #expect(try reader.end() == 0, "\(reader.errors.text)")
  }
}

private final class SlowPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges, .itemDidChange]
  let events = Mutex<[String]>([])
  let isSaving = DispatchSemaphore(value: 0)
  let mayReturn = DispatchSemaphore(value: 0)
  let isTold = DispatchSemaphore(value: 0)

  init(_ url: URL) { presentedItemURL = url }

  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    let isFirst = events.withLock { events in
      events.append("saving")
      return events.count == 1
    }
    isSaving.signal()
    if isFirst { Self.wait(mayReturn) }
    events.withLock { $0.append("saved") }
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    events.withLock { $0.append("told") }
    isTold.signal()
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
