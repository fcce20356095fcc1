/// The possible results at a place that's searched.
package enum RootReach: Hashable, Sendable {
  /// Everything in a directory; if it's a file, that.
  case contents
  /// Only the file at the place, be it a directory or not.
  case item
  /// Both.
  case itemAndContents
}
