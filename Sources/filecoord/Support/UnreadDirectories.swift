import FileMetadata
import SystemInterface

// As find(1) and grep(1) do: a search prints what it finds, a line on standard error for each directory that it can't read, and ends with
// an error.

extension ScopeHealth {
  /// A line for each place whose files aren't found.
  var unfoundLines: [String] {
    let errors = unreadableErrors.map { "filecoord: not searched: \($0.description.onOneLine)\n" }
    let omitted = unreadableDirectoryCount - errors.count
    let rest = omitted > 0 ? ["filecoord: \(omitted) more directories can't be read\n"] : []
    return errors + rest + (isFull ? ["filecoord: there are more files than the index can hold\n"] : [])
  }

  /// The code of a search, which is an error if it may not have found everything.
  func code(of search: ExitCode) -> ExitCode {
    if isFull { return .inputOutput }
    return unreadableDirectoryCount == 0 ? search : ExitCode(unread: unreadableErrors)
  }
}
