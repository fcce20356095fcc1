import FileCoordination
import FoundationEssentials
import Synchronization
import Testing

final class Editor: FilePresenter {
  let presentedItemURL: URL?
  let log = Mutex<[String]>([])
  let domain: CoordinationDomain
  init(_ url: URL, _ d: CoordinationDomain) { presentedItemURL = url; domain = d }
  var presentedItemCallbacks: FilePresenterCallbacks { .all }
  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    log.withLock { $0.append("relinquish") }
    return { [weak self] in self?.log.withLock { $0.append("reacquire") } }
  }
  func savePresentedItemChanges(origin: AccessOrigin) async throws {
    log.withLock { $0.append("save") }
    try await FileCoordinator(presenter: self, domain: domain).write(presentedItemURL!) { access in
      try "saved".write(to: access.url, atomically: false, encoding: .utf8)
    }
  }
  func presentedItemDidChange(origin: AccessOrigin) async { log.withLock { $0.append("changed \(String(describing: origin.isVerified))") } }
}

@Test func smoke() async throws {
  let domain = CoordinationDomain()
  let dir = URL(filePath: "/tmp/fc-smoke")
  try? FileManager.default.createDirectory(at: dir, withIntermediateDirectories: true)
  let url = dir.appendingPathComponent("a.txt")
  try "old".write(to: url, atomically: false, encoding: .utf8)
  let editor = Editor(url, domain)
  let registration = try domain.register(editor)
  let text = try await FileCoordinator(label: "reader", domain: domain).read(url) { access in
    print(domain.snapshot())
    return try String(contentsOf: access.url, encoding: .utf8)
  }
  #expect(text == "saved")
  try await FileCoordinator(label: "w", domain: domain).write(url) { access in
    try "xxx".write(to: access.url, atomically: false, encoding: .utf8)
  }
  await domain.waitUntil { $0.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 } }
  print(editor.log.withLock { $0 })
  withExtendedLifetime(registration) {}
  Thread1.run { print((try? FileCoordinator(domain: domain).blocking.read(url) { _ in 5 }) ?? 0) }
}
enum Thread1 { static func run(_ f: () -> Void) { f() } }

@Test func verbs() async throws {
  let domain = CoordinationDomain()
  let dir = URL(filePath: "/tmp/fc-smoke2")
  try? FileManager.default.removeItem(at: dir)
  try FileManager.default.createDirectory(at: dir, withIntermediateDirectories: true)
  let a = dir.appendingPathComponent("a.txt"), b = dir.appendingPathComponent("b.txt")
  let c = FileCoordinator(label: "verbs", domain: domain)
  let events = try domain.events(at: dir)
  try await c.replaceContents(of: a, with: Data("hello".utf8))
  try await c.update(a) { $0.append(contentsOf: Data(" world".utf8)) }
  try await c.copy(a, to: b)
  await #expect(throws: FileCoordinationError.self) { try await c.move(a, to: b) }
  do { try await c.move(a, to: b) } catch { print(error) }
  try await c.move(a, to: b, replacing: true)
  let d = try await c.contents(of: b)
  #expect(d == Data("hello world".utf8))
  let t = try await c.read(dir, options: .forUploading) { access in print(access.url); return try Data(contentsOf: access.url).count }
  print(t)
  try await c.delete(b)
  var n = 0
  for await e in events { print(e.kind, e.origin.kind, e.origin.isVerified as Any); n += 1; if n == 7 { break } }
  do { _ = try await c.contents(of: b) } catch { print(error) }
  do { _ = try await c.contents(of: URL(string: "http://x/y")!) } catch { print(error) }
  do { _ = try await c.contents(of: URL(fileURLWithPath: "x")) } catch { print(error) }
}
@Test func deadlock() async throws {
  let domain = CoordinationDomain()
  let a = URL(filePath: "/tmp/fc-smoke/a.txt"), b = URL(filePath: "/tmp/fc-smoke/b.txt")
  let r = await withTaskGroup(of: String.self) { g in
    for (x, y, l) in [(a, b, "one"), (b, a, "two")] {
      g.addTask {
        do {
          return try await FileCoordinator(label: l, domain: domain).write(x) { _ in
            await domain.waitUntil { $0.accesses.count >= 2 }
            return try await FileCoordinator(label: l + "-inner", domain: domain).write(y) { _ in "ok" }
          }
        } catch { return "\(error)" }
      }
    }
    var out: [String] = []
    for await s in g { out.append(s) }
    return out
  }
  for s in r { print(s) }
}
