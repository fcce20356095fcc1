// swift-format-ignore-file
// As people write it.

import Foundation

actor NoteWriter {
  let folder: URL

  init(folder: URL) { self.folder = folder }

  func write(_ text: String, to name: String) async throws {
    let intent = NSFileAccessIntent.writingIntent(with: folder.appendingPathComponent(name), options: .forReplacing)
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, Error>) in
      NSFileCoordinator().coordinate(with: [intent], queue: OperationQueue()) { error in
        continuation.resume(with: Result {
          if let error { throw error }
          try Data(text.utf8).write(to: intent.url)
        })
      }
    }
  }
}

@main
struct Notes {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let writer = NoteWriter(folder: folder)
    try await writer.write("one", to: "One.note")
    let finder = NoteFinder()
    for await notes in finder.notes(in: folder.resolvingSymlinksInPath()) {
      if notes.isEmpty || notes.last?.title != "One.note" { fatalError("found \(notes)") }
      if notes.count == 1 { try await writer.write("second", to: "Two.note") }
      if notes == [Note(title: "Two.note", size: 6), Note(title: "One.note", size: 3)] { break }
    }
    finder.stop()
    print("all well")
  }
}
