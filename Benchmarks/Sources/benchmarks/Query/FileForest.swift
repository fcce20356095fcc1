import BenchmarkShims
import Foundation
import Glibc

/// A tree of many small files to search.
struct FileForest: Sendable {
  static let directorySize = 100
  private static let endings = ["swift", "md", "log", "txt", "json", "h", "c", "png"]
  /// The greatest size of a file; a number without a common divisor with that of the endings, so that all endings have
  /// all sizes.
  private static let sizeMax = 800
  private static let sizeStep = 37

  let root: String
  /// The directories in which files are, 3 levels deep.
  let leaves: [String]

  /// Makes a tree.
  ///
  /// - Parameters:
  ///   - root: A directory that isn't there yet.
  ///   - fileCount: How many files, 100 in each directory.
  ///   - hasContents: Whether files hold something; otherwise they are empty, which is faster.
  /// - Returns: The tree.
  /// - Throws: ``BenchmarkFailure`` when the disk is full, or the like.
  static func create(at root: String, fileCount: Int, hasContents: Bool = true) throws -> FileForest {
    let contents = [UInt8](repeating: UInt8(ascii: "x"), count: sizeMax)
    var leaves: [String] = []
    for leaf in 0..<max(1, fileCount / directorySize) {
      let path = "\(root)/dir\(leaf % 20)/sub\(leaf / 20 % 10)/leaf\(leaf)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      for file in 0..<directorySize {
        let name = "file_\(leaf)_\(file).\(endings[file % endings.count])"
        let size = hasContents ? (leaf * directorySize + file) * sizeStep % sizeMax : 0
        try write("\(path)/\(name)", contents[..<size])
      }
      leaves.append(path)
    }
    return FileForest(root: root, leaves: leaves)
  }

  static func write(_ path: String, _ contents: ArraySlice<UInt8> = []) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    if file < 0 { throw BenchmarkFailure("can't create \(path): \(String(cString: strerror(errno)))") }
    _ = contents.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    close(file)
  }

  func remove() { bench_remove_tree(root) }
}
