import FileCoordination
import FoundationEssentials

extension Scene {
  static let lookingInside = Scene("A domain lists holders and waiting accesses") { stage in
    let page = try stage.makeFile("page.txt", "text")
    let editor = Editor(page, on: stage)
    let registration = try await stage.domain.register(editor)
    defer { registration.end() }
    let mayLeave = Gate()

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await stage.coordinator("printer").read(page) { _ in await mayLeave.pass() } }
      await stage.untilHolding(["printer"])
      group.addTask { try await stage.coordinator("sync").write(page) { _ in } }
      await stage.untilWaiting("sync", for: ["printer"])
      stage.explain("editor shows page.txt, printer reads it, sync waits to write it. The domain lists all three:")
      let state = try await stage.domain.snapshot()
      stage.quote(state.description)
      let labels = state.presenters.map(\.label) + state.accesses.map(\.party.label)
      stage.claim("The tree names all three.", labels == ["editor", "printer", "sync"])
      mayLeave.open()
      try await group.waitForAll()
    }
    try await stage.domain.waitUntil { $0.accesses.isEmpty }
    let presenters = try await stage.domain.snapshot().presenters
    stage.claim("When all is done, only the presenter is left.", presenters.count == 1)
  }
}
