package import ContentHashing
package import SystemInterface

/// The hashes of files of a package, as a document has read or written them.
///
/// A program that has mapped a file changes its bytes, and none of its dates until the kernel writes the page back, see mmap(2). So a save
/// compares hashes of the files that it replaces. A file is known by identity, size and modification time: a hash of one that was written
/// since is that of no file.
///
/// All trees of one document share what is known, since a save links the files that it doesn't alter. A file that turns out to have other
/// bytes counts as changed until the document has dealt with the package in which that was found: see ``adopt()``.
///
/// Any thread may use it:
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `known` | its lock | members are read on any thread, and altered where the program edits |
/// | `found` | itself | a package is looked at by one operation, and adopted by a later one |
package final class MemberDigests: Sendable {
  /// How many files are known; the one that came first is forgotten for another one.
  package static let countMax = 8_192
  /// How many bytes of files that nobody has read are hashed for one alteration, and once more for one save.
  package static let unreadSizeMax = 16 << 20

  private let known: KnownDigests
  /// The hashes of files of this package that turned out to have other bytes than those that are known.
  private let found = Guarded<[FileIdentity: FileDigest]>([:])

  private init(_ known: KnownDigests) { self.known = known }

  package convenience init(countMax: Int = countMax) { self.init(KnownDigests(countMax: countMax)) }

  /// Those of another package of the same document, or of the same one at a later time.
  package func forAnotherPackage() -> MemberDigests { MemberDigests(known) }

  /// The hash of a file, if it's known, and wasn't written since by a call that changes its time.
  package func hash(of status: FileStatus) -> ContentHash? { known.hash(of: status) }

  /// Notes the hash of a file, unless one is known: a later reader may see what another program has stored since.
  package func noteFirst(_ hash: ContentHash, of status: FileStatus) {
    if known.hash(of: status) == nil { known.note(FileDigest(hash, of: status), of: status.identity) }
  }

  /// Notes the hash of a file in which nobody else has stored anything.
  package func noteWritten(_ hash: ContentHash, of status: FileStatus) {
    known.note(FileDigest(hash, of: status), of: status.identity)
  }

  /// Notes that a file has other bytes than those that are known.
  package func noteAltered(_ hash: ContentHash, of status: FileStatus) {
    found.withLock { $0[status.identity] = FileDigest(hash, of: status) }
  }

  /// The document knows this package, as it was found: its own, merged or in a version.
  package func adopt() {
    let found = found.withLock { found in
      defer { found = [:] }
      return found
    }
    for (file, digest) in found { known.note(digest, of: file) }
  }
}

/// The hash of a file that had a certain size and time.
private struct FileDigest: Sendable {
  private let size: Int64
  private let modificationTime: Int64
  let hash: ContentHash

  init(_ hash: ContentHash, of status: FileStatus) {
    (size, modificationTime, self.hash) = (status.size, status.modificationTime, hash)
  }

  func isOf(_ status: FileStatus) -> Bool { size == status.size && modificationTime == status.modificationTime }
}

/// The files that are known, up to a number of them.
private final class KnownDigests: Sendable {
  private struct Table: Sendable {
    var digests: [FileIdentity: FileDigest] = [:]
    /// The files in the order in which they came, as a ring.
    var order: [FileIdentity] = []
    /// Where the oldest one is in a ring that's full.
    var oldest = 0
  }

  private let countMax: Int
  private let table = Guarded(Table())

  init(countMax: Int) {
    precondition(countMax > 0, "no file could be known")
    self.countMax = countMax
  }

  func hash(of status: FileStatus) -> ContentHash? {
    table.withLock { table in
      guard let digest = table.digests[status.identity], digest.isOf(status) else { return nil }
      return digest.hash
    }
  }

  func note(_ digest: FileDigest, of file: FileIdentity) {
    table.withLock { table in
      if table.digests.updateValue(digest, forKey: file) != nil { return }
      if table.order.count < countMax { return table.order.append(file) }
      table.digests[table.order[table.oldest]] = nil
      table.order[table.oldest] = file
      table.oldest = (table.oldest + 1) % countMax
    }
  }
}

extension StoredMember {
  /// The hash of this file's bytes as they are now, with its status.
  func contentHash() throws(PackageError) -> (hash: ContentHash, status: FileStatus) {
    var hasher = ContentHasher()
    let status = try readParts { (part, _) in hasher.update(part) }
    return (hasher.finalized(), status)
  }

  /// Notes the hashes of this file, or of those in this directory, before they're altered, unless they are known.
  ///
  /// Files that can't be read aren't noted.
  ///
  /// - Parameter left: How many more bytes are read.
  func noteDigests(_ left: inout Int64) {
    guard let digests = directory.digests, let status = try? status() else { return }
    switch status.kind {
    case .regular:
      guard digests.hash(of: status) == nil, status.size <= left, let found = try? contentHash() else { return }
      left -= status.size
      digests.noteFirst(found.hash, of: found.status)
    case .directory: for (_, member, _) in (try? members()) ?? [] { member.noteDigests(&left) }
    case .symbolicLink, .fifo, .socket, .characterDevice, .blockDevice, .unknown: return
    }
  }
}

extension FileSystem {
  /// The hash of all bytes of a file that was just opened.
  package func contentHash(of file: FileDescriptor) throws(SystemError) -> ContentHash {
    var (hasher, piece) = (ContentHasher(), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = try read(file, into: &piece)
      if count == 0 { return hasher.finalized() }
      hasher.update(piece[..<count])
    }
  }
}
