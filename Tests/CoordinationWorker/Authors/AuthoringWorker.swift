import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import Glibc
import SeededRandom
import SystemInterface

/// The items that such processes share.
package enum SharedPlaces {
  /// More names than files, so that files can be moved.
  package static let texts = ["a.txt", "b.txt", "c.txt", "d.txt"]
  package static let packages = ["p.album", "q.album", "r.album"]
  package static let members = ["1.txt", "2.txt", "3.txt"]
}

/// A process with documents of files and packages that other processes write as well, and that is killed.
///
/// Every word is added once, and reported when it's acknowledged: when the call has returned after which it must not get lost.
enum AuthoringWorker {
  /// A mistake that loses words, to show that the test would notice.
  enum Mistake: String {
    case none
    /// The hook of the documents drops what others have written.
    case merging
    /// Words count as acknowledged before anything has kept them.
    case hurrying
  }

  /// Called as `author SOCKET DIRECTORY SEED MISTAKE`; a line of its input lets each lane make so many steps.
  static func main(_ arguments: [String]) throws {
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let mistake = Mistake(rawValue: arguments[3]) else {
      throw CocoaError(.coderInvalidValue)
    }
    let desk = Desk(
      domain: .socket(arguments[0]), root: URL(filePath: arguments[1], directoryHint: .isDirectory), seed: seed,
      mistake: mistake, pace: Pace(laneCount: 3))
    Task {
      await desk.watch(0) { random in
        try await Author(desk: desk, lane: 0, names: SharedPlaces.texts, format: .text, add: Author.append)
          .session(&random)
      }
    }
    Task {
      await desk.watch(1) { random in
        try await Author(desk: desk, lane: 1, names: SharedPlaces.packages, format: .package, add: Author.update)
          .session(&random)
      }
    }
    Task { await desk.watch(2) { random in try await Stranger(desk: desk, lane: 2).step(&random) } }
    while let line = readLine() {
      guard let count = Int(line) else { throw CocoaError(.coderInvalidValue) }
      desk.pace.grant(count)
    }
  }
}

/// The means of all lanes of such a process.
struct Desk: Sendable {
  let domain: CoordinationDomain
  let root: URL
  let seed: UInt64
  let mistake: AuthoringWorker.Mistake
  let pace: Pace

  func url(_ name: String) -> URL { root.appending(path: "files/\(name)") }
  func word(_ lane: Int, _ number: Int) -> String { "<\(seed).\(lane).\(number)>" }
  func acknowledge(_ words: [String]) { for word in words { Worker.report("acknowledged \(word)") } }

  func options<Contents: Sendable>() -> DocumentOptions<Contents> {
    var options = DocumentOptions<Contents>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(root.appending(path: "store"))))
    options.autosave = AutosavePolicy(idleTime: .milliseconds(20))
    options.deadline = .seconds(120)
    if mistake == .merging { options.merge = { texts in .merged(texts.mine) } }
    if mistake == .hurrying { return options }
    options.crashJournal = .directory(root.appending(path: "journals"))
    options.crashJournal?.delay = .milliseconds(5)
    return options
  }

  /// Lets a lane do its work again and again, until the process is killed; it ends if something fails.
  ///
  /// While others move an item and are killed, a document may have to give up with an error. That ends the process as if it was killed:
  /// the acknowledged words must be there all the same.
  func watch(_ lane: UInt64, _ work: (inout SplitMix) async throws -> Void) async {
    var random = SplitMix(seed: seed &* 4 &+ lane)
    do { while true { try await work(&random) } } catch {
      let isSurrender =
        switch error {
        case let error as DocumentError: [.fileDeleted, .versionNotKept, .coordination].contains(error.code)
        case let error as FileCoordinationError: error.code == .presenterFailed
        default: false
        }
      Worker.report("\(isSurrender ? "gave up" : "failed"): lane \(lane): \(error)")
      exit(1)
    }
  }
}
