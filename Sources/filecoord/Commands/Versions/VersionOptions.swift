import FileVersions
import FoundationEssentials

extension Option {
  static let store = Option(
    name: "--store", kind: .text("DIR"),
    help: "Where versions are kept, instead of the directory that's chosen by the volume of the file.")
  static let package = Option(
    name: "--package", kind: .flag,
    help: "Directories are packages although their names have no extension: each is one version with all that's in it.")
  static let copies = Option(
    name: "--copies", kind: .flag,
    help:
      "Also take the conflict copies of sync engines beside a file as versions that are conflicts: those of Syncthing, "
      + "Nextcloud, ownCloud, Dropbox, Seafile and rclone.")
}

extension Session {
  /// The versions that a command is about.
  var versions: FileVersions {
    get throws(Failure) { try versions(conflictCopies: invocation.has(.copies) ? .all : []) }
  }

  /// The same, with the copies of these engines.
  func versions(conflictCopies: Set<ConflictCopyEngine>) throws(Failure) -> FileVersions {
    let storage = try invocation.text(.store).map { text throws(Failure) in
      VersionStorage.directory(try URL(file: Argument(text)))
    }
    return FileVersions(
      domain: domain, storage: storage ?? .standard, conflictCopies: conflictCopies, deadlines: deadlines)
  }

  /// The versions that are kept where nothing else is said.
  private var storedVersions: FileVersions { FileVersions(domain: domain, deadlines: deadlines) }

  /// Notes in the store of versions what was done to files; that they are where they are doesn't depend on it.
  func note(_ body: (FileVersions) async throws -> Void) async {
    do { try await body(storedVersions) } catch {
      Terminal.error.write("filecoord: done, but the store of versions doesn't know of it: \(Failure(error).message)\n")
    }
  }

  /// The file that the first operand names, and its versions, newest first.
  func listed(_ versions: FileVersions) async throws -> (file: URL, versions: [FileVersion]) {
    let file = try URL(file: invocation.operands[0])
    guard let listed = try await versions.versions(of: file) else { throw Failure.missing(file) }
    return (file, listed)
  }

  /// The file that the first operand names, and its versions that were removed, the last one first.
  func removed(_ versions: FileVersions) async throws -> (file: URL, versions: [FileVersion]) {
    let file = try URL(file: invocation.operands[0])
    guard let removed = try await versions.removedVersions(of: file) else { throw Failure.missing(file) }
    return (file, removed)
  }

  /// The versions that operands name, of the file that the first operand names.
  ///
  /// Looks at no more versions than needed.
  func named(
    _ names: some Sequence<Argument>, of versions: FileVersions
  ) async throws -> (file: URL, versions: [FileVersion]) {
    let file = try URL(file: invocation.operands[0])
    let numbers = names.compactMap { Int($0.text) }
    let listed =
      if let highest = numbers.max(), highest > 0 {
        try await versions.newestVersions(of: file, countMax: highest) ?? []
      } else { [FileVersion]() }
    var found: [FileVersion] = []
    for name in names {
      let id = Int(name.text) == nil ? FileVersion.ID(name.text) : nil
      if let id, let version = try await versions.version(id, of: file), !version.isCurrent {
        found.append(version)
        continue
      }
      do throws(Failure) { found.append(try version(name, among: listed, of: file)) } catch {
        // The message says how many there are.
        found.append(try version(name, among: try await self.listed(versions).versions, of: file))
      }
    }
    return (file, found)
  }

  /// The version that an operand names.
  func version(
    _ name: Argument, among listed: [FileVersion], of file: URL, list: String = "versions"
  ) throws(Failure) -> FileVersion {
    let text = name.text
    let named =
      Int(text).map { listed.indices.contains($0 - 1) ? listed[$0 - 1] : nil }
      ?? listed.first { $0.id.description == text }
    if let named { return named }
    let known = listed.isEmpty ? "none is kept" : "there are 1 (the newest) to \(listed.count)"
    throw Failure(
      .noInput,
      "there is no version '\(text.onOneLine)' of '\(file.pathText.onOneLine)': \(known). 'filecoord \(list)' lists them."
    )
  }
}

extension Failure {
  static func missing(_ file: URL) -> Failure {
    Failure(
      .noInput,
      "there is no file '\(file.pathText.onOneLine)'. If it was deleted, 'filecoord versions --deleted DIR' finds its versions."
    )
  }
}

/// How versions are shown.
struct VersionText {
  static let operand =
    "VERSION is the number in the list of 'filecoord versions', 1 for the newest, or an identifier from its JSON."

  /// Prints a version on a line.
  ///
  /// - Returns: Whether somebody reads it.
  @discardableResult
  static func write(_ version: FileVersion, number: Int, _ session: Session) -> Bool {
    let isJSON = session.invocation.has(.json)
    return Terminal.output.write(
      (isJSON ? json(version, number: number).text : line(version, number: number)) + "\n")
  }

  /// One line for a version with a number.
  private static func line(_ version: FileVersion, number: Int) -> String {
    let marks = [
      version.isConflict ? (version.isResolved ? "resolved" : "conflict") : nil, version.isBase ? "base" : nil,
      version.isPackage ? "package" : nil, version.isDiscardable ? "discardable" : nil,
    ].compactMap { $0 }
    let words = [
      String(number), date(version.additionDate ?? version.modificationDate), "\(version.size)",
      version.deviceName ?? "-", version.name,
    ]
    return (words + (marks.isEmpty ? [] : ["(\(marks.joined(separator: ", ")))"])).map(\.onOneLine)
      .joined(separator: "  ")
  }

  static func date(_ date: Date) -> String { date.formatted(.iso8601) }

  static func json(_ version: FileVersion, number: Int) -> JSON {
    .object([
      ("number", .integer(number)), ("id", .string(version.id.description)), ("name", .string(version.name)),
      ("size", .integer(Int(version.size))), ("modified", .string(date(version.modificationDate))),
      ("kept", JSON(version.additionDate.map(date))), ("device", JSON(version.deviceName)),
      ("author", JSON(version.author)), ("sha256", JSON(version.contentHash)),
      ("path", .string(version.url.pathText)), ("package", .bool(version.isPackage)),
      ("conflict", .bool(version.isConflict)), ("resolved", .bool(version.isResolved)),
      ("base", .bool(version.isBase)), ("discardable", .bool(version.isDiscardable)),
      ("parents", .array(version.parents.map { .string($0.description) })),
    ])
  }
}
