internal import SystemInterface

/// How a query spells the places that it was asked for, where a symbolic link leads to one of them.
///
/// The index has files by canonical paths; results carry the path that was asked for.
struct ScopeSpellings: Hashable, Sendable {
  private struct Spelling: Hashable {
    var canonical: SystemPath
    var asked: SystemPath
  }

  /// Only places that are spelled otherwise.
  private var spellings: [Spelling] = []

  /// Notes a place; the first spelling of several stays.
  mutating func insert(_ canonical: SystemPath, as asked: SystemPath) {
    if spellings.contains(where: { $0.canonical == canonical }) { return }
    spellings.append(Spelling(canonical: canonical, asked: asked))
  }

  /// Leaves the places where results are found, each as it's spelled.
  func ofPlaces(_ places: some Sequence<SystemPath>) -> ScopeSpellings {
    let places = Set(places)
    var kept = self
    kept.spellings.removeAll { $0.canonical == $0.asked || !places.contains($0.canonical) }
    return kept
  }

  /// The path of a file as the query spells it.
  ///
  /// - Complexity: O(*n*) in the number of places that are spelled otherwise: none, as a rule.
  func asked(_ path: SystemPath) -> SystemPath {
    if spellings.isEmpty { return path }
    // No place is inside another one, but an item may be a scope as well, which has the same spelling.
    guard let spelling = spellings.first(where: { path == $0.canonical || path.isInside($0.canonical) }) else {
      return path
    }
    if path == spelling.canonical { return spelling.asked }
    let rest = path.bytes.dropFirst(spelling.canonical.bytes.count)
    return spelling.asked.appending(SystemPath(bytes: rest.drop { $0 == UInt8(ascii: "/") }))
  }
}

extension SystemPath {
  /// The absolute path without superfluous slashes and dots; `nil` if a `..` is in it, which may lead elsewhere than it says.
  var tidied: SystemPath? {
    guard isAbsolute else { return nil }
    let components = bytes.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    if components.contains(where: { $0.elementsEqual("..".utf8) }) { return nil }
    return SystemPath(bytes: [UInt8(ascii: "/")] + components.joined(separator: [UInt8(ascii: "/")]))
  }
}
