import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface

// Actions of programs that don't coordinate, and waiting until the actions have been handled.

extension Sandbox {
  /// A presenter that receives the changes of strangers.
  func observe(
    _ name: String, as label: String = "P", _ callbacks: FilePresenterCallbacks = .all
  ) throws -> RecordingPresenter {
    letChangesSettle()
    return try present(name, as: label, callbacks, observesStrangers: true)
  }

  /// Writes a file in place.
  func scribble(_ name: String, _ text: String = "stranger") throws {
    try text.write(to: url(name), atomically: false, encoding: .utf8)
  }

  /// Writes a temporary file and renames it over the file, as git does.
  func replace(_ name: String, _ text: String = "stranger") throws {
    try scribble(name + ".lock", text)
    try renameOver(name + ".lock", name)
  }

  func renameOver(_ old: String, _ new: String) throws {
    try HostFileSystem().rename(
      SystemPath(url(old).path), at: .workingDirectory, to: SystemPath(url(new).path), at: .workingDirectory, .replacing
    )
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: url(name).path) }

  /// Suspends until each domain and presenter concerned has received and handled all changes of files.
  func settle(_ presenters: RecordingPresenter...) async throws {
    for presenter in presenters {
      let domain = domain(of: presenter)
      // The first round takes in the changes, the second those items that came back for another check. A snapshot is
      // answered after all reports before it.
      for _ in 0..<2 {
        _ = try await self.domain.snapshot()
        domain.readUncoordinatedChanges()
        _ = try await domain.snapshot()
      }
      // The time of moves, and of changes that are found by then.
      for _ in 0..<2 {
        if !Sandbox.hasManyProcesses { clock.advance(by: .milliseconds(100)) }
        domain.readUncoordinatedChanges()
      }
    }
    try await quiesce()
  }
}

extension RecordingPresenter {
  /// Callbacks with the names of the items; those caused by strangers are marked with a star.
  func summary(in box: Sandbox) -> [String] {
    messages.map { message in
      let names = message.urls.map { String($0.path.dropFirst(box.root.path.count + 1)) }
      return ([message.callback.rawValue] + names).joined(separator: " ") + (message.origin.isCoordinated ? "" : "*")
    }
  }
}
