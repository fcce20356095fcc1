import AppleIdioms5
import AppleIdioms6
import Foundation
import TestSupport
import Testing

@Suite("Programs written for Apple platforms", .blocking, .timeLimit(.minutes(4)))
struct IdiomTests {
  @Test(
    "N-10: They compile without a warning in Swift 5 and Swift 6, and run, alone and in a domain of processes",
    arguments: ["AppleIdioms5", "AppleIdioms6"], [true, false])
  func programs(name: String, alone: Bool) throws {
    try withSandbox { box in
      let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: name)
      let directory = FileManager.default.temporaryDirectory.appending(path: "m-\(UUID().uuidString.prefix(8))")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let domain = alone ? "process" : "socket:\(directory.path)/s"
      let process = try ChildProcess(
        program.path, [], environment: ["FILE_COORDINATION_DOMAIN": domain], input: .nothing, output: .pipe)
      let output = String(decoding: process.output?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
      #expect(process.waitUntilExit() == .exit(0))
      #expect(output == "all well\n")
    }
  }
}
