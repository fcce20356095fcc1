import FileCoordination
import Foundation

/// A process that overwrites a file with each line of its input, by coordination.
enum OverwritingWorker {
  static func main(_ file: URL, in domain: CoordinationDomain) throws {
    let coordinator = FileCoordinator(label: "writer", domain: domain)
    Worker.report("ready")
    while let line = readLine() {
      try coordinator.blocking.replaceContents(of: file, with: Data(line.utf8))
      Worker.report("wrote \(line)")
    }
  }
}
