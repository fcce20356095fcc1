internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// Without a base that somebody has kept, a merge begins with the version from which the texts have most likely been made. A base that's too
// old makes conflicts of equal changes at worst. One that's too new is worse: changes of one side from before it, which the other side doesn't
// have, would be undone without a word. So every doubt goes to the older one.

/// Chooses the text from which several others have most likely been made, among older ones of the same file.
///
/// | a candidate | why |
/// | --- | --- |
/// | is no side of the conflict | a merge from one side takes the other as a whole |
/// | is the one nearest to some side, by lines | each change since then makes the distance greater |
/// | of those that are the nearest to the different sides, the oldest | the others have changes that one side doesn't have |
struct LikelyBase {
  /// How many candidates are looked at.
  static let countMax = 256
  /// How many bytes the candidates that are looked at may have together with the sides.
  static let byteCountMax: Int64 = 1 << 25

  private let sides: [Lines]
  /// For each side, the nearest candidate yet, and its distance.
  private var nearest: [(number: Int, distance: Int)?]
  private var last: Int?

  init(sides: [[UInt8]]) {
    self.sides = sides.map { Lines($0) }
    nearest = sides.map { _ in nil }
  }

  /// Looks at the next candidate, which is older than those before.
  mutating func look(at text: [UInt8], number: Int) {
    let lines = Lines(text)
    last = number
    for (index, side) in sides.enumerated() {
      let distance = side.distance(to: lines)
      // Of several that are as near, the oldest.
      if let best = nearest[index], best.distance < distance { continue }
      nearest[index] = (number, distance)
    }
  }

  /// The number of the candidate that was chosen; `nil` if there was none.
  var choice: Int? { nearest.compactMap { $0?.number }.max() }

  /// Whether the choice is the last candidate that was looked at.
  var isOldestLooked: Bool { choice == last }

  /// How often a text has each of its lines.
  private struct Lines {
    private var counts: [ArraySlice<UInt8>: Int] = [:]

    init(_ text: [UInt8]) {
      for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
        counts[line, default: 0] += 1
      }
    }

    /// How many lines one of them has, and the other hasn't.
    func distance(to other: Lines) -> Int {
      var distance = 0
      for (line, count) in counts { distance += abs(count - (other.counts[line] ?? 0)) }
      for (line, count) in other.counts where counts[line] == nil { distance += count }
      return distance
    }
  }
}

extension FileConflict {
  /// The contents from which a merge begins: ``base``, or else the version from which all of the texts have most likely been made.
  ///
  /// The latter is recorded nowhere, so it's concluded from the versions that were kept before the conflict: those whose date is that of
  /// none of the texts or earlier. Of each text, the version that's nearest by its lines is searched for, and the oldest of these is the result. A
  /// version from which a text wasn't made would let a merge undo changes, so every doubt leads to an older one: that costs a
  /// conflict at worst. The date of a conflict copy is that of its contents, not that in its name.
  ///
  /// Runs on threads of the library, and has the access of ``FileVersions/resolve(at:keepsOthers:_:)``. The contents of versions are compared with
  /// their hashes; those that are damaged are left out.
  ///
  /// - Returns: The version; `nil` if no base was kept, and no version from before the conflict, and if it can't be told: for packages, and
  ///   with more than 32 MiB to compare.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(1) with a ``base``; otherwise O(bytes of the versions from before the conflict), of 256 at most.
  /// - Note: Rules CV-36, CV-40.
  public func mergeBase() async throws(FileVersionError) -> FileVersion? {
    if let base { return base }
    return try await versions.perform { keeper in try likelyBase(keeper) }
  }

  /// See ``mergeBase()``, without ``base``.
  func likelyBase(
    _ keeper: VersionKeeper, countMax: Int = LikelyBase.countMax, byteCountMax: Int64 = LikelyBase.byteCountMax
  ) throws -> FileVersion? {
    let sides = [current] + others
    guard let earliest = sides.map(\.modificationDate).min(), !sides.contains(where: \.isPackage) else { return nil }
    let candidates = earlier.filter { $0.stored != nil && !$0.isPackage && $0.modificationDate <= earliest }
    var room = byteCountMax - sides.reduce(0) { $0 + $1.size }
    if candidates.isEmpty || room < 0 { return nil }
    let texts = try sides.map { side in
      try side.isCurrent ? HostFileSystem().contents(of: keeper.path(of: side.url)) : Array(keeper.contents(of: side))
    }
    var base = LikelyBase(sides: texts)
    for (number, version) in candidates.prefix(countMax).enumerated() {
      room -= version.size
      if room < 0 { return base.isOldestLooked ? nil : base.choice.map { candidates[$0] } }
      // One that's damaged, or was removed meanwhile, is none.
      guard let text = try? Array(keeper.contents(of: version)), !texts.contains(text) else { continue }
      base.look(at: text, number: number)
    }
    // The right one may be older than all that were looked at.
    if candidates.count > countMax, base.isOldestLooked { return nil }
    return base.choice.map { candidates[$0] }
  }
}
