import FileCoordination
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("One service takes the place of another", .blocking)
struct ChangeOfServiceTests {
  @Test("Changes by a process that was killed are reported under its name")
  func nameOfTheDead() throws {
    let bench = try Workbench()
    let server = try bench.start("serve")
    _ = try server.output.line(containing: "serving ")
    let watcher = SlowPresenter(URL(filePath: try bench.makeFile("a")))
    let domain = CoordinationDomain.socket(bench.scratch.url.appending(path: "domain/s").path)
    let registration = try domain.register(watcher)
    defer { registration.end() }
    let writer = try bench.startScript("exec \"$FILECOORD\" write \"$ROOT/a\" -- sh -c 'echo inside; read line'")
    _ = try writer.output.line { $0 == "inside" }
    writer.signal(SIGKILL)
    watcher.isTold.wait()
    let origin = watcher.origins.withLock { $0.first }
    #expect(origin?.processIdentifier == writer.pid && origin?.processName == "filecoord")
    #expect(origin?.kind == .writing([]))
  }

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
    // The new service notifies both that they may have missed something, and the other one last.
    bystander.isTold.wait()
    #expect(presenter.events.withLock { $0 } == ["saving"])
    presenter.mayReturn.signal()
    presenter.isTold.wait()
    #expect(presenter.events.withLock { Array($0.prefix(3)) } == ["saving", "saved", "told"])
    #expect(try reader.end() == 0, "\(reader.errors.text)")
    #expect(bystander.origins.withLock { $0.first?.kind } == .missed)
  }
}

private final class SlowPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.saveChanges, .itemDidChange]
  let events = Mutex<[String]>([])
  let origins = Mutex<[AccessOrigin]>([])
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
    origins.withLock { $0.append(origin) }
    isTold.signal()
  }

  private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
