import FileCoordination
import FoundationEssentials

extension Scene {
  static let askingBeforeDeletion = Scene("A deletion asks the editor first") { stage in
    let poem = try stage.makeFile("poem.txt", "one line")
    let editor = Editor(poem, on: stage)
    let registration = try await stage.domain.register(editor)
    defer { registration.end() }
    let cleaner = stage.coordinator("cleaner")

    stage.tell("editor", "shows poem.txt.")
    editor.type("two lines")
    stage.tell("cleaner", "asks to delete poem.txt.")
    do {
      try await cleaner.delete(poem)
      stage.claim("cleaner is refused.", false)
    } catch let error as FileCoordinationError {
      stage.claim("cleaner is refused, with the reason:", error.code == .presenterFailed)
      stage.quote(error.description)
    }
    stage.claim("The file is still there, and so is the unsaved text.", stage.exists(poem) && editor.isOpen)

    try await editor.save()
    stage.tell("editor", "saves.")
    stage.tell("cleaner", "asks again.")
    try await cleaner.delete(poem)
    stage.claim("The file is gone, and editor has closed it before.", !stage.exists(poem) && !editor.isOpen)
  }
}
