import FileWatching
import Foundation
import Glibc
package import SeededRandom
import SystemInterface

/// Does what programs do to files, at random.
package struct Churner {
  package var random: SplitMix
  package let tree: TemporaryTree
  /// Files that have had several names: nobody tells when one is made that's gone at once, or when one outside of the scope goes.
  package private(set) var linkedInodes: Set<UInt64> = []
  private let makesHardLinks: Bool
  private var count = 0

  package init(seed: UInt64, _ tree: TemporaryTree, makesHardLinks: Bool = true) {
    random = SplitMix(seed: seed)
    self.tree = tree
    self.makesHardLinks = makesHardLinks
  }

  /// Does one thing, unless it can't be done.
  package mutating func step() {
    count += 1
    let contents = tree.contents
    let directories = contents.filter { $0.value.kind == .directory }.map(\.key).sorted()
    let files = contents.filter { $0.value.kind == .regular }.map(\.key).sorted()
    guard !directories.isEmpty else { return }
    let directory = random.pick(directories)
    let target = directory.appending("n\(random.below(12))")
    let file = files.isEmpty ? target : random.pick(files)
    let source = random.chance(1, in: 2) ? file : random.pick(directories)
    do {
      switch random.below(contents.count > 60 ? 27 : 21) {
      case 0..<4: try tree.write(target, String(repeating: "x", count: random.below(50)))
      case 4..<6: try tree.write(file, "more", adding: true)
      case 6..<8: try tree.makeDirectory(target)
      case 8: try makeDeep(directory)
      case 9..<12: if source != tree.root { try tree.rename(source, to: target) }
      case 12: try tree.rename(file, to: random.pick(files.isEmpty ? [target] : files), .exchange)
      case 13: try saveLikeAnEditor(file)
      case 14:
        if !makesHardLinks { return }
        if let inode = contents[file]?.identity.inode { linkedInodes.insert(inode) }
        try tree.link(file, to: target)
      case 15: try tree.symbolicLink(target, to: random.pick(["..", "nowhere", "n1", "/"]))
      case 16: chmod(source.description, 0o700 | mode_t(random.below(64)))
      case 17: if source != tree.root { try moveOut(source) }
      case 18: try moveIn(to: target)
      case 19: try swap(directory, directories)
      case 20: try swapForLink(directory)
      case 21..<24: try tree.unlink(file)
      default: if directory != tree.root { try tree.removeTree(directory) }
      }
    } catch {
      // A name that's taken, a directory moved into itself and the like.
    }
  }

  /// mkdir -p and a file at once.
  private func makeDeep(_ directory: SystemPath) throws {
    let names = ["a\(count)", "b", "c"]
    var path = directory
    for name in names {
      path = path.appending(name)
      try tree.makeDirectory(path)
    }
    try tree.write(path.appending("f"), "text")
  }

  private func saveLikeAnEditor(_ file: SystemPath) throws {
    let temporary = file.parent.appending(".save\(count)")
    try tree.write(temporary, "saved \(count)")
    try tree.rename(temporary, to: file)
  }

  private mutating func moveOut(_ source: SystemPath) throws {
    try tree.rename(source, to: tree.base.appending("out\(random.below(3))"))
  }

  private mutating func moveIn(to target: SystemPath) throws {
    try tree.rename(tree.base.appending("out\(random.below(3))"), to: target)
  }

  /// Puts a link to a directory in its place, as those do who switch between versions.
  private mutating func swapForLink(_ directory: SystemPath) throws {
    if directory == tree.root { return }
    let link = directory.parent.appending("link\(count)")
    try tree.symbolicLink(link, to: directory.lastComponent.description)
    try tree.rename(directory, to: link, .exchange)
  }

  /// Exchanges two directories, neither of which is in the other.
  private mutating func swap(_ directory: SystemPath, _ directories: [SystemPath]) throws {
    let other = random.pick(directories)
    if other != tree.root, directory != tree.root { try tree.rename(directory, to: other, .exchange) }
  }
}
