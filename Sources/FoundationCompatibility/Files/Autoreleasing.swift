#if !canImport(ObjectiveC)
  /// Runs `body`: without Objective-C nothing is ever released later.
  ///
  /// - Parameter body: The work.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body()
  }
#endif
