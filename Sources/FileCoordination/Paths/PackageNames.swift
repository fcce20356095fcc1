internal import FileAccessArbiter

/// Which directories are packages, treated as one file: those whose name ends in a dot and one of these extensions.
struct PackageNames: Sendable {
  private let extensions: [[UInt8]]

  init(_ extensions: Set<String>) {
    self.extensions = extensions.map { Array($0.utf8) }
  }

  /// Whether an item is a package or lies inside one, judged by the names alone, as the arbiter does.
  func cover(_ path: ItemPath) -> Bool {
    if extensions.isEmpty { return false }
    return path.bytes.split(separator: FileURLCoding.slash).contains { name in
      extensions.contains { suffix in
        name.count > suffix.count + 1 && name[name.endIndex - suffix.count - 1] == UInt8(ascii: ".")
          && name.suffix(suffix.count).elementsEqual(suffix)
      }
    }
  }
}
