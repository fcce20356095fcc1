internal import SystemInterface

/// A tree of members as one run of bytes, always the same for equal trees: fit for hashing, comparing and keeping.
///
/// The form, with all numbers big-endian:
///
/// | part | bytes |
/// | --- | --- |
/// | the beginning | `FCPK`, then 1 for this form |
/// | a member | its kind (1), its permissions (4), its contents |
/// | contents of a file, kind 0 | their count (8), the bytes |
/// | contents of a symbolic link, kind 2 | the count (4) and the bytes of the target |
/// | contents of a directory, kind 1 | the number of entries (4), the entries in the order of their names' bytes |
/// | an entry | the count (4) and the bytes of its name; those of the name wished for, or the count 2³²−1 if that's the same; the member |
///
/// The whole is one member. Dates, owners and attributes aren't in it, so that equal contents give equal bytes.
///
/// - Note: Rule FW-10.
package indirect enum MemberArchive: Hashable, Sendable {
  case file([UInt8], mode: UInt32)
  case directory([Entry], mode: UInt32)
  case symbolicLink(target: [UInt8], mode: UInt32)

  /// A member of a directory.
  package struct Entry: Hashable, Sendable {
    package var name: [UInt8]
    /// The name that was wished for.
    package var preferredName: [UInt8]
    package var member: MemberArchive

    package init(name: [UInt8], preferredName: [UInt8], member: MemberArchive) {
      self.name = name
      self.preferredName = preferredName
      self.member = member
    }
  }

  private static let beginning = Array("FCPK".utf8) + [1]
  private static let sameName = UInt32.max

  /// The bytes.
  ///
  /// - Complexity: O(*n*) in the number of bytes, and O(*m* log *m*) in that of members.
  package var bytes: [UInt8] {
    var bytes = Self.beginning
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .file(let contents, let mode):
      bytes.append(0)
      Self.append(mode, to: &bytes)
      Self.append(UInt64(contents.count), to: &bytes)
      bytes += contents
    case .directory(let entries, let mode):
      bytes.append(1)
      Self.append(mode, to: &bytes)
      Self.append(UInt32(entries.count), to: &bytes)
      for entry in entries.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
        Self.append(text: entry.name, to: &bytes)
        if entry.preferredName == entry.name {
          Self.append(Self.sameName, to: &bytes)
        } else {
          Self.append(text: entry.preferredName, to: &bytes)
        }
        entry.member.append(to: &bytes)
      }
    case .symbolicLink(let target, let mode):
      bytes.append(2)
      Self.append(mode, to: &bytes)
      Self.append(text: target, to: &bytes)
    }
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  private static func append(text: [UInt8], to bytes: inout [UInt8]) {
    append(UInt32(text.count), to: &bytes)
    bytes += text
  }
}

extension MemberArchive {
  /// Reads an archive.
  ///
  /// - Throws: `corruptArchive` for bytes that ``bytes`` doesn't give for any tree: each tree has one form only.
  /// - Complexity: O(*n*) in the number of bytes, which bounds the memory as well.
  package init(bytes: [UInt8]) throws(PackageError) {
    var reader = Reader(rest: bytes[...])
    guard bytes.starts(with: Self.beginning) else { throw PackageError(.corruptArchive) }
    reader.rest = reader.rest.dropFirst(Self.beginning.count)
    self = try reader.member(depth: 0)
    if !reader.rest.isEmpty { throw PackageError(.corruptArchive) }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ count: UInt64) throws(PackageError) -> ArraySlice<UInt8> {
      if count > UInt64(rest.count) { throw PackageError(.corruptArchive) }
      defer { rest = rest.dropFirst(Int(count)) }
      return rest.prefix(Int(count))
    }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) throws(PackageError) -> Number {
      try take(UInt64(Number.bitWidth / 8)).reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func text() throws(PackageError) -> [UInt8] { Array(try take(UInt64(try number(UInt32.self)))) }

    mutating func member(depth: Int) throws(PackageError) -> MemberArchive {
      if depth > PackageTree.depthMax { throw PackageError(.tooDeep) }
      let kind = try number(UInt8.self)
      let mode = try number(UInt32.self)
      if mode > 0o7777 { throw PackageError(.corruptArchive) }
      switch kind {
      case 0: return .file(Array(try take(try number(UInt64.self))), mode: mode)
      case 1: return .directory(try entries(depth: depth), mode: mode)
      case 2: return .symbolicLink(target: try text(), mode: mode)
      default: throw PackageError(.corruptArchive)
      }
    }

    private mutating func entries(depth: Int) throws(PackageError) -> [Entry] {
      let count = try number(UInt32.self)
      var entries: [Entry] = []
      for _ in 0..<count {
        let name = try text()
        // In order, and each once; never a path.
        guard SystemPath(bytes: name).canBeMember, entries.last.map({ $0.name.lexicographicallyPrecedes(name) }) ?? true
        else { throw PackageError(.corruptArchive) }
        let preferredCount = try number(UInt32.self)
        var preferred = name
        if preferredCount != MemberArchive.sameName {
          preferred = Array(try take(UInt64(preferredCount)))
          if preferred == name || !SystemPath(bytes: preferred).canBeMember { throw PackageError(.corruptArchive) }
        }
        entries.append(Entry(name: name, preferredName: preferred, member: try member(depth: depth + 1)))
      }
      return entries
    }
  }
}
