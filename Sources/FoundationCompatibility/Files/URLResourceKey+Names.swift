#if !canImport(ObjectiveC)
  public import Foundation

  // The keys that programs name and Foundation doesn't declare on Linux, with their names on Apple platforms.
  // Foundation has no values for them.

  extension URLResourceKey {
    /// Whether the item is shared.
    public static let ubiquitousItemIsSharedKey = URLResourceKey(rawValue: "NSURLUbiquitousItemIsSharedKey")
    /// Whether the item is kept out of synchronization.
    public static let ubiquitousItemIsExcludedFromSyncKey = URLResourceKey(
      rawValue: "NSURLUbiquitousItemIsExcludedFromSyncKey")
    /// The role of the user for a shared item.
    public static let ubiquitousSharedItemCurrentUserRoleKey = URLResourceKey(
      rawValue: "NSURLUbiquitousSharedItemCurrentUserRoleKey")
    /// The permissions of the user for a shared item.
    public static let ubiquitousSharedItemCurrentUserPermissionsKey = URLResourceKey(
      rawValue: "NSURLUbiquitousSharedItemCurrentUserPermissionsKey")
    /// The owner of a shared item.
    public static let ubiquitousSharedItemOwnerNameComponentsKey = URLResourceKey(
      rawValue: "NSURLUbiquitousSharedItemOwnerNameComponentsKey")
    /// The last editor of a shared item.
    public static let ubiquitousSharedItemMostRecentEditorNameComponentsKey = URLResourceKey(
      rawValue: "NSURLUbiquitousSharedItemMostRecentEditorNameComponentsKey")
    /// A number that copies have in common which share their contents.
    public static let fileContentIdentifierKey = URLResourceKey(rawValue: "NSURLFileContentIdentifierKey")
    /// The type of the contents.
    public static let contentTypeKey = URLResourceKey(rawValue: "NSURLContentTypeKey")
    /// Whether the item may have extended attributes.
    public static let mayHaveExtendedAttributesKey = URLResourceKey(rawValue: "NSURLMayHaveExtendedAttributesKey")
    /// Whether the system may remove the item.
    public static let isPurgeableKey = URLResourceKey(rawValue: "NSURLIsPurgeableKey")
    /// Whether the file has holes.
    public static let isSparseKey = URLResourceKey(rawValue: "NSURLIsSparseKey")
    /// Whether the file may share its contents with a copy.
    public static let mayShareFileContentKey = URLResourceKey(rawValue: "NSURLMayShareFileContentKey")
    /// How many entries a directory has.
    public static let directoryEntryCountKey = URLResourceKey(rawValue: "NSURLDirectoryEntryCountKey")
    /// How the file is protected.
    public static let fileProtectionKey = URLResourceKey(rawValue: "NSURLFileProtectionKey")
    /// The number of the item in its file system.
    public static let fileIdentifierKey = URLResourceKey(rawValue: "NSURLFileIdentifierKey")
    /// How much room there is for data that the user needs.
    public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(
      rawValue: "NSURLVolumeAvailableCapacityForImportantUsageKey")
    /// How much room there is for data that could be fetched again.
    public static let volumeAvailableCapacityForOpportunisticUsageKey = URLResourceKey(
      rawValue: "NSURLVolumeAvailableCapacityForOpportunisticUsageKey")
  }

  extension URLResourceValues {
    /// Not known.
    public var fileContentIdentifier: Int64? { nil }

    /// Not known: it's the inode number, which `FileManager.attributesOfItem(atPath:)` has.
    public var fileIdentifier: UInt64? { nil }

    /// Not known.
    public var mayHaveExtendedAttributes: Bool? { nil }

    /// Not known: nothing is removed by the system.
    public var isPurgeable: Bool? { nil }

    /// Not known.
    public var isSparse: Bool? { nil }

    /// Not known.
    public var mayShareFileContent: Bool? { nil }

    /// Not known.
    public var directoryEntryCount: Int? { nil }

    /// Not known.
    public var volumeAvailableCapacityForImportantUsage: Int64? { nil }

    /// Not known.
    public var volumeAvailableCapacityForOpportunisticUsage: Int64? { nil }
  }
#endif
