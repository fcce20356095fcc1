#if !canImport(ObjectiveC)
  public import Foundation

  // The values that Foundation doesn't declare on Linux; of the others it knows none either.

  extension URLResourceValues {
    /// Not known: nobody is signed in.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousItemIsShared: Bool? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousItemIsExcludedFromSync: Bool? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousSharedItemCurrentUserRole: URLUbiquitousSharedItemRole? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousSharedItemCurrentUserPermissions: URLUbiquitousSharedItemPermissions? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousSharedItemOwnerNameComponents: PersonNameComponents? { nil }

    /// Not known: nobody is signed in.
    public var ubiquitousSharedItemMostRecentEditorNameComponents: PersonNameComponents? { nil }
  }

  /// What somebody is to an item that's shared.
  public struct URLUbiquitousSharedItemRole: RawRepresentable, Hashable, Sendable {
    /// The name of the role, as on Apple platforms.
    public let rawValue: String

    /// Makes the role of a name.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Shares it.
    public static let owner = Self(rawValue: "NSURLUbiquitousSharedItemRoleOwner")
    /// Was invited.
    public static let participant = Self(rawValue: "NSURLUbiquitousSharedItemRoleParticipant")
  }

  /// What somebody may do with an item that's shared.
  public struct URLUbiquitousSharedItemPermissions: RawRepresentable, Hashable, Sendable {
    /// The name of the permissions, as on Apple platforms.
    public let rawValue: String

    /// Makes the permissions of a name.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Reading.
    public static let readOnly = Self(rawValue: "NSURLUbiquitousSharedItemPermissionsReadOnly")
    /// Reading and writing.
    public static let readWrite = Self(rawValue: "NSURLUbiquitousSharedItemPermissionsReadWrite")
  }
#endif
