import FileCoordination
import FoundationEssentials
import Synchronization

extension Scene {
  static let mutualReaders = Scene("Two presenters that wait for each other go on") { stage in
    let list = try stage.makeFile("list.txt", "milk")
    let viewers = [Viewer("left", list, on: stage), Viewer("right", list, on: stage)]
    let registrations = try viewers.map { try stage.domain.register($0) }
    defer { for registration in registrations { registration.end() } }

    stage.explain("left and right show list.txt. Whenever it changes, each reads it again inside that callback.")
    stage.tell("script", "writes list.txt.")
    try await stage.coordinator("script").replaceContents(of: list, with: Data("milk, bread".utf8))
    stage.explain(
      """
      Both are notified at once. left's read needs right to let go of the file first, but right is busy: it reads as \
      well, and needs left to let go. Without further care both would wait forever.
      """)
    try await stage.domain.waitUntil { state in
      state.presenters.allSatisfy(\.isIdle) && viewers.allSatisfy { $0.text != nil }
    }
    for viewer in viewers {
      stage.claim(
        "\(viewer.presenterLabel) read \"\(viewer.text ?? "")\", and let go while its own read was waiting.",
        viewer.text == "milk, bread" && viewer.wasAskedWhileWaiting)
    }
  }
}

/// Shows a file, and reads it again from inside the callback that says it has changed.
private final class Viewer: FilePresenter {
  private struct State {
    var text: String?
    var wasAskedWhileWaiting = false
  }

  let presenterLabel: String
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.relinquishToReader, .itemDidChange]
  private let stage: Stage
  private let state = Mutex(State())

  var text: String? { state.withLock { $0.text } }
  var wasAskedWhileWaiting: Bool { state.withLock { $0.wasAskedWhileWaiting } }

  init(_ name: String, _ url: URL, on stage: Stage) {
    presenterLabel = name
    presentedItemURL = url
    self.stage = stage
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    guard let url = presentedItemURL else { return }
    // Both are to be in this callback, so that they really wait for each other.
    try? await stage.domain.waitUntil { state in state.presenters.allSatisfy { !$0.running.isEmpty } }
    let data = try? await stage.coordinator(presenterLabel, for: self).contents(of: url)
    state.withLock { $0.text = data.map { String(decoding: $0, as: UTF8.self) } ?? "nothing" }
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? {
    if origin.isReentrant { state.withLock { $0.wasAskedWhileWaiting = true } }
    return nil
  }
}
