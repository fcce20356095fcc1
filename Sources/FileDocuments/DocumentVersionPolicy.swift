internal import SystemInterface

/// When the former contents of a document's file become a version, before a save overwrites them.
///
/// A version is made in the access that saves: the contents are those that are overwritten. If it can't be made nothing is overwritten,
/// and the save fails with code ``DocumentError/Code/versionNotKept``. How long versions are kept is a matter of
/// ``DocumentOptions/versions``.
///
/// Contents that two programs have written at once, and unsaved ones that a revert drops, become versions whatever the policy.
///
/// - Note: Rule CD-49.
public struct DocumentVersionPolicy: Hashable, Sendable {
  private enum Moments: Hashable, Sendable {
    case never, firstSave, everySave
    case spaced(Duration)
  }

  private let moments: Moments

  /// Former contents are overwritten.
  public static let never = DocumentVersionPolicy(moments: .never)
  /// The first save after each opening keeps what the file had when the document was opened.
  public static let firstSave = DocumentVersionPolicy(moments: .firstSave)
  /// Each save keeps what it overwrites: with ``AutosavePolicy/standard`` one version in some seconds of work.
  public static let everySave = DocumentVersionPolicy(moments: .everySave)

  /// The first save after each opening keeps what it overwrites, and later ones if some time has passed since one did.
  ///
  /// - Parameter interval: How long there's no other version.
  /// - Returns: The policy.
  public static func atMostEvery(_ interval: Duration) -> DocumentVersionPolicy {
    DocumentVersionPolicy(moments: .spaced(interval))
  }

  /// Whether a save keeps what it overwrites.
  ///
  /// - Parameters:
  ///   - last: When a save has done so since the document was opened; `nil` if none has.
  ///   - now: When it saves.
  /// - Returns: Whether it does.
  func isDue(after last: MonotonicTime?, at now: MonotonicTime) -> Bool {
    switch moments {
    case .never: false
    case .firstSave: last == nil
    case .everySave: true
    case .spaced(let interval): last.map { $0.advanced(by: interval) <= now } ?? true
    }
  }
}
