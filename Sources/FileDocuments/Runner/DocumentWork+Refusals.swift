internal import FileCoordination
internal import FilePackages
internal import FoundationEssentials
internal import SystemInterface

// Permissions and read-only volumes, which forbid what a document was asked for.

extension DocumentWork {
  /// Refuses to write what couldn't be opened again, nor compared by the next save.
  func checkSize(of bytes: Data) throws(DocumentError) {
    if bytes.count <= options.byteCountMax { return }
    throw DocumentError(
      .fileTooLarge,
      "The contents have \(bytes.count) bytes, and 'byteCountMax' of the document's options allows \(options.byteCountMax), so the file "
        + "couldn't be opened again. Nothing was written. Shorten the contents, or put them in a document with a larger 'byteCountMax'."
    )
  }

  /// The error of an operation that permissions or the file system have forbidden; `nil` for any other error, and for reading.
  func refusal(of operation: DocumentOperation, _ error: any Error) -> DocumentError? {
    guard !(error is DocumentError), let failure = Self.systemError(in: error), failure.isRefusal else { return nil }
    let (file, place) = (presence?.presenter.url.path ?? "", argument.url.path)
    switch operation {
    case .move:
      return Self.refusal(
        "'\(file)' can't be moved to '\(place)': this user can't write one of the two directories, or the volume is read-only. Choose "
          + "another place, or change the permissions.", error)
    case .delete:
      return Self.refusal(
        "'\(file)' can't be deleted: this user can't write its directory, or the volume is read-only. Change the permissions of the "
          + "directory.", error)
    case .copy where argument.member == nil && isOfSource(failure): return nil
    case .copy where argument.member == nil, .place:
      return Self.refusal(
        "Nothing can be written at '\(place)': this user can't write its directory, or the volume is read-only. Choose another place, or "
          + "change the permissions.", error)
    case .write, .copy:
      return Self.refusal("'\(file)' can't be written. Save the contents elsewhere with 'save(as:)'.", error)
    case .open, .check, .merge, .keep, .load, .listConflicts: return nil
    }
  }

  private static func refusal(_ message: String, _ error: any Error) -> DocumentError {
    let reason = (error as? FileCoordinationError)?.message ?? "\(error)"
    return DocumentError(.notWritable, "\(message) \(reason)", underlyingError: error)
  }

  private static func systemError(in error: any Error) -> SystemError? {
    switch error {
    case let error as SystemError: error
    case let error as FileCoordinationError: error.underlyingError as? SystemError
    case let error as PackageError: error.systemError
    default: nil
    }
  }

  /// Whether it's the file itself that couldn't be read, and not its copy that couldn't be written.
  private func isOfSource(_ error: SystemError) -> Bool {
    guard let presence, let source = try? coordinator.canonicalPath(of: presence.presenter.url) else { return false }
    return error.paths.allSatisfy { $0 == source || $0.isInside(source) }
  }
}
