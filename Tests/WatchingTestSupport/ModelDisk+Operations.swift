import SystemInterface

// The next operations.

extension ModelDisk {
  /// A kind of operation.
  ///
  /// An exchange is reported as two renames, the one from the first name first. So `exchangeBack` is another kind.
  package enum Happening: Hashable, Sendable {
    case create, write, remove, rename, tear, exchange, exchangeBack, link, point
  }

  /// Everything of some kinds that programs can do now, in a fixed order.
  ///
  /// - Parameters:
  ///   - kinds: The kinds.
  ///   - names: The names that are given in each directory.
  /// - Returns: The operations.
  package func operations(_ kinds: [Happening], names: [String]) -> [Operation] {
    let places = directories.flatMap { directory in names.map { Name(directory: directory, name: $0) } }
    let taken = places.filter { self[$0] != nil }
    let free = places.filter { self[$0] == nil }
    var found: [Operation] = []
    for kind in kinds {
      switch kind {
      case .create: found += free.flatMap { [.create($0, .regular), .create($0, .directory)] }
      case .write: found += taken.filter { !isDirectory($0) }.map { .write($0) }
      case .remove: found += taken.filter(isEmpty).map { .remove($0) }
      case .rename: found += pairs(taken, places).map { .rename($0, $1) }
      case .tear: found += late.isEmpty ? pairs(taken, places).map { .tear($0, $1) } : []
      case .exchange: found += exchanges(taken).map { .exchange($0, $1) }
      case .exchangeBack: found += exchanges(taken).map { .exchange($1, $0) }
      case .link: for old in taken where !isDirectory(old) { found += free.map { .link(old, $0) } }
      case .point: found += (free + taken.filter(isLink)).flatMap(links)
      }
    }
    return found
  }

  private func exchanges(_ taken: [Name]) -> [(Name, Name)] {
    taken.enumerated().flatMap { index, one in
      taken[(index + 1)...].filter { !isInside(one, $0) && !isInside($0, one) }.map { (one, $0) }
    }
  }

  /// The renames that are possible, each with its old and its new name.
  private func pairs(_ taken: [Name], _ places: [Name]) -> [(Name, Name)] {
    taken.flatMap { old in
      places.filter { new in
        old != new && !isInside(new, old) && self[old] != self[new]
          && (self[new] == nil || isDirectory(old) == isDirectory(new) && isEmpty(new))
      }.map { (old, $0) }
    }
  }

  private func isLink(_ name: Name) -> Bool { self[name].map { nodes[$0]?.target != nil } ?? false }

  /// Links to what is beside the top, under each name that is there.
  private func links(at name: Name) -> [Operation] {
    let names = (nodes[Self.root]?.children ?? [:]).keys.filter { $0 != "r" }.sorted()
    return names.map { "/" + $0 }.filter { target in self[name].map { nodes[$0]?.target != target } ?? true }
      .map { .point(name, to: $0) }
  }

  private func isDirectory(_ name: Name) -> Bool { self[name].map { nodes[$0]?.kind == .directory } ?? false }

  private func isEmpty(_ name: Name) -> Bool { self[name].flatMap { nodes[$0]?.children.isEmpty } ?? true }

  /// Whether a place is in what stands under another name.
  private func isInside(_ place: Name, _ name: Name) -> Bool {
    isDirectory(name) && self[name].map { isInside(place.directory, $0) } ?? false
  }

  /// Makes files, all of them below the top of the scope.
  ///
  /// - Parameters:
  ///   - files: Their paths in the scope; those of directories end with a slash.
  ///   - top: Where they are made instead of the top of the scope.
  package mutating func make(_ files: [String], in top: Int = Self.top) {
    for file in files {
      let parts = file.split(separator: "/").map(String.init)
      var directory = top
      for part in parts.dropLast() { directory = nodes[directory]?.children[part] ?? directory }
      let name = Name(directory: directory, name: parts[parts.count - 1])
      perform(.create(name, file.hasSuffix("/") ? .directory : .regular))
    }
  }
}
