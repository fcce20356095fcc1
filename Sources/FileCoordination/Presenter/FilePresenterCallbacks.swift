internal import FileAccessArbiter

/// The callbacks that a presenter implements. It's sent exactly these messages, and nobody waits for any other.
///
/// On Linux nothing can be discovered at run time, so a presenter states what it implements. A callback that is
/// implemented but not declared is never called; one that is declared but not implemented answers by its default.
public struct FilePresenterCallbacks: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  /// Creates a set from its bits.
  ///
  /// - Parameter rawValue: The bits. Those without a name mean nothing.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// ``FilePresenter/relinquishPresentedItem(toReader:)``
  public static let relinquishToReader = Self(.relinquishToReader)
  /// ``FilePresenter/relinquishPresentedItem(toWriter:)``
  public static let relinquishToWriter = Self(.relinquishToWriter)
  /// ``FilePresenter/savePresentedItemChanges(origin:)``
  public static let saveChanges = Self(.saveChanges)
  /// ``FilePresenter/accommodatePresentedItemDeletion(origin:)``
  public static let accommodateDeletion = Self(.accommodateDeletion)
  /// ``FilePresenter/accommodatePresentedSubitemDeletion(at:origin:)``
  public static let accommodateSubitemDeletion = Self(.accommodateSubitemDeletion)
  /// ``FilePresenter/presentedItemDidMove(to:origin:)``
  public static let itemDidMove = Self(.itemDidMove)
  /// ``FilePresenter/presentedItemDidChange(origin:)``
  public static let itemDidChange = Self(.itemDidChange)
  /// ``FilePresenter/presentedItemDidChangeUbiquityAttributes(_:origin:)``
  public static let itemDidChangeUbiquityAttributes = Self(.itemDidChangeUbiquityAttributes)
  /// ``FilePresenter/presentedItemDidChangeVersion(_:version:origin:)``
  public static let itemVersions = Self(.itemVersions)
  /// ``FilePresenter/presentedSubitemDidAppear(at:origin:)``
  public static let subitemDidAppear = Self(.subitemDidAppear)
  /// ``FilePresenter/presentedSubitem(at:didMoveTo:origin:)``
  public static let subitemDidMove = Self(.subitemDidMove)
  /// ``FilePresenter/presentedSubitemDidChange(at:origin:)``
  public static let subitemDidChange = Self(.subitemDidChange)
  /// ``FilePresenter/presentedSubitemDidChangeVersion(at:_:version:origin:)``
  public static let subitemVersions = Self(.subitemVersions)

  /// Both relinquish callbacks.
  public static let relinquish: Self = [.relinquishToReader, .relinquishToWriter]
  /// Every callback that only tells, so that nobody ever waits for this presenter.
  public static let observing: Self = [
    .itemDidMove, .itemDidChange, .itemDidChangeUbiquityAttributes, .itemVersions, .subitemDidAppear, .subitemDidMove,
    .subitemDidChange, .subitemVersions,
  ]
  /// Every callback.
  public static let all: Self = [.relinquish, .saveChanges, .accommodateDeletion, .accommodateSubitemDeletion, .observing]

  private init(_ callbacks: PresenterCallbacks) { rawValue = callbacks.rawValue }

  var arbiterCallbacks: PresenterCallbacks { PresenterCallbacks(rawValue: rawValue & Self.all.rawValue) }
}
