extension FileCoordinator {
  /// How a file is saved.
  ///
  /// See ``FileCoordinator/replaceContents(of:with:options:deadlines:)``.
  public struct SavingOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates a set of options.
    ///
    /// - Parameter rawValue: The options as bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// A file is replaced even if its permissions don't let this process write to it.
    ///
    /// Its directory must be writable. Without this option such a file is left as it is, and the call fails.
    public static let replacesReadOnly = SavingOptions(rawValue: 1)
  }
}
