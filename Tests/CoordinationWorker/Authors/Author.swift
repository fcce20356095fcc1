import FileCoordination
import FileDocuments
import FilePackages
import Foundation
import SeededRandom
import SystemInterface

/// A lane with one document after the other.
struct Author<Format: DocumentFormat>: Sendable {
  let desk: Desk
  let lane: Int
  let names: [String]
  let format: Format
  /// Adds a word to contents, at one of some places; `false` if that isn't possible right now.
  let add: @Sendable (inout Format.Contents, String, _ place: Int) -> Bool

  /// Opens a document, edits, saves, moves and closes it.
  func session(_ random: inout SplitMix) async throws {
    await desk.pace.step(lane)
    let document = FileDocument(desk.url(random.pick(names)), as: format, options: desk.options(), in: nil)
    do { try await document.open() } catch {
      // It has another name now.
      if error.code == .fileNotFound { return }
      throw error
    }
    for recovery in await document.recoveries {
      // Those about which nothing is decided are for the next one.
      switch random.below(3) {
      case 0: try await document.resolve(recovery, by: .restoring)
      case 1: try await document.resolve(recovery, by: .keepingAsVersion)
      default: break
      }
    }
    var added: [String] = []
    for _ in 0..<random.below(16) {
      await desk.pace.step(lane)
      switch random.below(16) {
      case 0..<8: if let word = try await edit(document, &random) { added.append(word) }
      case 8..<11:
        try await document.save()
        acknowledge(&added)
      case 11..<13 where desk.mistake != .hurrying:
        try await document.writeJournal()
        acknowledge(&added)
      case 13:
        // The dropped contents become a version.
        try await document.revert()
        acknowledge(&added)
      case 14: try await move(document, to: random.pick(names))
      default: break
      }
    }
    try await document.close()
    acknowledge(&added)
  }

  private func acknowledge(_ words: inout [String]) {
    desk.acknowledge(words)
    words = []
  }

  private func edit(_ document: FileDocument<Format.Contents>, _ random: inout SplitMix) async throws -> String? {
    let (word, place) = (desk.word(lane, Int.random(in: 0..<1 << 48, using: &random)), random.below(3))
    guard try await document.edit(.done, { [add] in add(&$0, word, place) }) else { return nil }
    if desk.mistake == .hurrying { desk.acknowledge([word]) }
    return word
  }

  private func move(_ document: FileDocument<Format.Contents>, to name: String) async throws {
    if document.url.lastPathComponent == name { return }
    do { try await document.move(to: desk.url(name)) } catch {
      // The place is taken, or another process has moved it in the meantime, or moves the other way round.
      let isDeadlock = (error.underlyingError as? FileCoordinationError)?.code == .deadlock
      if error.code != .fileExists, error.code != .fileNotFound, !isDeadlock { throw error }
    }
  }
}

extension Author where Format == TextFormat {
  static func append(_ text: inout String, _ word: String, _ place: Int) -> Bool {
    text += word
    return true
  }
}

extension Author where Format == PackageFormat {
  /// Fails if another package takes the place of this one at the moment, which the document will hear of.
  static func update(_ tree: inout PackageTree, _ word: String, _ place: Int) -> Bool {
    do { try tree.append(word, to: SystemPath(SharedPlaces.members[place])) } catch { return false }
    return true
  }
}

extension PackageTree {
  /// Adds a word to the text of a member.
  mutating func append(_ word: String, to member: SystemPath) throws(PackageError) {
    try update(member, try contents(of: member) + Array(word.utf8))
  }
}
