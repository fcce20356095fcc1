internal import ContentHashing
internal import SystemInterface

extension VersionStore {
  /// Whether the contents of a version are those that were kept.
  ///
  /// - Throws: ``VersionStoreError/damaged(_:)`` with the first file that isn't what it was.
  /// - Complexity: O(bytes).
  package func verify(_ version: StoredVersion) throws(VersionStoreError) {
    let top = path(of: version)
    if !version.isPackage {
      if try hash(of: top) != version.hash { throw .damaged(top) }
      return
    }
    let members = layout.directory(of: version.id, of: version.item).appending(StoreLayout.members)
    let bytes = try contents(of: members)
    if ContentHash(of: bytes) != version.hash { throw .damaged(members) }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count == 6, let inside = PercentEncoding.decode(fields[2]) else { continue }
      let path = inside.isEmpty ? top : top.appending(SystemPath(bytes: inside))
      if try hash(of: path).description != String(decoding: fields[5], as: UTF8.self) { throw .damaged(path) }
    }
  }
}
