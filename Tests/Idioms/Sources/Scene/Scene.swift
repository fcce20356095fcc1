// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation

/// What the programs of this target have in common: a folder, and checks that end the process when they fail.
enum Scene {
  static let folder: URL = {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("idioms-\(UUID().uuidString)")
      .resolvingSymlinksInPath()
    try! FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }()

  static func file(_ name: String, _ text: String = "text") -> URL {
    let url = folder.appendingPathComponent(name)
    try! Data(text.utf8).write(to: url)
    return url
  }

  static func check(_ condition: Bool, _ what: String, line: Int = #line) {
    if condition { return }
    print("failed: \(what), line \(line)")
    end(1)
  }

  static func wait(_ semaphore: DispatchSemaphore, _ what: String, line: Int = #line) {
    check(semaphore.wait(timeout: .now() + 60) == .success, "\(what) didn't come", line: line)
  }

  static func end(_ status: Int32) -> Never {
    try? FileManager.default.removeItem(at: folder)
    exit(status)
  }
}
