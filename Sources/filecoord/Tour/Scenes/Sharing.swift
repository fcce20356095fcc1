import FileCoordination
import FoundationEssentials

extension Scene {
  static let sharing = Scene("Readers share, a writer waits") { stage in
    let notes = try stage.makeFile("notes.txt", "old")
    let indexerMayLeave = Gate()
    let previewMayLeave = Gate()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, mayLeave) in [("indexer", indexerMayLeave), ("preview", previewMayLeave)] {
        group.addTask { try await stage.coordinator(name).read(notes) { _ in await mayLeave.pass() } }
      }
      let bothAreInside = await stage.untilHolding(["indexer", "preview"])
      stage.tell("indexer", "reads notes.txt.")
      stage.tell("preview", "reads it as well.")
      stage.claim("Both are inside at the same time: readers share.", bothAreInside)

      group.addTask {
        try await stage.coordinator("script").write(notes) { access in
          try "new".write(to: access.url, atomically: false, encoding: .utf8)
        }
      }
      let scriptWaits = await stage.untilWaiting("script", for: ["indexer", "preview"])
      stage.tell("script", "asks to write notes.txt. A writer needs the file alone.")
      stage.claim("It waits for indexer and preview.", scriptWaits && stage.text(notes) == "old")

      let late = Task { try await stage.coordinator("late").contents(of: notes) }
      await stage.untilWaiting("late", for: ["script"])
      stage.tell("late", "asks to read. It waits behind script: readers never starve a writer.")

      previewMayLeave.open()
      await stage.untilWaiting("script", for: ["indexer"])
      stage.tell("preview", "is done. script still waits for indexer.")
      indexerMayLeave.open()
      stage.tell("indexer", "is done. Now script writes, and then late reads.")
      let text = try await String(decoding: late.value, as: UTF8.self)
      try await group.waitForAll()
      stage.claim("late read what script wrote: \"\(text)\".", text == "new")
    }
  }
}
