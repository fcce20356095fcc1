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
    /// Reads the target of a symbolic link; without it, the link itself is the item (C-044).
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

  /// Why an item is written: one choice.
  ///
  /// Without another choice the item is updated, and stays the same item: ``forUpdating``, for which an empty list in brackets may be
  /// written, too. Apple's `NSFileCoordinator.WritingOptions` are a set, of which at most one member may be given.
  public struct WritingOptions: Hashable, Sendable, RawRepresentable, ExpressibleByArrayLiteral {
    /// The bit of the choice on Apple platforms; zero for ``forUpdating``.
    public let rawValue: UInt

    private init(bits: UInt) { rawValue = bits }

    /// The choice with a bit; `nil` for several bits, and for one without a meaning.
    ///
    /// - Parameter rawValue: The bit, as on Apple platforms, or zero.
    public init?(rawValue: UInt) {
      guard rawValue < 1 << 5, rawValue.nonzeroBitCount <= 1 else { return nil }
      self.init(bits: rawValue)
    }

    /// Makes ``forUpdating`` of `[]`.
    ///
    /// - Parameter elements: Nothing: there's one choice only.
    public init(arrayLiteral elements: Never...) { self = .forUpdating }

    /// The item gets other contents and stays the same item.
    public static let forUpdating = Self(bits: 0)
    /// The item will vanish: waits for everything inside it, and asks presenters to accommodate (C-070…C-076).
    public static let forDeleting = Self(bits: 1 << 0)
    /// The item will be moved or renamed: waits for everything inside it (C-014).
    ///
    /// Like ``forUpdating`` on a plain file.
    public static let forMoving = Self(bits: 1 << 1)
    /// The new contents depend on the old: presenters save first (C-052).
    public static let forMerging = Self(bits: 1 << 2)
    /// A different item takes the place of whatever is there when the waiting ends (C-077…C-080).
    ///
    /// The URL stays the one that was asked for. Not allowed when preparing.
    public static let forReplacing = Self(bits: 1 << 3)
    /// Writes only metadata that has nothing to do with the contents; waits and asks like ``forUpdating``.
    public static let contentIndependentMetadataOnly = Self(bits: 1 << 4)
  }
}

extension FileCoordinator.ReadingOptions {
  func itemAccess(url: @autoclosure () -> String) throws(FileCoordinationError) -> ItemAccess {
    guard isSubset(of: .all) else { throw .unknownOptions(rawValue, url: url()) }
    let withoutChanges = contains(.withoutChanges)
    return contains(.forUploading)
      ? .readAll(withoutChanges: withoutChanges) : .read(withoutChanges: withoutChanges)
  }
}

extension FileCoordinator.WritingOptions {
  var itemAccess: ItemAccess {
    switch self {
    case .forDeleting: .write(.deleting)
    case .forMoving: .write(.moving)
    case .forMerging: .write(.merging)
    case .forReplacing: .write(.replacing)
    case .contentIndependentMetadataOnly: .write(.metadataOnly)
    default: .write(.update)
    }
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
  /// The name of the choice, such as `.forDeleting`.
  public var description: String {
    switch self {
    case .forDeleting: ".forDeleting"
    case .forMoving: ".forMoving"
    case .forMerging: ".forMerging"
    case .forReplacing: ".forReplacing"
    case .contentIndependentMetadataOnly: ".contentIndependentMetadataOnly"
    default: ".forUpdating"
    }
  }
}

extension OptionSet where Element == Self {
  fileprivate func optionNames(_ names: [(Self, String)]) -> String {
    "[" + names.filter { contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
  }
}
