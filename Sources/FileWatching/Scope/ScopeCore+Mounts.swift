internal import SystemInterface

extension ScopeCore {
  /// Checks where something was mounted or unmounted: the directory in that place is another one now.
  mutating func take(_ mounts: Set<MountTable.Mount>) {
    let altered = Set(mounts.symmetricDifference(knownMounts).map(\.path))
    knownMounts = mounts
    for path in altered {
      for place in roots.indices {
        let root = roots[place].path
        if path == root || root.isInside(path) { uncertainRoots.insert(place) }
        if path.isInside(root), let directory = directory(path.parent, below: roots[place]) {
          looks.add(path.lastComponent, in: directory)
        }
      }
    }
  }

  /// The number of a directory inside a root, if it's in the index.
  private func directory(_ path: SystemPath, below root: Root) -> FileNumber? {
    var number = root.number
    let names = path.bytes.dropFirst(root.path.bytes.count).split(separator: UInt8(ascii: "/"))
    for name in names { number = number.flatMap { index.child(named: SystemPath(bytes: name), of: $0) } }
    return number
  }
}
