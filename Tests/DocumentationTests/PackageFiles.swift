import Foundation

/// The files of this package, found from the place of this very file.
enum Package {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What a reader gets: the README, the changelog and the articles.
  static let documents: [String] = {
    let catalog = "Sources/FileCoordination/FileCoordination.docc"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: catalog).path)) ?? []
    return ["README.md", "CHANGELOG.md"]
      + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalog)/\($0)" }
  }()

  static func text(of path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// All snippets of the test files, by name.
  static func snippets() throws -> [String: [Snippet]] {
    let folder = "Tests/DocumentationTests/Snippets"
    let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
    let all = try names.sorted().flatMap { Snippet.all(in: try text(of: "\(folder)/\($0)")) }
    return Dictionary(grouping: all, by: \.name)
  }
}
