#if !canImport(ObjectiveC)
  public import Foundation

  // As on a device whose user isn't signed in: programs that check before they use iCloud do without it.

  extension NSNotification.Name {
    /// Posted on Apple platforms when the user signs in or out; here it's never posted.
    public static let NSUbiquityIdentityDidChange = NSNotification.Name("NSUbiquityIdentityDidChangeNotification")
  }

  extension FileManager {
    /// The identity of the signed-in user: none.
    public var ubiquityIdentityToken: (any NSCoding & NSCopying & NSObjectProtocol)? { nil }

    /// The place of a container: none.
    ///
    /// - Parameter containerIdentifier: The container; the first one of the program unless stated.
    /// - Returns: `nil`.
    public func url(forUbiquityContainerIdentifier containerIdentifier: String?) -> URL? { nil }

    /// Whether an item is kept elsewhere.
    ///
    /// - Parameter url: The item.
    /// - Returns: `false`.
    public func isUbiquitousItem(at url: URL) -> Bool { false }

    /// Would move an item into a container or out of it.
    ///
    /// - Parameters:
    ///   - flag: Whether into it.
    ///   - url: The item.
    ///   - destinationURL: Where it shall be.
    /// - Throws: `CocoaError.featureUnsupported`, always; the item stays where it is.
    public func setUbiquitous(_ flag: Bool, itemAt url: URL, destinationURL: URL) throws {
      throw Self.notSignedIn(url)
    }

    /// Would fetch an item's contents.
    ///
    /// - Parameter url: The item.
    /// - Throws: `CocoaError.featureUnsupported`, always.
    public func startDownloadingUbiquitousItem(at url: URL) throws { throw Self.notSignedIn(url) }

    /// Would remove an item's contents from this machine.
    ///
    /// - Parameter url: The item.
    /// - Throws: `CocoaError.featureUnsupported`, always; the item stays as it is.
    public func evictUbiquitousItem(at url: URL) throws { throw Self.notSignedIn(url) }

    /// Would make a link by which others can fetch an item.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - outDate: Where to put the date when the link expires.
    /// - Returns: Nothing.
    /// - Throws: `CocoaError.featureUnsupported`, always.
    public func url(
      forPublishingUbiquitousItemAt url: URL, expiration outDate: UnsafeMutablePointer<NSDate?>?
    ) throws -> URL {
      throw Self.notSignedIn(url)
    }

    private static func notSignedIn(_ url: URL) -> CocoaError {
      CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url])
    }
  }
#endif
