#if !canImport(ObjectiveC)
  public import Foundation

  /// Where a call puts its error; `nil` for callers that don't need it.
  ///
  /// Pass `&error` of a `var error: NSError?`. It's written only when the call fails.
  public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?
#endif
