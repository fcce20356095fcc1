#if !canImport(ObjectiveC)
  // Where queries search, by Apple's constants.

  /// The user's home directory.
  public let NSMetadataQueryUserHomeScope = "kMDQueryScopeHome"

  /// All local volumes and the home directory; see ``NSMetadataQuery/localComputerDirectories``.
  public let NSMetadataQueryLocalComputerScope = "kMDQueryScopeComputer"

  /// All mounted volumes of other machines.
  public let NSMetadataQueryNetworkScope = "kMDQueryScopeNetwork"

  /// The same as ``NSMetadataQueryLocalComputerScope``: every query makes its own index.
  public let NSMetadataQueryIndexedLocalComputerScope = "kMDQueryScopeComputerIndexed"

  /// The same as ``NSMetadataQueryNetworkScope``: every query makes its own index.
  public let NSMetadataQueryIndexedNetworkScope = "kMDQueryScopeNetworkIndexed"

  /// The documents in the program's containers, of which there are none.
  public let NSMetadataQueryUbiquitousDocumentsScope = "NSMetadataQueryUbiquitousDocumentsScope"

  /// The other files in the program's containers, of which there are none.
  public let NSMetadataQueryUbiquitousDataScope = "NSMetadataQueryUbiquitousDataScope"

  /// Documents in containers of other programs, of which there are none.
  public let NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope =
    "NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope"

  // MARK: - The contents of notifications

  /// The results that are new, or match now: an array of items, or of the delegate's replacements.
  public let NSMetadataQueryUpdateAddedItemsKey = "kMDQueryUpdateAddedItems"

  /// The results that have altered: an array of items, or of the delegate's replacements.
  public let NSMetadataQueryUpdateChangedItemsKey = "kMDQueryUpdateChangedItems"

  /// The results that are gone, or don't match any more: an array of items, or of the delegate's replacements.
  public let NSMetadataQueryUpdateRemovedItemsKey = "kMDQueryUpdateRemovedItems"

  /// How well a result fits, from 0 to 1; missing here, where nothing is ranked.
  public let NSMetadataQueryResultContentRelevanceAttribute = "kMDQueryResultContentRelevance"
#endif
