internal import SystemInterface

/// Access to the place of a document that a program has begun, and that ends when the document doesn't need it any more.
///
/// ```swift
/// options.grant = { url in
///   try await vault.unlock(url)
///   return DocumentGrant { await vault.lock(url) }
/// }
/// ```
///
/// A document takes a grant for its place before it's opened, and for each new place of its file: before it moves the file or saves
/// elsewhere by itself, and before the next operation after another program has moved the file. The grant of the former place ends then.
/// The last one ends when the document is closed, when its file is deleted, when an open fails, and when the last reference to the document
/// goes away.
///
/// `end` runs once, away from the document's actor; no call waits for it. It doesn't run when the process ends: let the system take back
/// what a process holds.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `ending` | its lock | grants end on the document's actor, in operations, and with their last reference |
///
/// - Note: Rule UD-24.
public final class DocumentGrant: Sendable {
  /// Ends the access.
  public typealias End = nonisolated(nonsending) @Sendable () async -> Void

  private let ending: Guarded<End?>

  /// Creates a grant.
  ///
  /// - Parameter end: Ends the access; called once.
  public init(_ end: @escaping End) { ending = Guarded(end) }

  deinit { end() }

  /// Ends the access; doing so twice does nothing.
  func end() {
    guard let end = ending.withLock({ $0.take() }) else { return }
    Task.detached { await end() }
  }
}
