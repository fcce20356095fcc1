#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import Foundation

  /// The items that a call was to read and to write, for codes of errors that differ between the two.
  struct AccessedItems {
    private let reading: [URL]
    private let writing: [URL]

    init(reading: [URL] = [], writing: [URL] = []) {
      self.reading = reading
      self.writing = writing
    }

    init(_ intents: [NSFileAccessIntent]) {
      self.init(
        reading: intents.filter(\.isReading).map(\.url), writing: intents.filter { !$0.isReading }.map(\.url))
    }

    /// Whether an error is about an item that was only to be read.
    ///
    /// Errors that aren't about one item are errors of writing, if anything was to be written.
    func isReading(_ error: FileCoordinationError) -> Bool {
      if writing.isEmpty { return true }
      guard error.subjects.count == 1, let subject = error.subjects.first else { return false }
      return reading.contains { Self.names(subject, $0) } && !writing.contains { Self.names(subject, $0) }
    }

    /// Whether an error's subject is an item, or something that its path leads through.
    private static func names(_ subject: String, _ url: URL) -> Bool {
      let url = url.absoluteURL
      if subject == url.absoluteString { return true }
      return [url.path, resolvedPath(of: url)].contains { $0 == subject || $0.hasPrefix(subject + "/") }
    }

    /// The path with the links resolved that lead to as much of it as there is; Foundation resolves none if the item is missing.
    private static func resolvedPath(of url: URL) -> String {
      let names = url.path.split(separator: "/")
      for count in stride(from: names.count, to: 0, by: -1) {
        let existing = "/" + names.prefix(count).joined(separator: "/")
        guard FileManager.default.fileExists(atPath: existing) else { continue }
        let resolved = URL(fileURLWithPath: existing).resolvingSymlinksInPath().path
        return ([resolved] + names.dropFirst(count).map(String.init)).joined(separator: "/")
      }
      return url.path
    }
  }
#endif
