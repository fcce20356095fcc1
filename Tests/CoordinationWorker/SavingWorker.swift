import FileCoordination
import Foundation

/// A process that saves files safely on a disk that gets full.
enum SavingWorker {
  static func main(directory: String) throws {
    let directory = URL(filePath: directory, directoryHint: .isDirectory)
    let file = directory.appending(path: "file")
    let coordinator = FileCoordinator(label: "saver", domain: CoordinationDomain())
    let old = Data("old contents\n".utf8)
    try coordinator.blocking.replaceContents(of: file, with: old)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
    try fill(directory.appending(path: "ballast"))
    do {
      try coordinator.blocking.replaceContents(of: file, with: Data(repeating: 1, count: 1 << 20))
      Worker.report("saved")
    } catch {
      Worker.report("\(error)")
    }
    Worker.report(try coordinator.blocking.contents(of: file) == old ? "old" : "damaged")
    Worker.report("\(try mode(of: file))")
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    Worker.report(names.joined(separator: " "))
    // With room again the same save succeeds.
    try FileManager.default.removeItem(at: directory.appending(path: "ballast"))
    let new = Data(repeating: 1, count: 1 << 10)
    try coordinator.blocking.replaceContents(of: file, with: new)
    Worker.report(try coordinator.blocking.contents(of: file) == new ? "new" : "damaged")
    Worker.report("\(try mode(of: file))")
  }

  private static func mode(of file: URL) throws -> String {
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    return String(mode ?? 0, radix: 8)
  }

  private static func fill(_ file: URL) throws {
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    while (try? handle.write(contentsOf: Data(repeating: 0, count: 4096))) != nil {}
  }
}
