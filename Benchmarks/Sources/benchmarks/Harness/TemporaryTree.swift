import BenchmarkShims
import Foundation
import Glibc

/// The files of a run: a few real ones, seven components deep, in a directory that is removed in the end.
struct TemporaryTree: Sendable {
  static let itemCount = 16

  /// The directory that holds everything.
  let root: String
  /// Real files, without a symbolic link in their paths.
  let paths: [String]
  /// The same files by a path with a symbolic link in the middle.
  let linkedPaths: [String]

  /// Creates the files.
  ///
  /// - Throws: ``BenchmarkFailure`` when the temporary directory can't be written.
  static func create() throws -> TemporaryTree {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    guard let canonicalParent = realpath(parent, nil) else { throw BenchmarkFailure("no directory at \(parent)") }
    defer { free(canonicalParent) }
    var template = Array("\(String(cString: canonicalParent))/fc.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchmarkFailure("can't create a directory in \(parent): \(String(cString: strerror(errno)))")
    }
    let root = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let manager = FileManager.default
    let below = "Project-7/Sources/Module"
    try manager.createDirectory(atPath: "\(root)/Documents/\(below)", withIntermediateDirectories: true)
    try manager.createSymbolicLink(atPath: "\(root)/Linked", withDestinationPath: "Documents")
    let names = (0..<itemCount).map { "File-\(100 + $0).swift" }
    for name in names {
      let path = "\(root)/Documents/\(below)/\(name)"
      guard manager.createFile(atPath: path, contents: Data("// \(name)\n".utf8)) else {
        throw BenchmarkFailure("can't create \(path)")
      }
    }
    return TemporaryTree(
      root: root, paths: names.map { "\(root)/Documents/\(below)/\($0)" },
      linkedPaths: names.map { "\(root)/Linked/\(below)/\($0)" })
  }

  func remove() { bench_remove_tree(root) }

  /// Removes the files when the process is asked to end, and then ends it.
  ///
  /// - Returns: The sources of the signals; keep them as long as the files are to be removed.
  func removeOnSignals() -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in
        Processors.returnPriority()
        remove()
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }
}
