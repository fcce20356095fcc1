#if !canImport(ObjectiveC)
  // Attributes of all of Apple's platforms, by Apple's constants.

  /// The name, as a `String`.
  public let NSMetadataItemFSNameKey = "kMDItemFSName"

  /// The name that's shown, as a `String`; here the name.
  public let NSMetadataItemDisplayNameKey = "kMDItemDisplayName"

  /// The `URL`.
  public let NSMetadataItemURLKey = "kMDItemURL"

  /// The absolute path, as a `String`.
  public let NSMetadataItemPathKey = "kMDItemPath"

  /// The size in bytes, as an `NSNumber`.
  public let NSMetadataItemFSSizeKey = "kMDItemFSSize"

  /// When the item was made, as a `Date`; missing where the file system doesn't keep it.
  public let NSMetadataItemFSCreationDateKey = "kMDItemFSCreationDate"

  /// When the contents changed last, as a `Date`.
  public let NSMetadataItemFSContentChangeDateKey = "kMDItemFSContentChangeDate"

  /// The uniform type identifier, as a `String`.
  public let NSMetadataItemContentTypeKey = "kMDItemContentType"

  /// The uniform type identifier and everything it conforms to, as `[String]`.
  public let NSMetadataItemContentTypeTreeKey = "kMDItemContentTypeTree"

  /// Whether the item is kept elsewhere, as a `Bool`: `false` here.
  public let NSMetadataItemIsUbiquitousKey = "NSMetadataItemIsUbiquitousKey"

  // MARK: - Items that are kept elsewhere

  // No item is, so none has these.

  /// Whether versions contradict each other, as a `Bool`.
  public let NSMetadataUbiquitousItemHasUnresolvedConflictsKey = "NSMetadataUbiquitousItemHasUnresolvedConflictsKey"

  /// Whether the contents are on this machine, as a `Bool`.
  ///
  /// Apple prefers ``NSMetadataUbiquitousItemDownloadingStatusKey``.
  public let NSMetadataUbiquitousItemIsDownloadedKey = "NSMetadataUbiquitousItemIsDownloadedKey"

  /// How much is on this machine, as a `String`.
  public let NSMetadataUbiquitousItemDownloadingStatusKey = "NSMetadataUbiquitousItemDownloadingStatusKey"

  /// Whether the contents are being fetched, as a `Bool`.
  public let NSMetadataUbiquitousItemIsDownloadingKey = "NSMetadataUbiquitousItemIsDownloadingKey"

  /// Whether the contents are elsewhere as well, as a `Bool`.
  public let NSMetadataUbiquitousItemIsUploadedKey = "NSMetadataUbiquitousItemIsUploadedKey"

  /// Whether the contents are being sent, as a `Bool`.
  public let NSMetadataUbiquitousItemIsUploadingKey = "NSMetadataUbiquitousItemIsUploadingKey"

  /// How much has been fetched, as a `Double` from 0 to 100.
  public let NSMetadataUbiquitousItemPercentDownloadedKey = "NSMetadataUbiquitousItemPercentDownloadedKey"

  /// How much has been sent, as a `Double` from 0 to 100.
  public let NSMetadataUbiquitousItemPercentUploadedKey = "NSMetadataUbiquitousItemPercentUploadedKey"

  /// Why the contents couldn't be fetched, as an `NSError`.
  public let NSMetadataUbiquitousItemDownloadingErrorKey = "NSMetadataUbiquitousItemDownloadingErrorKey"

  /// Why the contents couldn't be sent, as an `NSError`.
  public let NSMetadataUbiquitousItemUploadingErrorKey = "NSMetadataUbiquitousItemUploadingErrorKey"

  /// Whether the contents have been requested, as a `Bool`.
  public let NSMetadataUbiquitousItemDownloadRequestedKey = "NSMetadataUbiquitousItemDownloadRequestedKey"

  /// Whether the item is outside of the program's containers, as a `Bool`.
  public let NSMetadataUbiquitousItemIsExternalDocumentKey = "NSMetadataUbiquitousItemIsExternalDocumentKey"

  /// The name of the item's container, as a `String`.
  public let NSMetadataUbiquitousItemContainerDisplayNameKey = "NSMetadataUbiquitousItemContainerDisplayNameKey"

  /// Where the item is in a container of the program, as a `URL`.
  public let NSMetadataUbiquitousItemURLInLocalContainerKey = "NSMetadataUbiquitousItemURLInLocalContainerKey"

  /// Whether others may use the item, as a `Bool`.
  public let NSMetadataUbiquitousItemIsSharedKey = "NSMetadataUbiquitousItemIsSharedKey"

  /// The contents aren't on this machine.
  public let NSMetadataUbiquitousItemDownloadingStatusNotDownloaded =
    "NSMetadataUbiquitousItemDownloadingStatusNotDownloaded"

  /// An older version of the contents is on this machine.
  public let NSMetadataUbiquitousItemDownloadingStatusDownloaded = "NSMetadataUbiquitousItemDownloadingStatusDownloaded"

  /// The latest version of the contents is on this machine.
  public let NSMetadataUbiquitousItemDownloadingStatusCurrent = "NSMetadataUbiquitousItemDownloadingStatusCurrent"

  /// The role of the user for a shared item, as a `String`.
  public let NSMetadataUbiquitousSharedItemCurrentUserRoleKey = "NSMetadataUbiquitousSharedItemCurrentUserRoleKey"

  /// The permissions of the user for a shared item, as a `String`.
  public let NSMetadataUbiquitousSharedItemCurrentUserPermissionsKey =
    "NSMetadataUbiquitousSharedItemCurrentUserPermissionsKey"

  /// The owner of a shared item, as `PersonNameComponents`.
  public let NSMetadataUbiquitousSharedItemOwnerNameComponentsKey =
    "NSMetadataUbiquitousSharedItemOwnerNameComponentsKey"

  /// The last editor of a shared item, as `PersonNameComponents`.
  public let NSMetadataUbiquitousSharedItemMostRecentEditorNameComponentsKey =
    "NSMetadataUbiquitousSharedItemMostRecentEditorNameComponentsKey"

  /// The user owns the shared item.
  public let NSMetadataUbiquitousSharedItemRoleOwner = "NSMetadataUbiquitousSharedItemRoleOwner"

  /// The user takes part in the shared item.
  public let NSMetadataUbiquitousSharedItemRoleParticipant = "NSMetadataUbiquitousSharedItemRoleParticipant"

  /// The user may read the shared item.
  public let NSMetadataUbiquitousSharedItemPermissionsReadOnly = "NSMetadataUbiquitousSharedItemPermissionsReadOnly"

  /// The user may change the shared item.
  public let NSMetadataUbiquitousSharedItemPermissionsReadWrite = "NSMetadataUbiquitousSharedItemPermissionsReadWrite"
#endif
