internal import FoundationEssentials
internal import SystemInterface
internal import FileWatching

/// Where a query searches, by paths.
struct SearchPlaces {
  /// Canonical paths of directories, none of which is inside another one.
  let roots: [SystemPath]
  /// Canonical paths of places that are results themselves, none of which is inside one of the directories.
  let items: [SystemPath]
  /// How results inside them are spelled.
  let spellings: ScopeSpellings

  /// - Parameters:
  ///   - scopes: Directories to search, be they there or not.
  ///   - items: Single files and directories besides.
  /// - Throws: ``MetadataQueryError`` for scopes that can't be together, and URLs that lead nowhere.
  init(scopes: [MetadataScope], items: [URL]) throws(MetadataQueryError) {
    if scopes.isEmpty, items.isEmpty {
      throw MetadataQueryError(
        .noScope, "", "name at least one directory to search; .localComputer searches everything")
    }
    if let first = scopes.first, scopes.contains(where: { $0.isUbiquitous != first.isUbiquitous }) {
      throw MetadataQueryError(.invalidScope, "", "ubiquitous scopes can't be beside others; make two queries")
    }
    var spellings = ScopeSpellings()
    var directories: Set<SystemPath> = []
    for scope in scopes {
      for url in scope.directories { directories.insert(try Self.path(url, noting: &spellings)) }
    }
    var paths: Set<SystemPath> = []
    for url in items { paths.insert(try Self.path(url, noting: &spellings)) }
    roots = directories.filter { path in !directories.contains { path.isInside($0) } }.sorted()
    self.items = paths.filter { path in !directories.contains { path.isInside($0) } }.sorted()
    self.spellings = spellings.ofPlaces(roots + self.items)
  }

  /// - Parameter directories: The directories, which must exist.
  /// - Throws: ``MetadataQueryError`` for URLs that lead nowhere.
  init(existing directories: [URL]) throws(MetadataQueryError) {
    if directories.isEmpty {
      throw MetadataQueryError(
        .noScope, "", "name at least one directory to search; .localComputer searches everything")
    }
    var spellings = ScopeSpellings()
    for directory in directories {
      let path = try Self.path(directory, noting: &spellings)
      do throws(SystemError) {
        _ = try HostFileSystem().status(of: path, at: .workingDirectory, links: .noFollow)
      } catch {
        throw MetadataQueryError(.invalidScope, path.description, error)
      }
    }
    try self.init(scopes: directories.map { .directory($0) }, items: [])
  }

  private static func path(
    _ url: URL, noting spellings: inout ScopeSpellings
  ) throws(MetadataQueryError) -> SystemPath {
    guard let path = SystemPath(url) else {
      throw MetadataQueryError(.invalidScope, url.absoluteString, "it isn't a file URL; use URL(filePath:)")
    }
    do throws(SystemError) {
      let canonical = try HostFileSystem().canonicalPath(of: path, resolvingLastComponent: true)
      spellings.insert(canonical, as: path.tidied ?? canonical)
      return canonical
    } catch {
      throw MetadataQueryError(.invalidScope, path.description, error)
    }
  }
}
