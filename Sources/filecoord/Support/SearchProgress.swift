import FileMetadata

/// Shows on a terminal how many results a search has found so far: one line that is rewritten, and empty in the end.
///
/// Short searches show nothing.
struct SearchProgress: Sendable {
  private static let delay = Duration.milliseconds(500)
  private static let interval = Duration.milliseconds(100)

  private let task: Task<Void, Never>?

  /// Begins, unless there's no terminal to show it.
  init(_ query: MetadataQuery) {
    task =
      Terminal.error.isTerminal
      ? Task.detached {
        var isShown = false
        var wait = Self.delay
        while (try? await Task.sleep(for: wait)) != nil {
          Terminal.error.write("\r\(query.results.count) results so far")
          isShown = true
          wait = Self.interval
        }
        if isShown { Terminal.error.write("\r" + String(repeating: " ", count: Self.widthMax) + "\r") }
      } : nil
  }

  /// More than a line takes.
  private static let widthMax = 40

  /// Nothing is written any more.
  func finish() async {
    task?.cancel()
    await task?.value
  }
}
