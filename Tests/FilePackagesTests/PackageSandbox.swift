import FilePackages
import Foundation
import SystemInterface

/// A temporary directory of one test.
struct PackageSandbox: Sendable {
  let root: SystemPath
  let files = HostFileSystem()

  func path(_ name: String) -> SystemPath { root.appending(name) }

  @discardableResult
  func write(_ name: String, _ text: String, mode: UInt32 = 0o644) throws -> SystemPath {
    let path = path(name)
    try FileManager.default.createDirectory(atPath: path.parent.description, withIntermediateDirectories: true)
    try files.withDescriptor(path, flags: [.create, .truncate, .writeOnly], mode: 0o600) { (file) throws(SystemError) in
      try files.writeAll(Array(text.utf8), to: file)
      try files.setMode(of: file, to: mode)
    }
    return path
  }

  func text(_ name: String) throws -> String {
    String(decoding: try files.contents(of: path(name)), as: UTF8.self)
  }

  func status(_ name: String) throws -> FileStatus {
    try files.status(of: path(name), at: .workingDirectory, links: .noFollow)
  }

  /// Everything below a directory: names, permissions, texts and targets; not what a save of one file that was cut off left.
  func tree(_ name: String) throws -> [String] {
    let top = path(name).description
    let names = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
    return try names.filter { !$0.hasSuffix(".fcsave") }.sorted().map { inner in
      let status = try status(name + "/" + inner)
      let contents =
        switch status.kind {
        case .regular: try text(name + "/" + inner)
        case .symbolicLink: "-> " + (try files.readLink(path(name + "/" + inner), at: .workingDirectory).description)
        default: "\(status.kind)"
        }
      return "\(inner) \(String(status.mode, radix: 8)) \(contents)"
    }
  }

  /// The names in the directory of the test.
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: root.description).sorted() }
}

extension PackageSandbox {
  /// A directory that the caller removes.
  static func make() throws -> PackageSandbox {
    // Thousands of directories come and go, which is faster where nothing is written to a disk.
    let memory = "/dev/shm"
    let place =
      FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
    let root = "\(place)/FilePackagesTests.\(UUID())"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    return PackageSandbox(root: SystemPath(root))
  }

  func remove() { try? FileManager.default.removeItem(atPath: root.description) }
}

func withSandbox<Result>(_ body: (PackageSandbox) throws -> Result) throws -> Result {
  let box = try PackageSandbox.make()
  defer { box.remove() }
  return try body(box)
}

extension PackageTree {
  /// All members with their contents, read through the tree.
  func listing(_ directory: SystemPath = SystemPath("")) throws -> [String] {
    var lines: [String] = []
    for name in try names(in: directory) {
      let path = directory.bytes.isEmpty ? name : directory.appending(name)
      switch try kind(of: path) {
      case .file: lines.append("\(path) \(String(decoding: try contents(of: path), as: UTF8.self))")
      case .symbolicLink: lines.append("\(path) -> \(try target(of: path))")
      case .directory: lines += ["\(path)/"] + (try listing(path))
      case nil: lines.append("\(path) is gone")
      }
    }
    return lines
  }

  mutating func update(_ path: String, _ text: String) throws { try update(SystemPath(path), Array(text.utf8)) }
}
