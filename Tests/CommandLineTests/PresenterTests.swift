import FileCoordination
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Presenters of other processes, and the command-line tool", .blocking)
struct PresenterTests {
  private let bench: Workbench
  private let domain: CoordinationDomain
  private let url: URL

  init() throws {
    bench = try Workbench()
    domain = .socket(bench.scratch.url.appending(path: "domain/s").path)
    url = URL(filePath: try bench.makeFile("a", "saved"))
  }

  @Test("A presenter saves before a command reads (C-031)")
  func saving() throws {
    let presenter = TestPresenter(url, .saveChanges) { [url] in try Data("unsaved".utf8).write(to: url) }
    let registration = try domain.register(presenter)
    defer { registration.end() }
    let result = try bench.run("read", url.path, "--", "cat", "{}")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "unsaved")
  }

  @Test("A presenter that refuses a deletion prevents it: 77 (C-074)")
  func refusing() throws {
    let presenter = TestPresenter(url, .accommodateDeletion) { throw Refusal() }
    let registration = try domain.register(presenter)
    defer { registration.end() }
    let result = try bench.run("delete", url.path)
    #expect(result.status == 77)
    #expect(result.errors.contains("the presenter 'editor'"))
    #expect(result.errors.contains("not now"))
    #expect(bench.text("a") == "saved")
  }

  @Test("A presenter that doesn't answer is named when the deadline has passed: 75")
  func silence() throws {
    let release = DispatchSemaphore(value: 0)
    let presenter = TestPresenter(url, .saveChanges) { release.wait() }
    let registration = try domain.register(presenter)
    defer {
      release.signal()
      registration.end()
    }
    let result = try bench.run("read", "--timeout", "2", url.path, "--", "true")
    #expect(result.status == 75)
    #expect(result.errors.contains("the presenter 'editor'"))
  }

  @Test("The tree in JSON has the callbacks under way, and the presenters for which accesses wait")
  func jsonTree() throws {
    let release = DispatchSemaphore(value: 0)
    let presenter = TestPresenter(url, .saveChanges) { release.wait() }
    let registration = try domain.register(presenter)
    defer { registration.end() }
    let reader = try bench.start("read", "--label", "reader", "--wait-report", "0.01", url.path, "--", "true")
    defer { release.signal() }
    _ = try reader.errors.line(containing: "waiting for ")
    let result = try bench.run("tree", "--json", url.path)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: [[String: Any]]])
    let access = try #require(object["accesses"]?.first)
    #expect(access["label"] as? String == "reader" && access["state"] as? String == "asking")
    #expect(access["pid"] as? Int == Int(reader.pid) && access["waitsForMore"] as? Int == 0)
    let blocker = try #require((access["waitsFor"] as? [[String: Any]])?.first)
    #expect(blocker["label"] as? String == "editor" && blocker["pid"] as? Int == Int(getpid()))
    #expect(blocker["callback"] as? String == "savePresentedItemChanges")
    #expect((blocker["seconds"] as? Double ?? -1) >= 0)
    let presented = try #require(object["presenters"]?.first)
    #expect(presented["label"] as? String == "editor" && presented["waiting"] as? Int == 0)
    let running = try #require((presented["running"] as? [[String: Any]])?.first)
    #expect(running["callback"] as? String == "savePresentedItemChanges")
    #expect((running["seconds"] as? Double ?? -1) >= 0)
    release.signal()
    #expect(try reader.end() == 0)
  }

  @Test("The tree names presenters of other processes")
  func tree() throws {
    let presenter = TestPresenter(url, .saveChanges) {}
    let registration = try domain.register(presenter)
    defer { registration.end() }
    let result = try bench.run("tree", url.path)
    #expect(result.output.contains("presented by 'editor' (pid \(ProcessInfo.processInfo.processIdentifier) "))
  }
}

private struct Refusal: Error, CustomStringConvertible { let description = "not now" }

/// Does one thing when it's asked; on threads of the library, which may block.
private final class TestPresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks
  var presenterLabel: String { "editor" }
  private let action: @Sendable () throws -> Void

  init(_ url: URL, _ callbacks: FilePresenterCallbacks, action: @escaping @Sendable () throws -> Void) {
    presentedItemURL = url
    presentedItemCallbacks = callbacks
    self.action = action
  }

  func savePresentedItemChanges(origin: AccessOrigin) async throws { try action() }
  func accommodatePresentedItemDeletion(origin: AccessOrigin) async throws { try action() }
}
