internal import SystemInterface

/// The name of a file in a shared folder.
///
///     change-000000000000002a                         the change with the number 42
///     values-0000000000000040-0000000000000020        everything up to change 64; changes up to 32 aren't kept
///
/// Numbers are hexadecimal with 16 digits. All other names belong to somebody else, and are left alone.
enum FolderName: Hashable, Sendable {
  case change(Int64)
  case values(FolderValues)

  private static let changePrefix = Array("change-".utf8)
  private static let valuesPrefix = Array("values-".utf8)
  private static let digitCount = 16

  init?(_ name: SystemPath) {
    let bytes = Array(name.bytes)
    if bytes.starts(with: Self.changePrefix) {
      guard let number = Self.number(bytes.dropFirst(Self.changePrefix.count)) else { return nil }
      self = .change(number)
      return
    }
    guard bytes.starts(with: Self.valuesPrefix) else { return nil }
    let parts = bytes.dropFirst(Self.valuesPrefix.count).split(
      separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, let revision = Self.number(parts[0]), let floor = Self.number(parts[1]) else { return nil }
    self = .values(FolderValues(revision: revision, floor: floor))
  }

  var path: SystemPath {
    switch self {
    case .change(let revision): SystemPath(bytes: Self.changePrefix + Self.digits(revision))
    case .values(let values):
      SystemPath(
        bytes: Self.valuesPrefix + Self.digits(values.revision) + [UInt8(ascii: "-")] + Self.digits(values.floor))
    }
  }

  private static func digits(_ number: Int64) -> [UInt8] {
    let digits = Array(String(number, radix: 16).utf8)
    return [UInt8](repeating: UInt8(ascii: "0"), count: max(0, digitCount - digits.count)) + digits
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    let isPlain = digits.allSatisfy {
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
    }
    guard isPlain, digits.count == digitCount else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

/// A file that has everything up to a change.
struct FolderValues: Hashable, Comparable, Sendable {
  var revision: Int64
  /// Changes up to it may have been removed.
  ///
  /// A file with such a number means nothing.
  var floor: Int64

  static func < (left: FolderValues, right: FolderValues) -> Bool {
    (left.revision, left.floor) < (right.revision, right.floor)
  }
}

/// The names that a shared folder had, and the conclusions from them: a value.
///
/// Names that come and go while a directory is read may be missing. So files with everything are removed oldest first, after a newer one was
/// there: if the newest of a survey still exists afterwards, there was no newer one when the survey began.
struct FolderSurvey: Sendable {
  /// The folder itself.
  var identity: FileIdentity
  /// In their order.
  private(set) var values: [FolderValues] = []
  /// In their order.
  private(set) var changes: [Int64] = []
  /// Files in the making, on file systems where these have names; their processes may have ended.
  private(set) var drafts: [(path: SystemPath, name: FolderName)] = []

  init(of identity: FileIdentity, _ names: some Sequence<SystemPath>) {
    self.identity = identity
    for name in names {
      switch FolderName(name) {
      case .change(let revision): changes.append(revision)
      case .values(let found): values.append(found)
      case nil: if let draft = Self.draft(name) { drafts.append((name, draft)) }
      }
    }
    values.sort()
    changes.sort()
  }

  /// The file that a temporary name is made for.
  private static func draft(_ name: SystemPath) -> FolderName? {
    guard name.isTemporaryName, let end = name.bytes.dropLast(7).lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return FolderName(SystemPath(bytes: name.bytes[..<end].dropFirst()))
  }

  var newestValues: FolderValues? { values.last }
  var floor: Int64 { newestValues?.floor ?? 0 }
  /// The last change that there's a trace of.
  var revision: Int64 { max(newestValues?.revision ?? 0, changes.last ?? 0) }

  /// The conclusion about changes that were read before the survey.
  enum Verdict: Hashable, Sendable {
    /// They're the ones that followed, up to the last one.
    case right
    /// Some of them aren't kept any more, or the folder is another one: everything has to be read again.
    case tooOld
    /// They're the ones that followed. The next one has come meanwhile, or it's missing.
    case incomplete
  }

  /// Judges changes that were read one after the other until the next one wasn't there.
  ///
  /// A change below the floor is no change: its writer was so slow that the number was free again.
  ///
  /// - Parameters:
  ///   - start: The revision before the first of them.
  ///   - end: The revision of the last of them; `start` if there was none.
  /// - Returns: The conclusion.
  func verdict(from start: Int64, to end: Int64) -> Verdict {
    if floor > start || revision < end { return .tooOld }
    if revision == end { return .right }
    let isWithout = end == start && newestValues.map { $0.revision > end } ?? false
    return isWithout ? .tooOld : .incomplete
  }
}
