internal import Glibc

// A new file takes its place: over any file, over none, or over one that somebody sees before it's gone.

/// The files whose place a save may take, and the name of the new file until then.
package struct SaveTarget {
  enum Rule {
    case any
    case nothing
    case inspected((SystemPath, FileStatus) throws(SystemError) -> Void)
  }

  let rule: Rule
  /// The name that the new file gets beside the old one, and that the old one has after the exchange; a random one unless stated, or if
  /// it's taken.
  package var temporaryName: SystemPath?

  /// Any file, which is gone then, or none.
  package static var any: SaveTarget { SaveTarget(rule: .any) }

  /// None: EEXIST if something is there.
  package static var nothing: SaveTarget { SaveTarget(rule: .nothing) }

  /// Any file or none: a file that's there is shown before it's gone.
  ///
  /// The function gets the path at which the file is then, and its status. If it throws, the file goes back, and the save fails with that error.
  package static func inspected(_ inspect: @escaping (SystemPath, FileStatus) throws(SystemError) -> Void) -> SaveTarget
  {
    SaveTarget(rule: .inspected(inspect))
  }

  var isNothing: Bool {
    if case .nothing = rule { return true }
    return false
  }

  /// Whether the former file has the temporary name after the new one has taken its place.
  var isExchange: Bool {
    if case .inspected = rule { return true }
    return false
  }
}

extension FileSystem {
  /// Gives a complete file its place, where others may come and go.
  ///
  /// For `SaveTarget.inspected` the two files change places in one step, so that it's the very file that's replaced which is shown,
  /// whatever another program has put there in the last instant. File systems that can't exchange names show the file right before it's
  /// replaced.
  ///
  /// - Postcondition: The file that was there has the name of the new one, or is gone.
  /// - Note: renameat2(2) on `RENAME_EXCHANGE` and `RENAME_NOREPLACE`.
  func take(
    _ place: DirectoryItem, by draft: DirectoryItem, _ target: SaveTarget
  ) throws(SystemError) {
    switch target.rule {
    case .any:
      try rename(draft.name, at: draft.directory, to: place.name, at: place.directory, .replacing)
    case .nothing:
      try renameExclusively(draft, to: place)
    case .inspected(let inspect):
      try exchangeOrMove(draft, to: place, inspect)
      // The save is done. A file that's left over if this fails has been seen.
      try? unlink(draft.name, at: draft.directory, .file)
    }
  }

  private func exchangeOrMove(
    _ draft: DirectoryItem, to place: DirectoryItem, _ inspect: (SystemPath, FileStatus) throws(SystemError) -> Void
  ) throws(SystemError) {
    for _ in 0..<Self.attemptCountMax {
      var refusal: SystemError?
      do throws(SystemError) {
        return try exchange(draft, with: place) { (item) throws(SystemError) in
          do throws(SystemError) {
            guard let status = try statusIfPresent(of: item.name, at: item.directory) else { return }
            if status.kind != .regular {
              throw SystemError(
                call: "replaceContents", paths: [place.name], errno: ESTALE,
                advice: "Another program has put something else than a file there meanwhile.")
            }
            try inspect(item.place.appending(item.name), status)
          } catch {
            refusal = error
            throw error
          }
        }
      } catch {
        if let refusal { throw refusal }
        if error.errno != ENOENT { throw error }
      }
      do { return try renameExclusively(draft, to: place) } catch let error where error.errno == EEXIST {}
    }
    throw SystemError(
      call: "replaceContents", paths: [place.name], errno: EAGAIN, advice: "It's made and removed again and again.")
  }

  private static var attemptCountMax: Int { 16 }
}
