import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import SeededRandom

/// A process with a document that has a crash journal, which is killed while words are typed into it.
///
/// Every word is typed once, in one process, and reported when it's acknowledged: saved, or written to the journal.
enum JournalingWorker {
  /// Called as `journal SOCKET FILE STORE JOURNALS SEED`.
  static func main(_ arguments: [String]) throws {
    guard arguments.count == 5, let seed = UInt64(arguments[4]) else { throw CocoaError(.coderInvalidValue) }
    let domain = CoordinationDomain.socket(arguments[0])
    var options = DocumentOptions<String>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(URL(filePath: arguments[2]))))
    options.crashJournal = .directory(URL(filePath: arguments[3]))
    options.crashJournal?.delay = .milliseconds(1)
    options.autosave = AutosavePolicy(idleTime: .milliseconds(5))
    let file = URL(filePath: arguments[1])
    let ended = DispatchSemaphore(value: 0)
    Task { [options] in
      do { try await type(file, options, seed: seed) } catch { Worker.report("failed: \(error)") }
      ended.signal()
    }
    ended.wait()
  }

  private static func type(_ file: URL, _ options: DocumentOptions<String>, seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let document = FileDocument(file, as: .text, options: options)
    try await document.open()
    for recovery in await document.recoveries {
      // Those about which nothing is decided are for the next one.
      switch random.below(3) {
      case 0: try await document.resolve(recovery, by: .restoring)
      case 1: try await document.resolve(recovery, by: .keepingAsVersion)
      default: break
      }
    }
    Worker.report("open")
    var number = 0
    // Until it's killed.
    while true {
      let first = number
      for _ in 0...random.below(3) {
        let word = word(seed, number)
        try await document.edit { $0 += word }
        number += 1
      }
      if random.chance(1, in: 3) { try await document.save() } else { try await document.writeJournal() }
      for index in first..<number { Worker.report("acknowledged \(word(seed, index))") }
    }
  }

  private static func word(_ seed: UInt64, _ number: Int) -> String { "<\(seed).\(number)>" }
}
