public import FilePackages
public import FoundationEssentials
internal import FileCoordination
public import SystemInterface

// The members of a document that's a package, each alone.

extension FileDocument where Contents == PackageTree {
  /// Reads one member as the document has it, unsaved changes included.
  ///
  /// Reads on another thread, in an access that keeps other programs from replacing the package meanwhile. If a save of the document
  /// replaces it, or another program has just done so, this waits until the document has the new one, and reads that.
  ///
  /// - Parameter path: The member, such as `images/1.png`.
  /// - Returns: Its bytes; they aren't kept in memory.
  /// - Throws: ``DocumentError`` with code `.notOpen`, `.fileNotFound` if there's no such member, or `.coordination`.
  /// - Complexity: O(bytes of the member).
  /// - Note: Rule CD-70.
  public func contents(ofMember path: SystemPath) async throws(DocumentError) -> Data {
    for _ in 0..<DocumentWork<PackageTree>.attemptCountMax {
      do throws(DocumentError) { return try await readMember(path) } catch {
        guard (error.underlyingError as? PackageError)?.code == .packageReplaced else { throw error }
        try await waitForPackage()
      }
    }
    return try await readMember(path)
  }

  /// Waits until the document has the package that's at its place, which isn't the one that it was made from.
  private func waitForPackage() async throws(DocumentError) {
    let inBetween: DocumentState.EditingObstacles = [.saving, .reloading]
    // Of a save the document will have the package anyway, and of another program perhaps no news.
    if state.editingObstacles.isDisjoint(with: inBetween) { receive(.itemChanged) }
    for await snapshot in states where snapshot.state.editingObstacles.isDisjoint(with: inBetween) { return }
    throw .cancelled
  }

  private func readMember(_ path: SystemPath) async throws(DocumentError) -> Data {
    guard let tree = memory.contents else { throw .notOpen }
    // Of a package that's gone only what's in memory can be read.
    guard let presence else { return try await Self.read(path, tree) }
    let coordinator = FileCoordinator(
      label: presence.presenter.presenterLabel, presenter: presence.presenter, domain: options.domain)
    do {
      return try await coordinator.read(presence.presenter.url, options: .withoutChanges) { _ in
        try await Self.read(path, tree)
      }
    } catch { throw DocumentError(ofPackage: error) }
  }

  @concurrent
  private static func read(_ path: SystemPath, _ tree: PackageTree) async throws(DocumentError) -> Data {
    do throws(PackageError) {
      return Data(try await Offload.run { () throws(PackageError) in try tree.contents(of: path) })
    } catch { throw DocumentError(ofPackage: error) }
  }

  /// Replaces one member on disk, without saving the whole package.
  ///
  /// Unsaved changes are saved first. Other members aren't touched; readers and crashes find the old contents of the member or the new
  /// ones. If another program has stored bytes in a mapping of the member since the document has read it, the package is kept as a conflict
  /// version before.
  ///
  /// - Parameters:
  ///   - path: The member; made if there's none. Its directory has to be there.
  ///   - bytes: Its contents.
  ///   - deadline: How long to wait; that of the options unless stated.
  /// - Throws: ``DocumentError``; the member is as it was.
  /// - Complexity: O(members): the package is compared with what the document knows, by dates and sizes.
  /// - Note: Rule CD-70.
  public func replaceMember(
    _ path: SystemPath, with bytes: Data, within deadline: Duration? = nil
  ) async throws(DocumentError) {
    var argument = CallArgument<PackageTree>(url: board.snapshot.url)
    argument.member = (path, Array(bytes))
    // An operation on what is saved, as a copy is.
    try await call(.duplicate, argument, deadline)
  }
}
