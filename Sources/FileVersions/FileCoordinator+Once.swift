internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface

// Accesses of somebody who comes once.
//
// The path is found out at once, without the domain's table of paths: that follows what happens in the directories on the way, which takes
// longer than one look.

extension FileCoordinator {
  /// Keeps others from changing an item, as it is: presenters aren't asked to save.
  func readOnce<Result>(_ url: URL, _ body: (borrowing FileAccess) throws -> Result) throws -> Result {
    guard let path = try text(ofPathTo: url) else {
      return try blocking.read(url, options: .withoutChanges, accessor: body)
    }
    return try blocking.read(path: path, options: .withoutChanges, accessor: body)
  }

  /// Keeps others from what is in a directory, which is changed in part.
  func change<Result>(_ directory: URL, _ body: () throws -> Result) throws -> Result {
    guard let path = try text(ofPathTo: directory) else {
      return try blocking.write(directory, options: .forMerging) { _ in try body() }
    }
    return try blocking.write(path: path, options: .forMerging) { _ in try body() }
  }

  /// `nil` if the canonical path isn't UTF-8.
  private func text(ofPathTo url: URL) throws -> String? {
    String(validating: try canonicalPath(of: url).bytes, as: UTF8.self)
  }
}
