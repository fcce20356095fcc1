import FileWatching
import Foundation
import Glibc
package import SeededRandom
import SystemInterface

/// Changes files as programs do, at random.
package struct Churner {
  package var random: SplitMix
  package let tree: TemporaryTree
  /// Files that have had several names, so that their count of names and the time of its change may be unknown.
  ///
  /// Nothing reports a name that's made and gone at once, or a name outside of the scope that goes.
  package private(set) var linkedInodes: Set<UInt64> = []
  /// Files that were altered through a name that was younger than ``settle()``.
  ///
  /// If the name was gone before it was seen, no watcher can determine that it was a name of them.
  package private(set) var obscureInodes: Set<UInt64> = []
  /// The names that had been seen when there was a pause.
  private var settledNames: [SystemPath: UInt64] = [:]
  /// The hard link that was made last, and the name that it was made of.
  private var lastLink: (name: SystemPath, origin: SystemPath)?
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
    if makesHardLinks, random.chance(1, in: 6) { return followLink(target) }
    let file = files.isEmpty ? target : random.pick(files)
    let source = random.chance(1, in: 2) ? file : random.pick(directories)
    do {
      switch random.below(contents.count > 60 ? 27 : 21) {
      case 0..<4: try write(target, String(repeating: "x", count: random.below(50)))
      case 4..<6: try write(file, "more", adding: true)
      case 6..<8: try tree.makeDirectory(target)
      case 8: try makeDeep(directory)
      case 9..<12: if source != tree.root { try tree.rename(source, to: target) }
      case 12: try tree.rename(file, to: random.pick(files.isEmpty ? [target] : files), .exchange)
      case 13: try saveLikeAnEditor(file)
      case 14:
        if makesHardLinks { try link(file, to: target) }
      case 15: try tree.symbolicLink(target, to: random.pick(["..", "nowhere", "n1", "/"]))
      case 16: change(source, mode: 0o700 | mode_t(random.below(64)))
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

  /// Records that every present name has been seen.
  package mutating func settle() { settledNames = tree.contents.mapValues(\.identity.inode) }

  /// Changes each file of which something may be unknown, so that it's checked.
  package mutating func touchLinkedFiles() {
    let unknown = linkedInodes.union(obscureInodes)
    for (path, facts) in tree.contents where facts.kind == .regular && unknown.contains(facts.identity.inode) {
      chmod(path.description, mode_t(facts.permissions))
    }
    linkedInodes = []
    obscureInodes = []
    for (_, facts) in tree.contents where facts.isLinked { linkedInodes.insert(facts.identity.inode) }
  }

  // MARK: Files with several names

  /// Removes the youngest link, alters the file through it or through its other name, or makes a new file that may get its inode.
  private mutating func followLink(_ target: SystemPath) {
    guard let (name, origin) = lastLink else { return }
    do {
      switch random.below(5) {
      case 0, 1: try tree.unlink(name)
      case 2: try write(origin, "more of it", adding: true)
      case 3: try write(name, "through the link", adding: true)
      default:
        try tree.unlink(origin)
        try tree.unlink(name)
        try write(target, String(repeating: "y", count: random.below(50)))
      }
    } catch {
      // It's gone already.
    }
  }

  private mutating func link(_ file: SystemPath, to target: SystemPath) throws {
    guard let inode = Self.inode(of: file) else { return }
    linkedInodes.insert(inode)
    try tree.link(file, to: target)
    lastLink = (target, file)
  }

  private mutating func write(_ path: SystemPath, _ text: String, adding: Bool = false) throws {
    let old = Self.inode(of: path)
    if old != nil { noteAlteration(of: path) }
    try tree.write(path, text, adding: adding)
    // A new file: an earlier file with its inode doesn't count.
    if old == nil, let inode = Self.inode(of: path) {
      linkedInodes.remove(inode)
      obscureInodes.remove(inode)
    }
  }

  private mutating func change(_ path: SystemPath, mode: mode_t) {
    noteAlteration(of: path)
    chmod(path.description, mode)
  }

  private mutating func noteAlteration(of path: SystemPath) {
    guard let inode = Self.inode(of: path), linkedInodes.contains(inode), settledNames[path] != inode else { return }
    obscureInodes.insert(inode)
  }

  private static func inode(of path: SystemPath) -> UInt64? {
    (try? HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow))?.identity.inode
  }

  // MARK: Several steps at once

  /// mkdir -p and a file at once.
  private mutating func makeDeep(_ directory: SystemPath) throws {
    let names = ["a\(count)", "b", "c"]
    var path = directory
    for name in names {
      path = path.appending(name)
      try tree.makeDirectory(path)
    }
    try write(path.appending("f"), "text")
  }

  private mutating func saveLikeAnEditor(_ file: SystemPath) throws {
    let temporary = file.parent.appending(".save\(count)")
    try write(temporary, "saved \(count)")
    try tree.rename(temporary, to: file)
  }

  private mutating func moveOut(_ source: SystemPath) throws {
    try tree.rename(source, to: tree.base.appending("out\(random.below(3))"))
  }

  private mutating func moveIn(to target: SystemPath) throws {
    try tree.rename(tree.base.appending("out\(random.below(3))"), to: target)
  }

  /// Puts a link to a directory in its place, as programs do that switch between versions.
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
