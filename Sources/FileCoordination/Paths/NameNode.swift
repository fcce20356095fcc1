internal import CompactContainers
internal import SystemInterface

/// A name on the way to places, and the file that was behind it.
///
/// Part of a ``NameTree``. A node is kept while a place depends on it or a child does.
struct NameNode: Hashable, Sendable {
  /// The number of a node in its tree; used again when the node has been removed.
  struct ID: Hashable, Sendable {
    let rawValue: Int32
  }

  /// The file that a name stands for.
  enum Kind: Hashable, Sendable {
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
  let parent: ID?
  /// Present while there are children.
  var watch: NameWatch?
  /// The places whose way leads through this name.
  var dependents: Set<PlaceID> = []
  fileprivate var children: [UInt64: [ID]] = [:]
  fileprivate(set) var childCount = 0

  fileprivate init(name: [UInt8], path: [UInt8], kind: Kind, parent: ID?) {
    self.name = name
    self.path = path
    self.kind = kind
    self.parent = parent
  }

  /// The path of the directory that this name stands for.
  var directoryPath: SystemPath { path.isEmpty ? .root : SystemPath(bytes: path) }

  /// The children that a change of `name` may concern: also those in other letters, for the file systems that match
  /// names in any case (the ASCII ones of XFS; directories that fold more aren't watched).
  func children(concernedBy name: [UInt8]) -> [ID] { children[Self.foldedHash(name[...])] ?? [] }

  var allChildren: [ID] { children.values.flatMap(\.self) }

  /// FNV-1a over the letters in small.
  ///
  /// Names with one hash are taken for concerned together, which is never wrong.
  fileprivate static func foldedHash(_ name: ArraySlice<UInt8>) -> UInt64 {
    name.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in
      let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      return (hash ^ UInt64(isCapital ? byte | 0x20 : byte)) &* 0x100_0000_01b3
    }
  }
}

/// The names on the way to places, from the root: a value, whose copies are independent.
struct NameTree: Sendable {
  private var slab = Slab<NameNode>()
  /// Never removed.
  let root: NameNode.ID

  init() {
    root = NameNode.ID(rawValue: slab.insert(NameNode(name: [], path: [], kind: .directory, parent: nil)))
  }

  /// A node that is in the tree.
  subscript(id: NameNode.ID) -> NameNode {
    _read { yield slab[id.rawValue] }
    _modify { yield &slab[id.rawValue] }
  }

  func contains(_ id: NameNode.ID) -> Bool { slab.contains(id.rawValue) }

  /// All nodes, in no particular order.
  var nodes: [NameNode.ID] { slab.indices.map { NameNode.ID(rawValue: $0) } }

  func child(of parent: NameNode.ID, named name: ArraySlice<UInt8>) -> NameNode.ID? {
    self[parent].children[NameNode.foldedHash(name)]?.first { self[$0].name.elementsEqual(name) }
  }

  /// Adds a name to a directory that doesn't have it.
  mutating func add(_ name: ArraySlice<UInt8>, to parent: NameNode.ID, _ kind: NameNode.Kind) -> NameNode.ID {
    let path = self[parent].path + SystemPath.root.bytes + name
    let id = NameNode.ID(rawValue: slab.insert(NameNode(name: Array(name), path: path, kind: kind, parent: parent)))
    self[parent].children[NameNode.foldedHash(name), default: []].append(id)
    self[parent].childCount += 1
    return id
  }

  /// Removes a node without children.
  ///
  /// - Returns: Its directory; `nil` for the root, which stays.
  mutating func remove(_ id: NameNode.ID) -> NameNode.ID? {
    guard let parent = self[id].parent else { return nil }
    precondition(self[id].childCount == 0, "a directory with known names is removed")
    let hash = NameNode.foldedHash(self[id].name[...])
    self[parent].children[hash]?.removeAll { $0 == id }
    if self[parent].children[hash]?.isEmpty == true { self[parent].children[hash] = nil }
    self[parent].childCount -= 1
    slab.remove(id.rawValue)
    return parent
  }
}
