internal import FileAccessArbiter

extension FileCoordinator {
  /// How an item is read.
  ///
  /// The raw values are those of Apple's `NSFileCoordinator.ReadingOptions`.
  public struct ReadingOptions: OptionSet, Hashable, Sendable {
    /// The bits, as on Apple platforms.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, as on Apple platforms.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Doesn't ask presenters to save first; they're still asked to relinquish (C-031).
    public static let withoutChanges = Self(rawValue: 1 << 0)
    /// Reads what a symbolic link leads to; without it, the link itself is the item (C-044).
    ///
    /// Not allowed when preparing.
    public static let resolvesSymbolicLink = Self(rawValue: 1 << 1)
    /// Reads metadata only, so nothing has to be fetched from elsewhere.
    ///
    /// On a plain file system everything is there already: it waits for others like any read (C-042).
    public static let immediatelyAvailableMetadataOnly = Self(rawValue: 1 << 2)
    /// Reads a private snapshot, so that others can write while it's uploaded (C-045…C-048).
    ///
    /// The accessor gets the URL of a copy, or of a single zip file if the item is a directory. The access ends when the
    /// snapshot exists, before the accessor runs. The snapshot is gone after the accessor. To be consistent, the snapshot of
    /// a directory waits for writers inside it, and asks the presenters inside it to save.
    public static let forUploading = Self(rawValue: 1 << 3)

    static let all: ReadingOptions = [
      .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
    ]
  }

  /// Why an item is written.
  ///
  /// The raw values are those of Apple's `NSFileCoordinator.WritingOptions`.
  ///
  /// At most one may be given. None means that the item is updated and stays the same item.
  public struct WritingOptions: OptionSet, Hashable, Sendable {
    /// The bits, as on Apple platforms.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits, as on Apple platforms.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The item will vanish: waits for everything inside it, and asks presenters to accommodate (C-070…C-076).
    public static let forDeleting = Self(rawValue: 1 << 0)
    /// The item will be moved or renamed: waits for everything inside it (C-014).
    ///
    /// Like no option on a plain file.
    public static let forMoving = Self(rawValue: 1 << 1)
    /// The new contents depend on the old: presenters save first (C-052).
    public static let forMerging = Self(rawValue: 1 << 2)
    /// A different item takes the place of whatever is there when the waiting ends (C-077…C-080).
    ///
    /// The URL stays the one that was asked for. Not allowed when preparing.
    public static let forReplacing = Self(rawValue: 1 << 3)
    /// Writes only metadata that has nothing to do with the contents; waits and asks like no option.
    public static let contentIndependentMetadataOnly = Self(rawValue: 1 << 4)
  }
}

extension FileCoordinator.ReadingOptions {
  func itemAccess(url: String) throws(FileCoordinationError) -> ItemAccess {
    guard isSubset(of: .all) else { throw .unknownOptions(rawValue, url: url) }
    let withoutChanges = contains(.withoutChanges)
    return contains(.forUploading)
      ? .readAll(withoutChanges: withoutChanges) : .read(withoutChanges: withoutChanges)
  }
}

extension FileCoordinator.WritingOptions {
  func itemAccess(url: String) throws(FileCoordinationError) -> ItemAccess {
    if self == [] { return .write(.update) }
    if self == .forDeleting { return .write(.deleting) }
    if self == .forMoving { return .write(.moving) }
    if self == .forMerging { return .write(.merging) }
    if self == .forReplacing { return .write(.replacing) }
    if self == .contentIndependentMetadataOnly { return .write(.metadataOnly) }
    guard rawValue < 1 << 5 else { throw .unknownOptions(rawValue, url: url) }
    throw .conflictingOptions(url: url)
  }
}

extension FileCoordinator.ReadingOptions: CustomStringConvertible {
  /// The names of the options, such as `[.withoutChanges]`.
  public var description: String {
    optionNames([
      (.withoutChanges, ".withoutChanges"), (.resolvesSymbolicLink, ".resolvesSymbolicLink"),
      (.immediatelyAvailableMetadataOnly, ".immediatelyAvailableMetadataOnly"), (.forUploading, ".forUploading"),
    ])
  }
}

extension FileCoordinator.WritingOptions: CustomStringConvertible {
  /// The names of the options, such as `[.forDeleting]`.
  public var description: String {
    optionNames([
      (.forDeleting, ".forDeleting"), (.forMoving, ".forMoving"), (.forMerging, ".forMerging"),
      (.forReplacing, ".forReplacing"), (.contentIndependentMetadataOnly, ".contentIndependentMetadataOnly"),
    ])
  }
}

extension OptionSet where Element == Self {
  fileprivate func optionNames(_ names: [(Self, String)]) -> String {
    "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
  }
}
