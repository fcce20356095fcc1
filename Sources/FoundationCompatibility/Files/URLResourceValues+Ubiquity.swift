#if !canImport(ObjectiveC)
  public import Foundation

  // The values that Foundation doesn't declare on Linux; it has none of the others either.

  extension URLResourceValues {
    /// Not known: no user is signed in.
    public var ubiquitousItemDownloadingStatus: URLUbiquitousItemDownloadingStatus? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousItemIsShared: Bool? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousItemIsExcludedFromSync: Bool? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousSharedItemCurrentUserRole: URLUbiquitousSharedItemRole? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousSharedItemCurrentUserPermissions: URLUbiquitousSharedItemPermissions? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousSharedItemOwnerNameComponents: PersonNameComponents? { nil }

    /// Not known: no user is signed in.
    public var ubiquitousSharedItemMostRecentEditorNameComponents: PersonNameComponents? { nil }
  }

  /// The role of a user for a shared item.
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

  /// The permissions of a user for a shared item.
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
