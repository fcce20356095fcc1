public import FileCoordination
public import FoundationEssentials

/// One message that a ``RecordingPresenter`` received.
public struct RecordedMessage: Hashable, Sendable, CustomStringConvertible {
  /// Which callback was called.
  public enum Callback: String, Hashable, Sendable, CaseIterable {
    /// `relinquishPresentedItem(toReader:)`
    case relinquishToReader
    /// `relinquishPresentedItem(toWriter:)`
    case relinquishToWriter
    /// `savePresentedItemChanges(origin:)`
    case saveChanges
    /// `accommodatePresentedItemDeletion(origin:)`
    case accommodateDeletion
    /// `accommodatePresentedItemEviction(origin:)`
    case accommodateEviction
    /// `accommodatePresentedSubitemDeletion(at:origin:)`
    case accommodateSubitemDeletion
    /// `presentedItemDidMove(to:origin:)`
    case itemDidMove
    /// `presentedItemDidChange(origin:)`
    case itemDidChange
    /// `presentedItemDidChangeUbiquityAttributes(_:origin:)`
    case itemDidChangeUbiquityAttributes
    /// `presentedItemDidChangeVersion(_:version:origin:)`
    case itemDidChangeVersion
    /// `presentedSubitemDidAppear(at:origin:)`
    case subitemDidAppear
    /// `presentedSubitem(at:didMoveTo:origin:)`
    case subitemDidMove
    /// `presentedSubitemDidChange(at:origin:)`
    case subitemDidChange
    /// `presentedSubitemDidChangeVersion(at:_:version:origin:)`
    case subitemDidChangeVersion
    /// The reacquirer that an answer to a relinquish callback handed over.
    case reacquire
  }

  /// A change of a version.
  public struct VersionChange: Hashable, Sendable {
    /// The kind of change.
    public let change: FileVersionChange
    /// The name of the version.
    public let version: String
  }

  /// The position among the messages of its presenter, from zero.
  public let number: Int
  /// Which callback was called.
  public let callback: Callback
  /// The URLs that were passed, in the order of the parameters.
  public let urls: [URL]
  /// The ubiquity attributes that were passed.
  public let attributes: Set<String>
  /// The version that was passed.
  public let version: VersionChange?
  /// The origin of the message.
  ///
  /// For a reacquirer, the origin of the request to relinquish.
  public let origin: AccessOrigin

  init(
    _ number: Int, _ callback: Callback, _ origin: AccessOrigin, urls: [URL] = [], attributes: Set<String> = [],
    version: VersionChange? = nil
  ) {
    self.number = number
    self.callback = callback
    self.urls = urls
    self.attributes = attributes
    self.version = version
    self.origin = origin
  }

  /// The callback, its arguments, and the label of its origin.
  public var description: String {
    var arguments = urls.map(\.path) + attributes.sorted()
    if let version { arguments.append("\(version.change) \(version.version)") }
    return "\(number) \(callback)(\(arguments.joined(separator: ", "))) by '\(origin.label)'"
  }
}
