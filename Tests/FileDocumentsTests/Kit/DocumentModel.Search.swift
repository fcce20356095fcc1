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

extension DocumentScenario {
  /// Explored in every order, with opens that go on searching.
  static let searches: [DocumentScenario] = {
    let close = Step.call(.close(isDiscarding: false))
    var scenarios = [
      DocumentScenario(
        name: "CD-14: editing and saving while leftovers are looked for",
        scripts: [[.call(.open), .edit, .edit, close], [.call(.save)]], failureCount: 1),
      DocumentScenario(
        name: "CD-14: calls that are cancelled while leftovers are looked for",
        scripts: [[.call(.open), .edit, .call(.move), close], [.call(.open), close]], failureCount: 1,
        withdrawalCount: 2),
      DocumentScenario(
        name: "CD-14: a reader and a writer come while leftovers are looked for",
        scripts: [[.call(.open), .edit, close]], writers: [.append], readerCount: 1),
      DocumentScenario(
        name: "CD-14: the file is deleted while leftovers are looked for",
        scripts: [[.call(.open), .edit, .call(.saveElsewhere)]], writers: [.delete], failureCount: 1),
      DocumentScenario(
        name: "CD-14: the program decides about errors while leftovers are looked for",
        scripts: [[.call(.open), .edit, close]], failureCount: 1, consultations: .uncalled, journalFailureCount: 1),
    ]
    scenarios += versions.map { scenario in
      var scenario = scenario
      scenario.name += ", while they're looked for"
      return scenario
    }
    return scenarios.map { scenario in
      var scenario = scenario
      scenario.searches = true
      return scenario
    }
  }()
}
