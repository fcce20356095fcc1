#if !canImport(ObjectiveC)
  public import FileCoordination
  public import Foundation

  // Each of these is the default of a presenter that hasn't written the method. When one runs, it also reports to the
  // library that the class hasn't: there's no other way to detect that.

  extension NSFilePresenter {
    private func noteUnwritten(_ callback: WrittenCallbacks) { UnwrittenCallbacks.shared.note(callback, of: self) }

    /// None.
    public var primaryPresentedItemURL: URL? { nil }

    /// All.
    public var observedPresentedItemUbiquityAttributes: Set<URLResourceKey> {
      noteUnwritten(.observedAttributes)
      return [
        .isUbiquitousItemKey, .ubiquitousItemHasUnresolvedConflictsKey, .ubiquitousItemIsDownloadingKey,
        .ubiquitousItemIsUploadedKey, .ubiquitousItemIsUploadingKey, .ubiquitousItemDownloadingStatusKey,
        .ubiquitousItemDownloadingErrorKey, .ubiquitousItemUploadingErrorKey, .ubiquitousItemDownloadRequestedKey,
        .ubiquitousItemContainerDisplayNameKey,
      ]
    }

    /// The value of ``NSFileCoordinator/observesUncoordinatedChanges``: yes, unless the program has said no.
    public var observesUncoordinatedChanges: Bool { NSFileCoordinator.observesUncoordinatedChanges }

    /// Not stated.
    public var writtenCallbacks: FilePresenterCallbacks? { nil }

    /// Has let go already.
    public func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
      noteUnwritten(.relinquishToReader)
      reader(nil)
    }

    /// Has let go already.
    public func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
      noteUnwritten(.relinquishToWriter)
      writer(nil)
    }

    /// Has nothing to save.
    public func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
      noteUnwritten(.save)
      completionHandler(nil)
    }

    /// Has nothing to save.
    public func savePresentedItemChanges() async throws { noteUnwritten(.saveAsync) }

    /// Allows it.
    public func accommodatePresentedItemDeletion(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
      noteUnwritten(.deletion)
      completionHandler(nil)
    }

    /// Allows it.
    public func accommodatePresentedItemDeletion() async throws { noteUnwritten(.deletionAsync) }

    /// Does nothing, which keeps the contents where they are.
    public func accommodatePresentedItemEviction(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
      noteUnwritten(.eviction)
      completionHandler(nil)
    }

    /// Does nothing, which keeps the contents where they are.
    public func accommodatePresentedItemEviction() async throws { noteUnwritten(.evictionAsync) }

    /// Allows it.
    public func accommodatePresentedSubitemDeletion(
      at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
      noteUnwritten(.subitemDeletion)
      completionHandler(nil)
    }

    /// Allows it.
    public func accommodatePresentedSubitemDeletion(at url: URL) async throws { noteUnwritten(.subitemDeletionAsync) }

    /// Does nothing.
    public func presentedItemDidMove(to newURL: URL) { noteUnwritten(.itemDidMove) }
    /// Does nothing.
    public func presentedItemDidChange() { noteUnwritten(.itemDidChange) }
    /// Does nothing.
    public func presentedItemDidChangeUbiquityAttributes(_ attributes: Set<URLResourceKey>) {
      noteUnwritten(.itemAttributes)
    }
    /// Does nothing.
    public func presentedItemDidGain(_ version: NSFileVersion) { noteUnwritten(.itemGain) }
    /// Does nothing.
    public func presentedItemDidLose(_ version: NSFileVersion) { noteUnwritten(.itemLoss) }
    /// Does nothing.
    public func presentedItemDidResolveConflict(_ version: NSFileVersion) { noteUnwritten(.itemResolution) }
    /// Does nothing.
    public func presentedSubitemDidAppear(at url: URL) { noteUnwritten(.subitemDidAppear) }
    /// Does nothing.
    public func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { noteUnwritten(.subitemDidMove) }
    /// Does nothing.
    public func presentedSubitemDidChange(at url: URL) { noteUnwritten(.subitemDidChange) }
    /// Does nothing.
    public func presentedSubitem(at url: URL, didGain version: NSFileVersion) { noteUnwritten(.subitemGain) }
    /// Does nothing.
    public func presentedSubitem(at url: URL, didLose version: NSFileVersion) { noteUnwritten(.subitemLoss) }
    /// Does nothing.
    public func presentedSubitem(at url: URL, didResolve version: NSFileVersion) { noteUnwritten(.subitemResolution) }
  }
#endif
