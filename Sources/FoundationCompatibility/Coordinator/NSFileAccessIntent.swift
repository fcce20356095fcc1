#if !canImport(ObjectiveC)
  internal import FileCoordination
  public import Foundation

  /// What a program wants to do with one item, for requests of several items at once.
  ///
  /// ``url`` shows where the item is: it follows moves until the access has ended. It may be read anywhere, but only inside the
  /// accessor is it sure to be current. An intent belongs to one request at a time.
  ///
  /// - Note: Rules C-098 and C-154.
  public class NSFileAccessIntent: NSObject, @unchecked Sendable {
    let native: FileAccessIntent
    let isReading: Bool

    required init(native: FileAccessIntent, isReading: Bool) {
      self.native = native
      self.isReading = isReading
    }

    /// The intent to read an item.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - options: How it's read.
    /// - Returns: The intent.
    public class func readingIntent(
      with url: URL, options: NSFileCoordinator.ReadingOptions = []
    ) -> Self {
      Self(native: .reading(url.absoluteURL, options: options.native), isReading: true)
    }

    /// The intent to write an item.
    ///
    /// - Parameters:
    ///   - url: The item.
    ///   - options: Why it's written; at most one.
    /// - Returns: The intent.
    public class func writingIntent(
      with url: URL, options: NSFileCoordinator.WritingOptions = []
    ) -> Self {
      Self(native: .writing(url.absoluteURL, options: options.native), isReading: false)
    }

    /// Where the item is now.
    public var url: URL { native.url }
  }
#endif
