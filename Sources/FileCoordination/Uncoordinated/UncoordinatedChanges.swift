internal import FileAccessArbiter
internal import SystemInterface

extension FilePresenterRegistration {
  /// Why some changes by programs that don't coordinate are missed; `nil` while all are seen, or if none are to be.
  ///
  /// Presenters that set ``FilePresenter/observesUncoordinatedChanges`` should check it after they registered, and when
  /// ``AccessOrigin/isVerified`` is `nil` in a message marked `.uncoordinated`. Code `.uncoordinatedChangesMissed`. May
  /// be called on any thread; may block while a directory is read.
  ///
  /// - Note: inotify(7), "Limitations and caveats".
  public var uncoordinatedChangesProblem: FileCoordinationError? {
    host.changeBridge.load()?.problem(of: record.id).map(FileCoordinationError.uncoordinatedChangesMissed)
  }
}

extension FileCoordinationError {
  static func uncoordinatedChangesMissed(_ error: SystemError) -> Self {
    let advice =
      switch error.number {
      // The error says which limit is in the way.
      case _ where error.advice != nil: "Observe again when that's done."
      case .noSpace: "Raise the limit with 'sysctl fs.inotify.max_user_watches', or present less."
      case .tooManyOpenFiles: "Raise the limit with 'sysctl fs.inotify.max_user_instances' or 'ulimit -n'."
      case .notSupported:
        "Other machines or programs change this file system without a word; look at the item now and then."
      case .permissionDenied: "Allow the user to list that directory."
      default: "Look at the item now and then."
      }
    return Self(
      .uncoordinatedChangesMissed, subjects: error.paths.map(\.description),
      message: "changes by programs that don't coordinate may be missed: \(error). \(advice)", underlyingError: error)
  }
}

extension CoordinationDomain {
  /// Takes in the changes in the file system until now, so that the arbiter has them.
  ///
  /// For tests, which have no other event to await when nothing is to be reported.
  package func readUncoordinatedChanges() { host.changeBridge.load()?.readEverything() }
}
