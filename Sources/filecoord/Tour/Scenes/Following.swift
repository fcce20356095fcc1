import FileCoordination
import FoundationEssentials

extension Scene {
  static let following = Scene("A file moves under a waiting reader") { stage in
    let draft = try stage.makeFile("draft.txt", "text")
    let final = stage.directory.appending(path: "final.txt")
    let editor = Editor(draft, on: stage)
    let registration = try await stage.domain.register(editor)
    defer { registration.end() }
    let mayLeave = Gate()

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await stage.coordinator("backup").read(draft) { _ in await mayLeave.pass() } }
      await stage.untilHolding(["backup"])
      stage.tell("backup", "reads draft.txt, which editor shows.")
      group.addTask { try await stage.coordinator("organizer").move(draft, to: final) }
      await stage.untilWaiting("organizer", for: ["backup"])
      stage.tell("organizer", "asks to rename draft.txt to final.txt, and waits for backup.")
      let reader = Task {
        try await stage.coordinator("reader").read(draft) { access in
          (access.url.lastPathComponent, access.wasMoved, stage.text(access.url))
        }
      }
      await stage.untilWaiting("reader", for: ["organizer"])
      stage.tell("reader", "asks to read draft.txt, and waits for organizer.")

      mayLeave.open()
      stage.tell("backup", "is done, so organizer renames the file.")
      let (name, wasMoved, text) = try await reader.value
      try await group.waitForAll()
      stage.claim("reader requested draft.txt and received \(name).", name == "final.txt" && wasMoved)
      stage.claim("It read the text there.", text == "text")
    }
    try await stage.domain.waitUntil { state in state.presenters.allSatisfy(\.isIdle) }
    let place = editor.presentedItemURL?.lastPathComponent ?? "nothing"
    stage.claim("editor was notified, and shows \(place).", place == "final.txt")
  }
}

extension CoordinationSnapshot.Presenter {
  var isIdle: Bool { running.isEmpty && pendingMessageCount == 0 }
}
