import Foundation
import FoundationCompatibility
import SystemInterface

/// The status of what is at a URL.
func status(_ url: URL) throws -> FileStatus {
  try HostFileSystem().status(of: SystemPath(url.path), at: .workingDirectory, links: .noFollow)
}

extension FileWrapper {
  /// All that's in it, read through the wrapper.
  func listing(_ prefix: String = "") -> [String] {
    guard isDirectory else { return [] }
    return (fileWrappers ?? ["gone": FileWrapper(regularFileWithContents: Data())]).sorted { $0.key < $1.key }
      .flatMap { key, child -> [String] in
        if child.isDirectory { return ["\(prefix)\(key)/"] + child.listing("\(prefix)\(key)/") }
        if child.isSymbolicLink {
          return ["\(prefix)\(key) -> \(child.symbolicLinkDestinationURL?.relativePath ?? "gone")"]
        }
        return ["\(prefix)\(key) \(child.regularFileContents.map { String(decoding: $0, as: UTF8.self) } ?? "gone")"]
      }
  }

  static func text(_ text: String) -> FileWrapper { FileWrapper(regularFileWithContents: Data(text.utf8)) }
}
