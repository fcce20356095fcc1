internal import FileAccessArbiter

/// The result of a preparation, for its body.
public struct FilePreparation: Hashable, Sendable {
  /// Presenters that didn't answer in time and were passed over, because their process is stopped or the deadlines said to
  /// proceed.
  ///
  /// The file lacks the changes that such a presenter hasn't saved, so a read of it inside the body gets old contents.
  /// Accesses inside the body name those of their own item in ``FileAccess/unansweredPresenters``.
  ///
  /// - Note: Rules C-141 and C-187.
  public let unansweredPresenters: [String]

  init(_ access: GrantedAccess) { unansweredPresenters = access.grant.unanswered }
}
