@testable import FileDocuments

extension DocumentModel {
  /// The conflict versions of the file, and the announcements about them.
  ///
  /// Versions that are there before the document is presented are found by looking; later ones are announced.
  struct Conflicts: Hashable {
    /// How often other programs change them still; `nil` if the state isn't compared with them.
    var changeCount: Int?
    private(set) var areThere = false
    /// Announcements under way to the present registration.
    var noticeCount = 0
    /// Whether there's a reason to list them: an open that didn't look, another place, or an announcement.
    var mayBeListed = false
    /// The last listing has failed, so that the state may be older.
    private(set) var hasFailed = false

    init(changeCount: Int?) { self.changeCount = changeCount }

    var isCompared: Bool { changeCount != nil }
    var canChange: Bool { (changeCount ?? 0) > 0 }

    mutating func change(isPresented: Bool) {
      changeCount = changeCount.map { $0 - 1 }
      areThere.toggle()
      announce(isPresented)
    }

    mutating func add(isPresented: Bool) {
      areThere = true
      announce(isPresented)
    }

    private mutating func announce(_ isPresented: Bool) {
      // More of them at once are heard as one.
      if isCompared, isPresented { noticeCount = 1 }
    }

    mutating func endPresentation() { noticeCount = 0 }

    /// Another file, which has no versions.
    mutating func startAnew() {
      areThere = false
      noticeCount = 0
      mayBeListed = true
    }

    mutating func noteFailedListing() { hasFailed = true }

    /// - Returns: The reason why they shouldn't be listed now.
    mutating func noteListing() -> String? {
      defer { mayBeListed = false }
      hasFailed = false
      return isCompared && !mayBeListed ? "conflicts are listed without a reason" : nil
    }

    /// Compares the state of an open document with them, when nothing more happens.
    func problem(with state: DocumentState) -> String? {
      guard isCompared, !hasFailed, state.conditions.contains(.inConflict) != areThere else { return nil }
      return "there are \(areThere ? "" : "no ")conflicts, and the state says something else"
    }
  }

  /// Whether announcements come to the document: an open registers its presenter before it looks for versions.
  var isPresented: Bool {
    if session != nil { return true }
    guard let operation, [.open, .place].contains(operation.kind) else { return false }
    return [.done, .doneWithoutVersions, .doneSearching].contains(operation.outcome)
  }
}
