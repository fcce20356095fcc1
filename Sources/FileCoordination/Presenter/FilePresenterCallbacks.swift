internal import FileAccessArbiter

/// The callbacks that a presenter implements.
///
/// It's sent exactly these messages, and no access waits for any other.
///
/// On Linux nothing can be discovered at run time, so a presenter states its implemented callbacks. A callback that is
/// implemented but not declared is never called; one that is declared but not implemented answers by its default.
public struct FilePresenterCallbacks: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt32

  /// Creates a set from its bits.
  ///
  /// - Parameter rawValue: The bits. Those without a name mean nothing.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Implements ``FilePresenter/relinquishPresentedItem(toReader:)``.
  public static let relinquishToReader = Self(.relinquishToReader)
  /// Implements ``FilePresenter/relinquishPresentedItem(toWriter:)``.
  public static let relinquishToWriter = Self(.relinquishToWriter)
  /// Implements ``FilePresenter/savePresentedItemChanges(origin:)``.
  public static let saveChanges = Self(.saveChanges)
  /// Implements ``FilePresenter/accommodatePresentedItemDeletion(origin:)``.
  public static let accommodateDeletion = Self(.accommodateDeletion)
  /// Implements ``FilePresenter/accommodatePresentedItemEviction(origin:)``.
  ///
  /// Not to do so is a veto.
  public static let accommodateEviction = Self(.accommodateEviction)
  /// Implements ``FilePresenter/accommodatePresentedSubitemDeletion(at:origin:)``.
  public static let accommodateSubitemDeletion = Self(.accommodateSubitemDeletion)
  /// Implements ``FilePresenter/presentedItemDidMove(to:origin:)``.
  public static let itemDidMove = Self(.itemDidMove)
  /// Implements ``FilePresenter/presentedItemDidChange(origin:)``.
  public static let itemDidChange = Self(.itemDidChange)
  /// Implements ``FilePresenter/presentedItemDidChangeUbiquityAttributes(_:origin:)``.
  public static let itemDidChangeUbiquityAttributes = Self(.itemDidChangeUbiquityAttributes)
  /// Implements ``FilePresenter/presentedItemDidChangeVersion(_:version:origin:)``.
  public static let itemVersions = Self(.itemVersions)
  /// Implements ``FilePresenter/presentedSubitemDidAppear(at:origin:)``.
  public static let subitemDidAppear = Self(.subitemDidAppear)
  /// Implements ``FilePresenter/presentedSubitem(at:didMoveTo:origin:)``.
  public static let subitemDidMove = Self(.subitemDidMove)
  /// Implements ``FilePresenter/presentedSubitemDidChange(at:origin:)``.
  public static let subitemDidChange = Self(.subitemDidChange)
  /// Implements ``FilePresenter/presentedSubitemDidChangeVersion(at:_:version:origin:)``.
  public static let subitemVersions = Self(.subitemVersions)

  /// Both relinquish callbacks.
  public static let relinquish: Self = [.relinquishToReader, .relinquishToWriter]
  /// Every callback that only notifies, so that no access ever waits for this presenter.
  public static let observing: Self = [
    .itemDidMove, .itemDidChange, .itemDidChangeUbiquityAttributes, .itemVersions, .subitemDidAppear, .subitemDidMove,
    .subitemDidChange, .subitemVersions,
  ]
  /// Every callback.
  public static let all: Self = [
    .relinquish, .saveChanges, .accommodateDeletion, .accommodateEviction, .accommodateSubitemDeletion, .observing,
  ]

  private init(_ callbacks: PresenterCallbacks) { rawValue = callbacks.rawValue }

  var arbiterCallbacks: PresenterCallbacks { PresenterCallbacks(rawValue: rawValue & Self.all.rawValue) }
}
