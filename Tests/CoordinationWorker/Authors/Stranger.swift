import FileCoordination
import FilePackages
import Foundation
import SeededRandom
import SystemInterface

/// A lane that has no documents: it writes, reads and moves the items by coordination.
struct Stranger: Sendable {
  let desk: Desk
  let lane: Int

  func step(_ random: inout SplitMix) async throws {
    await desk.pace.step(lane)
    let coordinator = FileCoordinator(label: "stranger \(desk.seed)", domain: desk.domain)
    let word = desk.word(lane, Int.random(in: 0..<1 << 48, using: &random))
    let (text, album) = (desk.url(random.pick(SharedPlaces.texts)), desk.url(random.pick(SharedPlaces.packages)))
    // The first asks for what is unsaved.
    let options: FileCoordinator.WritingOptions = random.pick([.forMerging, []])
    do {
      switch random.below(16) {
      case 0..<4:
        try await coordinator.write(text, options: options) { access in
          try await access.replaceContents(with: try await access.contents() + Data(word.utf8))
        }
        desk.acknowledge([word])
      case 4..<6:
        try await coordinator.write(text, options: options) { access in
          let file = try FileHandle(forUpdating: access.url)
          defer { try? file.close() }
          try file.seekToEnd()
          try file.write(contentsOf: Data(word.utf8))
        }
        desk.acknowledge([word])
      case 6..<10:
        let (member, isWhole) = (SystemPath(random.pick(SharedPlaces.members)), random.chance(1, in: 2))
        try await coordinator.write(album, options: options) { access in
          try Self.append(word, to: member, of: SystemPath(access.url.path), isWhole)
        }
        desk.acknowledge([word])
      case 10..<13: _ = try await coordinator.contents(of: text)
      case 13: _ = try await coordinator.read(album) { _ in }
      case 14: try await coordinator.move(text, to: desk.url(random.pick(SharedPlaces.texts)))
      default: try await coordinator.move(album, to: desk.url(random.pick(SharedPlaces.packages)))
      }
    } catch let error as FileCoordinationError where error.systemError?.errno == ENOENT {
      // Another process has moved it.
    } catch let error as FileCoordinationError where error.code == .destinationExists || error.code == .deadlock {
      // Somebody else is at the other place.
    } catch let error as PackageError where error.code == .notFound {
    } catch let error as CocoaError where error.code == .fileNoSuchFile || error.code == .fileReadNoSuchFile {
    }
  }

  /// Writes a member alone, or the whole package in one step.
  private static func append(
    _ word: String, to member: SystemPath, of package: SystemPath, _ isWhole: Bool
  ) throws(PackageError) {
    var tree = try PackageTree(openingPackageAt: package)
    try tree.append(word, to: member)
    if isWhole {
      _ = try tree.write(to: package)
    } else {
      try tree.replaceOnDisk(member, try tree.contents(of: member))
    }
  }
}
