package import ContentHashing
package import SystemInterface

// Files beside an item that others have made of it become versions, and disappear only then.

/// The contents of a file or package, wherever it is.
package struct ItemContents: Hashable, Sendable {
  /// Of the contents of a file, or of the list of a package's members.
  package let hash: ContentHash
  /// In bytes; of all members.
  package let size: Int64
}

extension VersionStore {
  /// The contents that a version would have if it were made of a file or package now.
  ///
  /// - Parameter path: A canonical path, inside or outside of the store.
  /// - Returns: The contents; `nil` when nothing is there, or neither a file nor a directory.
  /// - Throws: The error of a system call.
  /// - Complexity: O(bytes).
  package func contents(ofItemAt path: SystemPath) throws(VersionStoreError) -> ItemContents? {
    guard let status = try status(of: path), status.kind == .regular || status.kind == .directory else { return nil }
    var list = MemberList()
    do throws(VersionStoreError) {
      try collect(path, SystemPath(bytes: []), &list, sharing: false)
    } catch .nothingThere, .notAFile {
      return nil
    } catch .system(let error) where error.isAbsence {
      return nil
    }
    let hash = status.kind == .directory ? ContentHash(of: list.bytes) : list.hashOfOnly ?? ContentHash(of: [])
    return ItemContents(hash: hash, size: list.size)
  }

  /// Moves a conflict copy into the store, if it's what it was.
  ///
  /// From the commit on the version is there, and only then the copy goes; ``completeMoves(of:)`` removes one that a crash has left.
  ///
  /// - Parameters:
  ///   - path: The copy, as a canonical path.
  ///   - hash: The contents that it had.
  ///   - item: The item that it's a copy of.
  ///   - name: The name of the item.
  ///   - attributes: The attributes that the version gets.
  /// - Returns: The version; `nil` if nothing is at the path, or something else, which is left there.
  /// - Throws: The error of a system call; the copy is where it was then.
  /// - Complexity: O(bytes).
  package func take(
    _ path: SystemPath, expecting hash: ContentHash, to item: ItemID, named name: SystemPath,
    _ attributes: VersionAttributes
  ) throws(VersionStoreError) -> StoredVersion? {
    guard try contents(ofItemAt: path)?.hash == hash else { return nil }
    do throws(VersionStoreError) {
      return try add(contentsOf: path, to: item, named: name, attributes, taking: .moving, hashing: .atOnce)
    } catch .nothingThere {
      return nil
    }
  }

  /// The items that have a history, at a path and below it.
  ///
  /// - Parameter path: A canonical path.
  /// - Returns: The items and where their files are, or were when they were last looked at.
  /// - Throws: The error of a system call.
  /// - Complexity: O(items that were ever there); no version is read.
  package func items(below path: SystemPath) throws(VersionStoreError) -> [(path: SystemPath, item: ItemID)] {
    var found: [(path: SystemPath, item: ItemID)] = []
    for place in try placesWithItems(below: layout.place(of: path)) {
      let path = layout.path(ofPlace: place)
      if let record = try self.place(at: path) { found.append((path, record.item)) }
    }
    return found
  }
}
