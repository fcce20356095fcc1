#if !canImport(ObjectiveC)
  internal import FileCoordination
  public import Foundation

  /// The part of a request that concerns one item, for requests of several items at once.
  ///
  /// ``url`` shows where the item is: it follows moves until the access has ended. It may be read anywhere, but only inside the
  /// accessor is it sure to be current. An intent belongs to one request at a time.
  ///
  /// - Note: Rules C-098 and C-154.
  public class NSFileAccessIntent: NSObject, @unchecked Sendable {
    private let intent: FileAccessIntent
    /// Why there can be no such access: the initializer couldn't report it.
    private let problem: FileCoordinationError?
    let isReading: Bool
    /// Why it's written.
    private(set) var writingOptions: NSFileCoordinator.WritingOptions = []

    required init(native: FileAccessIntent, isReading: Bool, problem: FileCoordinationError?) {
      intent = native
      self.isReading = isReading
      self.problem = problem
    }

    func native() throws(FileCoordinationError) -> FileAccessIntent {
      if let problem { throw problem }
      return intent
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
      Self(native: .reading(url.absoluteURL, options: options.native), isReading: true, problem: nil)
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
      let url = url.absoluteURL
      do throws(FileCoordinationError) {
        let intent = Self(native: .writing(url, options: try options.native(for: url)), isReading: false, problem: nil)
        intent.writingOptions = options
        return intent
      } catch {
        return Self(native: .writing(url), isReading: false, problem: error)
      }
    }

    /// Where the item is now.
    public var url: URL { intent.url }
  }

  extension [NSFileAccessIntent] {
    /// The items that are written, with the places that were asked for.
    func writtenItems(_ asked: [URL]) -> [WrittenItem] {
      zip(self, asked).filter { !$0.0.isReading }.map { WrittenItem($0.1, $0.0.url, $0.0.writingOptions) }
    }
  }
#endif
