#if !canImport(ObjectiveC)
  public import Foundation

  extension URL {
    /// Does nothing: there are no sandboxes to be let into.
    ///
    /// - Returns: `true`.
    @discardableResult
    public func startAccessingSecurityScopedResource() -> Bool { true }

    /// Does nothing.
    public func stopAccessingSecurityScopedResource() {}

    /// The values of an item that may not be on this machine, which here it always is.
    ///
    /// - Parameter keys: The keys to look up.
    /// - Returns: The values that there are.
    /// - Throws: An error of the file system.
    public func promisedItemResourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
      var url = self
      url.removeAllCachedResourceValues()
      return try url.resourceValues(forKeys: keys)
    }

    /// Whether the item can be reached.
    ///
    /// - Returns: `true`.
    /// - Throws: An error if it can't.
    public func checkPromisedItemIsReachable() throws -> Bool { try checkResourceIsReachable() }
  }

  extension NSURL {
    /// Does nothing: there are no sandboxes to be let into.
    ///
    /// - Returns: `true`.
    @discardableResult
    public func startAccessingSecurityScopedResource() -> Bool { true }

    /// Does nothing.
    public func stopAccessingSecurityScopedResource() {}
  }
#endif
