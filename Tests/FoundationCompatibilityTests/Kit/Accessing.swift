import FileCoordination
import Foundation
import FoundationCompatibility
import Testing

/// An access of one item, for tables.
enum Access: Sendable, CustomStringConvertible {
  case read(NSFileCoordinator.ReadingOptions)
  case write(NSFileCoordinator.WritingOptions)

  static let read = Access.read([])
  static let write = Access.write([])

  var description: String {
    switch self {
    case .read(let options): "read \(options.rawValue)"
    case .write(let options): "write \(options.rawValue)"
    }
  }

  /// - Returns: Why there was no access.
  @discardableResult
  func run(by coordinator: NSFileCoordinator = NSFileCoordinator(), _ url: URL, _ body: (URL) -> Void = { _ in })
    -> NSError?
  {
    var error: NSError?
    switch self {
    case .read(let options):
      coordinator.coordinate(readingItemAt: url, options: options, error: &error, byAccessor: body)
    case .write(let options):
      coordinator.coordinate(writingItemAt: url, options: options, error: &error, byAccessor: body)
    }
    return error
  }
}

extension Sandbox {
  /// Registers presenters for as long as `body` runs, and waits until they have heard everything.
  func presenting(_ presenters: any JournalPresenter & NSFilePresenter..., body: () throws -> Void) rethrows {
    for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
    defer { for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) } }
    try body()
    quiesce()
    for presenter in presenters { presenter.queue.waitUntilAllOperationsAreFinished() }
  }

  /// Blocks until nobody accesses anything in the sandbox, and no presenter of it or of an item in it has a message left.
  func quiesce() {
    let top = root.path
    @Sendable func isInside(_ path: String) -> Bool { path == top || path.hasPrefix(top + "/") }
    awaitState { snapshot in
      snapshot.presenters.allSatisfy { presenter in
        presenter.path.map(isInside) != true || (presenter.running.isEmpty && presenter.pendingMessageCount == 0)
      }
        && !snapshot.accesses.contains { access in access.party.items.contains { isInside($0.path) } }
    }
  }

  /// Blocks until so many accesses wait for an item; gives up at last.
  func awaitWaits(for url: URL, count: Int) {
    let path = url.path
    awaitState { snapshot in
      snapshot.accesses.count { access in !access.isGranted && access.party.items.contains { $0.path == path } }
        == count
    }
  }

  /// Moves an item as everybody does it, and does something before.
  func move(
    _ old: String, to new: String, by mover: NSFileCoordinator = NSFileCoordinator(), after body: () -> Void = {}
  ) {
    var error: NSError?
    mover.coordinate(
      writingItemAt: url(old), options: .forMoving, writingItemAt: url(new), options: .forReplacing, error: &error
    ) { source, target in
      body()
      mover.item(at: source, willMoveTo: target)
      #expect((try? FileManager.default.moveItem(at: source, to: target)) != nil)
      mover.item(at: source, didMoveTo: target)
    }
    #expect(error == nil)
  }

  /// A thread that accesses an item, and notes the item's path when it may.
  func worker(_ access: Access, _ path: String, _ journal: Journal) -> Worker {
    let (url, root) = (url(path), root.path + "/")
    return Worker { access.run(url) { journal.note(String($0.path.dropFirst(root.count))) } }
  }

  /// Starts the same access, and returns when it waits.
  func waiter(_ access: Access, _ path: String, _ journal: Journal) -> Worker {
    let worker = worker(access, path, journal)
    awaitWait(for: url(path))
    return worker
  }
}
