import Foundation

/// The common part of the programs: a folder, and checks that end the process when they fail.
public enum Scene {
  /// Of this process alone; removed at its end.
  public static let folder: URL = {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("idioms-\(UUID().uuidString)")
      .resolvingSymlinksInPath()
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch { fatalError("\(error)") }
    return url
  }()

  /// A new file in the folder.
  public static func file(_ name: String, _ text: String = "text") -> URL {
    let url = folder.appendingPathComponent(name)
    do { try Data(text.utf8).write(to: url) } catch { check(false, "\(error)") }
    return url
  }

  /// A new directory in the folder.
  public static func directory(_ name: String) -> URL {
    let url = folder.appendingPathComponent(name)
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch { check(false, "\(error)") }
    return url
  }

  /// Ends the process when a condition doesn't hold.
  public static func check(_ condition: Bool, _ what: String, line: Int = #line) {
    if condition { return }
    print("failed: \(what), line \(line)")
    end(1)
  }

  /// Waits for an event that must occur.
  public static func wait(_ semaphore: DispatchSemaphore, _ what: String, line: Int = #line) {
    check(semaphore.wait(timeout: .now() + 60) == .success, "\(what) didn't come", line: line)
  }

  /// The end of a program in which all checks held.
  public static func finish() -> Never {
    print("all well")
    end(0)
  }

  private static func end(_ status: Int32) -> Never {
    // Other threads may be putting something there at this moment.
    for _ in 0..<1_000 where FileManager.default.fileExists(atPath: folder.path) {
      try? FileManager.default.removeItem(at: folder)
    }
    exit(status)
  }
}
