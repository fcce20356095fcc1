@testable import FileDocuments

extension DocumentModel {
  /// The search that an open has begun, from its beginning until the core knows of its end.
  struct Search: Hashable {
    /// `nil` while it runs.
    var hasFound: Bool?
    var isAwaited = false
    /// The document is being notified of the end.
    var isNoticeUnderWay = false
  }

  /// A search finds what's there; leftovers may be there at any time.
  var searchActions: [Action] {
    guard let search else { return [] }
    if search.hasFound == nil {
      return conflicts.areThere
        ? [.endSearch(hasFound: true)] : [.endSearch(hasFound: false), .endSearch(hasFound: true)]
    }
    return search.isNoticeUnderWay ? [.noticeSearch] : []
  }

  mutating func endSearch(_ hasFound: Bool) {
    search?.hasFound = hasFound
    if hasFound { conflicts.mayBeListed = true }
    if hasFound || search?.isAwaited == true { search?.isNoticeUnderWay = true }
  }

  /// The core requests to be notified.
  mutating func awaitSearch() {
    if search == nil || !core.isSearching { violation = "the end of no search is waited for" }
    if search?.isAwaited == true { violation = "the end of a search is waited for twice" }
    search?.isAwaited = true
    if search?.hasFound == false { search?.isNoticeUnderWay = true }
  }

  /// Before each event the core gets the end of a search of which it wasn't notified.
  mutating func takeEndOfSearch() -> DocumentEvent? {
    guard core.isSearching, let hasFound = search?.hasFound else { return nil }
    search = nil
    return .searchEnded(hasFound: hasFound)
  }
}
