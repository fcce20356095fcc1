import FileCoordination
import Foundation

/// A process that only serves, and has as many descriptors as the test lets it have.
enum ServingWorker {
  static func main(socket: String) throws {
    let server = try CoordinationDomain.socket(socket).serve()
    Worker.report("serving")
    var descriptors = ScarceDescriptors()
    while let command = readLine() {
      switch command {
      case "exhaust": descriptors.exhaust()
      case "release": descriptors.release()
      default: descriptors.limit(to: Int(command) ?? 0)
      }
      Worker.report(command)
    }
    server?.stop()
  }
}
