/// What of a place that's searched may be a result.
package enum RootReach: Hashable, Sendable {
  /// Everything in a directory; if it's a file, that.
  case contents
  /// Only what is at the place, be it a directory or not.
  case item
  /// Both.
  case itemAndContents
}
