#if !canImport(ObjectiveC)
  public import Foundation

  /// Puts other objects in the place of a query's results, and other values in the place of those it counts and groups by.
  ///
  /// Both methods are optional: without them results and values stay as they are. They're called on the thread that
  /// reads the results, or posts them.
  ///
  /// - Note: Rules R24 and R25.
  @preconcurrency public protocol NSMetadataQueryDelegate: NSObjectProtocol {
    /// The object that a result is handed out as.
    ///
    /// Asked for once for each result, when it's first read or posted; not again when the item changes.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - result: The result.
    /// - Returns: The object; the result itself to leave it as it is.
    func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any

    /// The value that's counted or grouped by.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - attrName: The name of the attribute.
    ///   - attrValue: Its value; never missing.
    /// - Returns: The value; it should be hashable.
    func metadataQuery(
      _ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any
    ) -> Any
  }

  extension NSMetadataQueryDelegate {
    /// The result itself.
    public func metadataQuery(
      _ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem
    ) -> Any { result }

    /// The value itself.
    public func metadataQuery(
      _ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any
    ) -> Any { attrValue }
  }
#endif
