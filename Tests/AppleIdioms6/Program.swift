import Foundation
import FoundationCompatibility

// Programs in the idioms of those that are written for Apple platforms in Swift 6.

@main
struct Program {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("idioms-\(UUID().uuidString)")
      .resolvingSymlinksInPath()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await runFileStore(in: folder)
    try await runFileMonitor(in: folder)
    try await watchDocuments(in: folder)
    let predicate = NSPredicate(format: "%K > %@", "date", Date(timeIntervalSince1970: 0) as NSDate)
    guard predicate.evaluate(with: ["date": Date()]) else { throw Failure(description: "\(predicate)") }
    print("all well")
  }
}
