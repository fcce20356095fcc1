public import FoundationEssentials
internal import VersionStore

/// How many versions are kept, and which of them go first.
///
/// A version goes if any of the limits says so. Conflicts that aren't resolved stay. So does what two writers had in common last, from
/// which a merge begins, and as long as there are such conflicts everything that they had in common before.
///
/// ```swift
/// let policy = FileVersionRetention(countMax: 100, thinning: .likeBackups)
/// print(try await versions.prune(file, by: policy, isDryRun: true))
/// ```
public struct FileVersionRetention: Hashable, Sendable {
  /// From an age on, at most one version for each interval is kept: the newest.
  public struct Thinning: Hashable, Sendable {
    /// How old versions are that this concerns, in seconds.
    public var age: TimeInterval
    /// One version is kept for each such interval, in seconds.
    public var interval: TimeInterval

    /// States an interval.
    ///
    /// - Parameters:
    ///   - age: How old versions are that this concerns, in seconds.
    ///   - interval: One version is kept for each such interval, in seconds.
    public init(from age: TimeInterval, interval: TimeInterval) {
      self.age = age
      self.interval = interval
    }
  }

  /// How many versions are kept at most.
  public var countMax: Int?
  /// How old versions may be, in seconds.
  public var ageMax: TimeInterval?
  /// How many bytes versions may have together.
  ///
  /// Those that are discardable go first.
  public var byteCountMax: Int64?
  /// How versions are thinned out as they grow older; of several that concern a version the one with the highest age counts.
  public var thinning: [Thinning]

  /// States limits; nothing is removed for one that isn't stated.
  ///
  /// - Parameters:
  ///   - countMax: How many versions are kept at most.
  ///   - ageMax: How old versions may be, in seconds.
  ///   - byteCountMax: How many bytes versions may have together.
  ///   - thinning: How versions are thinned out as they grow older.
  public init(
    countMax: Int? = nil, ageMax: TimeInterval? = nil, byteCountMax: Int64? = nil, thinning: [Thinning] = []
  ) {
    self.countMax = countMax
    self.ageMax = ageMax
    self.byteCountMax = byteCountMax
    self.thinning = thinning
  }

  /// The versions that go.
  ///
  /// - Parameters:
  ///   - versions: The versions of one file that are kept, in any order.
  ///   - date: The present.
  /// - Returns: The versions that go, oldest first.
  public func removals(among versions: [FileVersion], at date: Date) -> [FileVersion] {
    let conflictsRemain = versions.contains { !$0.isResolved }
    let newestBase = versions.filter(\.isBase).max { $0.id < $1.id }
    // Those of which a conflict says that it was made of them.
    let parents = Set(versions.filter { !$0.isResolved }.flatMap(\.parents))
    var kept = versions.filter {
      $0.isResolved && !($0.isBase && conflictsRemain) && $0 != newestBase && !$0.isCurrent && !parents.contains($0.id)
    }.sorted { $0.id < $1.id }
    var removed: [FileVersion] = []
    func remove(where isSelected: (FileVersion) -> Bool) {
      removed += kept.filter(isSelected)
      kept.removeAll(where: isSelected)
    }
    if let ageMax { remove { $0.age(at: date) > ageMax } }
    let thinned = thinnedOut(kept, at: date)
    remove(where: thinned.contains)
    if let countMax, kept.count > countMax {
      let surplus = Set(kept.prefix(kept.count - max(countMax, 0)))
      remove(where: surplus.contains)
    }
    if let byteCountMax {
      // Any limit that a caller states has a difference here.
      var surplus = kept.reduce(Int128(0)) { $0 + Int128($1.size) } - Int128(max(byteCountMax, 0))
      let first = kept.filter(\.isDiscardable) + kept.filter { !$0.isDiscardable }
      var chosen: Set<FileVersion> = []
      for version in first where surplus > 0 {
        surplus -= Int128(version.size)
        chosen.insert(version)
      }
      remove(where: chosen.contains)
    }
    return removed.sorted { $0.id < $1.id }
  }

  /// All but the newest version in each interval.
  private func thinnedOut(_ versions: [FileVersion], at date: Date) -> Set<FileVersion> {
    struct Slot: Hashable {
      let rule: Thinning
      let number: Double
    }
    var newest: [Slot: FileVersion] = [:]
    var removed: Set<FileVersion> = []
    for version in versions {
      let age = version.age(at: date)
      let rules = thinning.filter { $0.age <= age && $0.interval > 0 }
      guard let rule = rules.max(by: { $0.age < $1.age }), let addition = version.additionDate else { continue }
      let number = (addition.timeIntervalSince1970 / rule.interval).rounded(.down)
      // Each version is alone in an interval that's too short to be numbered.
      guard number.isFinite else { continue }
      let slot = Slot(rule: rule, number: number)
      if let older = newest.updateValue(version, forKey: slot) { removed.insert(older) }
    }
    return removed
  }
}

extension [FileVersionRetention.Thinning] {
  /// All versions of a day, one of each hour of a week, one of each day of a month, and one of each week before.
  public static var likeBackups: [FileVersionRetention.Thinning] {
    let (hour, day) = (3_600.0, 86_400.0)
    return [
      .init(from: day, interval: hour), .init(from: 7 * day, interval: day), .init(from: 30 * day, interval: 7 * day),
    ]
  }
}

extension FileVersion {
  /// How old it is at least, in seconds.
  ///
  /// The order of versions is that of the times in their names. If the clock was behind when a version was kept, that time is the better one,
  /// and it makes the version younger. Only if it lies in the future, the clock was ahead before.
  func age(at date: Date) -> TimeInterval {
    let order = id.version.map { Date(nanosecondsSince1970: Int64(clamping: $0.time)) }
    let addition = order.flatMap { $0 <= date ? $0 : nil } ?? additionDate
    return addition.map { date.timeIntervalSince($0) } ?? 0
  }
}

extension FileVersion.ID: Comparable {
  /// Orders versions of one file by their age; conflict copies beside it and the one that it has now come last.
  ///
  /// - Parameters:
  ///   - first: An identifier.
  ///   - second: An identifier.
  /// - Returns: Whether the first one is older.
  public static func < (first: FileVersion.ID, second: FileVersion.ID) -> Bool {
    switch (first.version, second.version) {
    case (let older?, let newer?): (older, first.item.description) < (newer, second.item.description)
    case (.some, nil): true
    case (nil, .some): false
    case (nil, nil): first.copy != nil && (second.copy == nil || first.description < second.description)
    }
  }
}
