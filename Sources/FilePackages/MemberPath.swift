package import SystemInterface

/// The names that lead from the top of a package to a member: none of them leads up, out of it or through a link.
package struct MemberPath: Hashable, Sendable {
  package private(set) var names: [SystemPath]

  /// The top of a package.
  package static let top = MemberPath(names: [])

  private init(names: [SystemPath]) { self.names = names }

  /// Takes apart a relative path.
  ///
  /// - Throws: `invalidName` for an absolute path, and for a component that no member can have; `tooDeep`.
  package init(_ path: SystemPath) throws(PackageError) {
    var names: [SystemPath] = []
    if !path.bytes.isEmpty {
      let parts = path.bytes.split(
        separator: SystemPath.separator, maxSplits: PackageTree.depthMax + 1, omittingEmptySubsequences: false)
      for part in parts.prefix(PackageTree.depthMax + 1) {
        names.append(try Self.checked(SystemPath(bytes: part), in: path))
      }
      if parts.count > PackageTree.depthMax { throw PackageError(.tooDeep, path) }
    }
    self.names = names
  }

  private static func checked(_ name: SystemPath, in path: SystemPath) throws(PackageError) -> SystemPath {
    if !name.canBeMember { throw PackageError(.invalidName, path) }
    return name
  }

  /// The path of a member of this directory; the name comes from a directory, or was checked.
  package func appending(_ name: SystemPath) throws(PackageError) -> MemberPath {
    let longer = MemberPath(names: names + [name])
    if longer.names.count > PackageTree.depthMax { throw PackageError(.tooDeep, longer.path) }
    return longer
  }

  var isTop: Bool { names.isEmpty }
  var parent: MemberPath { MemberPath(names: Array(names.dropLast())) }
  var name: SystemPath { names.last ?? SystemPath("") }

  /// All names with slashes in between.
  package var path: SystemPath { SystemPath(bytes: names.map(\.bytes).joined(separator: [SystemPath.separator])) }
}

extension SystemPath {
  /// Whether a member can have this name: one component, which isn't a name that saves give to what isn't complete.
  package var canBeMember: Bool {
    !bytes.isEmpty && bytes.count <= Self.nameLengthMax && self != SystemPath(".") && self != SystemPath("..")
      && !bytes.contains(Self.separator) && !bytes.contains(0) && !isTemporaryName
  }

  /// This name, or the first of `NAME 2.ext`, `NAME 3.ext` and so on that isn't taken.
  ///
  /// The number stands before the extension. A name that would become longer than 255 bytes loses characters before the number.
  ///
  /// - Parameter isTaken: Whether a name is.
  /// - Returns: The name.
  /// - Throws: The error of `isTaken`.
  /// - Complexity: O(*n*) in the number of names tried. ``NameNumbers`` needs fewer for many additions.
  package func firstFree(_ isTaken: (SystemPath) throws(PackageError) -> Bool) throws(PackageError) -> SystemPath {
    var numbers = NameNumbers()
    return try numbers.firstFree(self, isTaken)
  }

  fileprivate func firstNumbered(
    from first: Int, _ isTaken: (SystemPath) throws(PackageError) -> Bool
  ) throws(PackageError) -> (name: SystemPath, number: Int) {
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 && $0 < bytes.count - 1 ? $0 : nil }
    let end = dot.map { Array(bytes[$0...]) } ?? []
    let stem = Array(bytes[..<(dot ?? bytes.count)])
    var number = first
    while true {
      let tail = Array(" \(number)".utf8) + end
      let candidate = SystemPath(bytes: Self.prefix(of: stem, lengthMax: Self.nameLengthMax - tail.count) + tail)
      if candidate.canBeMember, try !isTaken(candidate) { return (candidate, number) }
      number += 1
    }
  }

  /// As many bytes as fit, without a part of a character at the end.
  private static func prefix(of bytes: [UInt8], lengthMax: Int) -> ArraySlice<UInt8> {
    if bytes.count <= lengthMax { return bytes[...] }
    var end = max(0, lengthMax)
    // In UTF-8 all bytes of a character but the first one begin with the bits 10.
    while end > 0 && bytes[end] & 0xc0 == 0x80 { end -= 1 }
    return bytes[..<end]
  }
}

/// The numbers up to which the names of a directory are taken, by the names that were wished for.
///
/// Without it, the *n*-th addition under one name would try *n* names.
package struct NameNumbers: Sendable {
  private var numbers: [SystemPath: Int] = [:]

  package init() {}

  /// A name that was wished for, or the first one with a number that isn't taken.
  ///
  /// - Parameters:
  ///   - name: The name that was wished for.
  ///   - isTaken: Whether a name is taken.
  /// - Returns: The name, which the caller takes.
  /// - Throws: The error of `isTaken`.
  /// - Complexity: O(1) if nothing was removed since the last addition under this name.
  package mutating func firstFree(
    _ name: SystemPath, _ isTaken: (SystemPath) throws(PackageError) -> Bool
  ) throws(PackageError) -> SystemPath {
    if try !isTaken(name) { return name }
    let (free, number) = try name.firstNumbered(from: numbers[name].map { $0 + 1 } ?? 2, isTaken)
    numbers[name] = number
    return free
  }

  /// Empties it.
  ///
  /// - Returns: The former one.
  package mutating func take() -> NameNumbers {
    defer { numbers = [:] }
    return self
  }

  /// Notes that a name isn't taken any more.
  package mutating func noteRemoval() { if !numbers.isEmpty { numbers = [:] } }
}
