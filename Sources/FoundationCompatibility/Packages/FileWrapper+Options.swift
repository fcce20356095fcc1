#if !canImport(ObjectiveC)
  internal import Foundation

  extension FileWrapper {
    /// How a wrapper is read.
    public struct ReadingOptions: OptionSet, Sendable {
      /// The bits.
      public let rawValue: UInt

      /// Makes a set of options.
      ///
      /// - Parameter rawValue: The bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// Reads everything at once, so that later changes on disk don't matter.
      public static let immediate = ReadingOptions(rawValue: 1 << 0)

      /// Doesn't map files into memory; here none ever is.
      public static let withoutMapping = ReadingOptions(rawValue: 1 << 1)
    }

    /// How a wrapper is written.
    public struct WritingOptions: OptionSet, Sendable {
      /// The bits.
      public let rawValue: UInt

      /// Makes a set of options.
      ///
      /// - Parameter rawValue: The bits.
      public init(rawValue: UInt) { self.rawValue = rawValue }

      /// Replaces what is at the place, in one step.
      public static let atomic = WritingOptions(rawValue: 1 << 0)

      /// Sets ``FileWrapper/filename`` of the wrapper, and of all that's in it, to the names that were written.
      public static let withNameUpdating = WritingOptions(rawValue: 1 << 1)
    }
  }
#endif
