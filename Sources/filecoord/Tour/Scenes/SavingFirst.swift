import FileCoordination
import FoundationEssentials

extension Scene {
  static let savingFirst = Scene("An editor saves before another program reads") { stage in
    let letter = try stage.makeFile("letter.txt", "Dear")
    let editor = Editor(letter, on: stage)
    let registration = try await stage.domain.register(editor)
    defer { registration.end() }

    stage.tell("editor", "shows letter.txt, and is registered as its presenter.")
    editor.type("Dear Ada")
    stage.claim("The disk still has the old text: \"Dear\".", stage.text(letter) == "Dear")

    stage.tell("mailer", "knows nothing of editor, and asks to read letter.txt.")
    let sent = try await stage.coordinator("mailer").contents(of: letter)
    let text = String(decoding: sent, as: UTF8.self)
    stage.claim("mailer got the new text: \"\(text)\".", text == "Dear Ada")
  }
}
