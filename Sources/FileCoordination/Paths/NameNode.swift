internal import SystemInterface

/// A name on the way to places, and the file that was behind it.
///
/// Part of a ``PlaceTree``, and guarded with it. A node is kept while a place depends on it or a child does.
final class NameNode {
  /// The file that a name stands for.
  enum Kind {
    case directory
    /// A symbolic link and its target.
    case link(SystemPath)
    case missing
    /// Anything else, which can't contain anything.
    case other
  }

  let name: [UInt8]
  /// The canonical path; empty for the root.
  let path: [UInt8]
  let kind: Kind
  /// Absent for the root.
  ///
  /// A node outlives its children.
  unowned let parent: NameNode?
  /// Present while there are children.
  var watch: NameWatch?
  /// The places whose way leads through this name.
  var dependents: Set<PlaceID> = []
  private var children: [UInt64: [NameNode]] = [:]
  private(set) var childCount = 0

  init(root: Void) {
    name = []
    path = []
    kind = .directory
    parent = nil
  }

  init(_ name: [UInt8], in parent: NameNode, _ kind: Kind) {
    self.name = name
    path = parent.path + [SystemPath.root.bytes[0]] + name
    self.kind = kind
    self.parent = parent
  }

  var isRoot: Bool { path.isEmpty }

  func child(named name: ArraySlice<UInt8>) -> NameNode? {
    children[Self.foldedHash(name)]?.first { $0.name.elementsEqual(name) }
  }

  /// The children that a change of `name` may concern: also those in other letters, for the file systems that match
  /// names in any case (the ASCII ones of XFS; directories that fold more aren't watched).
  func children(concernedBy name: [UInt8]) -> [NameNode] {
    children[Self.foldedHash(name[...])] ?? []
  }

  var allChildren: [NameNode] { children.values.flatMap(\.self) }

  func add(_ child: NameNode) {
    children[Self.foldedHash(child.name[...]), default: []].append(child)
    childCount += 1
  }

  func remove(_ child: NameNode) {
    let hash = Self.foldedHash(child.name[...])
    guard let position = children[hash]?.firstIndex(where: { $0 === child }) else { return }
    children[hash]?.remove(at: position)
    if children[hash]?.isEmpty == true { children[hash] = nil }
    childCount -= 1
  }

  /// FNV-1a over the letters in small.
  ///
  /// Names with one hash are taken for concerned together, which is never wrong.
  private static func foldedHash(_ name: ArraySlice<UInt8>) -> UInt64 {
    name.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
      let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      return (hash ^ UInt64(isCapital ? byte | 0x20 : byte)) &* 0x100_0000_01b3
    }
  }
}
