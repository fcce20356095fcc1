// swift-format-ignore-file
// As people write it.

import Foundation

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

func finish(_ message: String?) -> Never {
  try? FileManager.default.removeItem(at: folder)
  print(message ?? "all well")
  exit(message == nil ? 0 : 1)
}

// A command-line program: no run loop, no queue, and the main thread waits.
let store = NoteStore(folder: folder.resolvingSymlinksInPath())
let found = DispatchSemaphore(value: 0)
store.onChange = { titles in
  if titles == ["One", "Two"] { found.signal() }
}
try store.write("first", title: "One")
if !store.query.start() { finish("the query didn't start") }
try store.write("second", title: "Two")
if found.wait(timeout: .now() + 60) != .success { finish("the notes weren't found") }
store.query.stop()

do {
  let url = folder.appendingPathComponent("One.note")
  let controller = NoteController(url: url, text: "edited")
  var read: String?
  NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { read = try? String(contentsOf: $0, encoding: .utf8) }
  if read != "edited" { finish("the note wasn't saved before it was read") }
  _ = controller
}
if FileManager.default.url(forUbiquityContainerIdentifier: nil) != nil { finish("somebody is signed in") }
finish(nil)
