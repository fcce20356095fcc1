import FileCoordination
import Foundation
import Glibc

/// A process for tests of many processes; its first argument names its work.
///
/// It ends when its standard input does.
@main
struct Worker {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 2 else { throw Usage() }
    // A test that has crashed reads nothing more.
    signal(SIGPIPE, SIG_DFL)
    switch arguments[1] {
    case "share": try SharingWorker.main(Array(arguments[2...]))
    case "serve": try ServingWorker.main(socket: arguments[2])
    case "hold": try IdleWorker.hold(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "hold-by-identity": try IdleWorker.hold(URL(filePath: arguments[3]), in: .socket(arguments[2], .byIdentity))
    case "present": try IdleWorker.present(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "document": try DocumentWorker.main(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "edit": try EditingWorker.main(Array(arguments[2...]))
    case "end": try EndingWorker.main(Array(arguments[2...]))
    case "drive": try DrivenWorker.main(Array(arguments[2...]))
    case "journal": try JournalingWorker.main(Array(arguments[2...]))
    case "overwrite": try OverwritingWorker.main(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "author": try AuthoringWorker.main(Array(arguments[2...]))
    case "fork-end": try ForkingWorker.end(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "fork-linger": try ForkingWorker.linger(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "greedy": try GreedyWorker.main(URL(filePath: arguments[3]), in: .socket(arguments[2]))
    case "scarce":
      guard arguments.count > 4, let count = Int(arguments[4]) else { throw Usage() }
      try ScarceWorker.main(URL(filePath: arguments[3]), freeCount: count, in: .socket(arguments[2]))
    case "save": try SavingWorker.main(directory: arguments[2])
    case "save-as":
      guard arguments.count > 5 else { throw Usage() }
      try Outsider.save(
        URL(filePath: arguments[3]), by: arguments[4], in: .socket(arguments[2]), user: arguments[5])
    case "greet": try Outsider.greet(socket: arguments[2], user: arguments[3])
    case "listen": try Outsider.listen(socket: arguments[2], user: arguments[3])
    default: throw Usage()
    }
  }

  private struct Usage: Error {}

  /// Reports something to the test.
  static func report(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
