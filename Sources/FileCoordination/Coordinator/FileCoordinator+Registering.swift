internal import FileAccessArbiter
internal import SwiftRuntimeHooks

// A read that ends with the registration of a presenter of its item: how a program begins to show a file.

extension FileCoordinator {
  /// Reads an item, and registers a presenter of it: nobody writes the item between both.
  ///
  /// While nobody else is interested, the read is a claim of the fast tier, and the only step of the arbiter is the one that registers the
  /// presenter and ends the claim. Otherwise the presenter is registered inside the access.
  ///
  /// `accessor` runs on the caller's actor, like that of ``read(_:options:deadlines:accessor:)-(ResolvedItem,_,_,_)``. The presenter may
  /// receive messages before this returns.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - presenter: A presenter with the URL of the access, which doesn't name a symbolic link.
  ///   - accessor: The work to do while the access lasts. It returns whether the presenter is to be registered.
  /// - Returns: The registration; `nil` if there's none.
  /// - Throws: ``FileCoordinationError`` when there's no access or no registration, or the error thrown by `accessor`.
  /// - Complexity: That of both; no wait in a domain of one process if no other party is interested.
  /// - Note: Rule C-193.
  package func read(
    _ item: ResolvedItem, registering presenter: any FilePresenter,
    accessor: (borrowing FileAccess) async throws -> Bool
  ) async throws -> FilePresenterRegistration? {
    guard host.decidesAlone, RuntimeHooks.areTested, !item.isStale, let claim = try claimSuspending(item, .read) else {
      return try await read(item) { access in
        try await accessor(access) ? try await access.register(presenter) : nil
      }
    }
    var ending: EndingClaim? = EndingClaim(claim: claim, key: item.fingerprint)
    defer { if ending != nil { end(claim, item) } }
    if !(try await surround(claim, item, accessor)) { return nil }
    let fastClaim = FastClaim(claim, item, self)
    // Others wait for it by now, and the arbiter knows where the item is.
    if fastClaim.known != nil { return try await FileAccess(fastClaim).register(presenter) }
    return try domain.registerBlocking(presenter, at: item.location, ending: &ending)
  }

  /// Runs an accessor inside a claim, which doesn't end with it.
  private func surround<Result>(
    _ claim: ClaimToken, _ item: ResolvedItem, _ accessor: (borrowing FileAccess) async throws -> Result
  ) async throws -> Result {
    Lineage.binding.push(Lineage(claim, ofHost: host.number))
    defer { Lineage.binding.pop() }
    return try await accessor(FileAccess(FastClaim(claim, item, self)))
  }
}
