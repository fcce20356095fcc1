#if !canImport(ObjectiveC)
  /// How much of an item that's kept elsewhere is on this machine.
  public struct URLUbiquitousItemDownloadingStatus: RawRepresentable, Hashable, Sendable {
    /// The name of the status, as on Apple platforms.
    public let rawValue: String

    /// Makes the status of a name.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nothing of it.
    public static let notDownloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusNotDownloaded")
    /// An older version.
    public static let downloaded = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusDownloaded")
    /// The latest version.
    public static let current = Self(rawValue: "NSURLUbiquitousItemDownloadingStatusCurrent")
  }
#endif
