internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

/// The part of a request that concerns one item, for requests of several items at once.
///
/// ``url`` shows where the item is: it follows moves until the access has ended. It may be read anywhere, but only inside
/// the accessor is it sure to be current (C-154). An intent belongs to one request at a time.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `current` | its lock | moves are noted on whatever thread announces them |
public final class FileAccessIntent: Sendable {
  enum Kind: Sendable {
    case reading(FileCoordinator.ReadingOptions)
    case writing(FileCoordinator.WritingOptions)
  }

  let originalURL: URL
  let kind: Kind
  private let current: Guarded<URL>

  private init(_ url: URL, _ kind: Kind) {
    originalURL = url
    self.kind = kind
    current = Guarded(url)
  }

  /// The intent to read an item.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - options: How it's read.
  /// - Returns: The intent.
  public static func reading(
    _ url: URL, options: FileCoordinator.ReadingOptions = []
  ) -> FileAccessIntent {
    FileAccessIntent(url, .reading(options))
  }

  /// The intent to write an item.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - options: Why it's written; at most one.
  /// - Returns: The intent.
  public static func writing(
    _ url: URL, options: FileCoordinator.WritingOptions = .forUpdating
  ) -> FileAccessIntent {
    FileAccessIntent(url, .writing(options))
  }

  /// Where the item is now.
  public var url: URL { current.withLock { $0 } }

  func note(_ url: URL) { current.withLock { $0 = url } }
}
