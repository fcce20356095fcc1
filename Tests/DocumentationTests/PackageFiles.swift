import Foundation

/// The files of this package, found from the place of this very file.
enum Package {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The documents for a reader: the README, the changelog and the articles of every catalog.
  static let documents: [String] = {
    let catalogs = files(in: "Sources").flatMap { files(in: $0) }.filter { $0.hasSuffix(".docc") }
    return ["README.md", "CHANGELOG.md"] + catalogs.flatMap { files(in: $0) }.filter { $0.hasSuffix(".md") }
  }()

  private static func files(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
    return names.sorted().map { "\(folder)/\($0)" }
  }

  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// All snippets of the test files, and of programs that steps of `.ci/run` run, by name.
  static func snippets() throws -> [String: [Snippet]] {
    let sources = ["Tests/DocumentationTests/Snippets", "Tests/ConflictMerger"].flatMap(files)
    return Dictionary(grouping: try sources.flatMap { Snippet.all(in: try text(of: $0)) }, by: \.name)
  }
}
