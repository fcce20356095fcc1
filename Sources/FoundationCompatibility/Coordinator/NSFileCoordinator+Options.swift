#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation

  extension NSFileCoordinator {
    /// How an item is read.
    ///
    /// The raw values are Apple's.
    ///
    /// - Note: Rule N-1.
    public struct ReadingOptions: OptionSet, Hashable, Sendable {
      /// The bits, as on Apple platforms.
      public let rawValue: UInt

      /// Creates a set from its bits.
      ///
      /// - Parameter rawValue: The bits, as on Apple platforms.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// Doesn't ask presenters to save first; they're still asked to relinquish.
      public static let withoutChanges = Self(rawValue: 1 << 0)
      /// Reads the target of a symbolic link; without it, the link itself is the item.
      ///
      /// Not allowed in `prepare`.
      public static let resolvesSymbolicLink = Self(rawValue: 1 << 1)
      /// Reads metadata only, so nothing has to be fetched from elsewhere.
      public static let immediatelyAvailableMetadataOnly = Self(rawValue: 1 << 2)
      /// Reads a private snapshot, a zip file of a directory, so that others can write while it's uploaded.
      public static let forUploading = Self(rawValue: 1 << 3)

      var native: FileCoordinator.ReadingOptions { FileCoordinator.ReadingOptions(rawValue: rawValue) }
    }

    /// Why an item is written; at most one may be given.
    ///
    /// None means that the item is updated and stays the same item. The raw values are Apple's.
    ///
    /// - Note: Rule N-1.
    public struct WritingOptions: OptionSet, Hashable, Sendable {
      /// The bits, as on Apple platforms.
      public let rawValue: UInt

      /// Creates a set from its bits.
      ///
      /// - Parameter rawValue: The bits, as on Apple platforms.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// The item will vanish: waits for everything inside it, and asks presenters to accommodate.
      public static let forDeleting = Self(rawValue: 1 << 0)
      /// The item will be moved or renamed: waits for everything inside it.
      ///
      /// Like no option on a plain file.
      public static let forMoving = Self(rawValue: 1 << 1)
      /// The new contents depend on the old: presenters save first.
      public static let forMerging = Self(rawValue: 1 << 2)
      /// A different item takes the place of whatever is there when the waiting ends.
      ///
      /// Not allowed in `prepare`.
      public static let forReplacing = Self(rawValue: 1 << 3)
      /// Writes only metadata that has nothing to do with the contents; waits and asks like no option.
      public static let contentIndependentMetadataOnly = Self(rawValue: 1 << 4)

      /// The one choice that the set stands for.
      ///
      /// - Throws: `FileCoordinationError` with code `.conflictingOptions` or `.optionNotAllowed` when there's no such choice (C-169).
      func native(for url: URL) throws(FileCoordinationError) -> FileCoordinator.WritingOptions {
        guard let choice = FileCoordinator.WritingOptions(rawValue: rawValue) else {
          throw .invalidWritingOptions(rawValue, url: url.absoluteString)
        }
        return choice
      }
    }
  }
#endif
