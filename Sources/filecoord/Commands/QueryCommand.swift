import FileMetadata
import FoundationEssentials
import MetadataPredicates

extension Option {
  static let directory = Option(
    name: "--in", kind: .texts("DIR"),
    help: "Search this directory; the default is the current one. May be used several times.")
  static let live = Option(name: "--live", kind: .flag, help: "Continue, and print changes.")
  static let sort = Option(
    name: "--sort", kind: .text("ATTRIBUTES"),
    help: "Sort by these attributes, with commas between them; a minus before one reverses its order.")
  static let attributes = Option(
    name: "--attributes", kind: .text("ATTRIBUTES"),
    help: "Print the values of these attributes behind each path, with commas between their names.")
  static let limit = Option(name: "--limit", kind: .count, help: "Print this number of results at most.")
  static let null = Option(name: "--null", kind: .flag, help: "End paths by a NUL, for xargs -0; -0 means the same.")
  static let explain = Option(
    name: "--explain", kind: .flag, help: "Print the plan of the search and its cost, instead of the results.")
  static let except = Option(
    name: "--except", kind: .texts("NAME"),
    help: "Don't enter directories of this name, which may be a pattern such as '*.build'. May be used several times.")
  static let audit = Option(
    name: "--audit", kind: .flag,
    help: "Compare the index with a fresh walk, and print the differences; with --live at the end.")
  static let follow = Option(
    name: "--follow", kind: .flag,
    help: "Also search the targets of symbolic links; each is found once, under its own path.")
  static let index = Option(
    name: "--index", kind: .text("DIR"),
    help: "Keep the index in this directory; the next search doesn't read unchanged directories again.")
  static let count = Option(name: "--count", kind: .flag, help: "Print the number of results only.")
}

extension Command {
  static let query = Command(
    name: "query", operands: "PREDICATE [DIR…]", operandCount: 1...1000, takesOptionsAnywhere: true,
    options: [
      .directory, .live, .sort, .attributes, .limit, .json, .null, .count, .explain, .audit, .except, .follow, .index,
      .spotlight,
      .untrusted,
      .events,
    ],
    summary: "Find files by their metadata, and keep the result current.",
    details: """
      Prints the paths of all files in the directories that fulfil the predicate, sorted by path unless --sort names attributes.
      Symbolic links aren't followed without --follow. Names that begin with a dot are found like others. If the predicate can't
      be used, the command shows the place of the mistake and ends with 65. If directories can't be read, it prints what it has
      found, a line on standard error for each of them, and ends with 77 or 74.

      With --live it continues, and prints a line for each change until SIGINT, SIGTERM or SIGHUP, or until its output is
      closed: "+ PATH" for a new or initial result, "- PATH" for a file that is removed or no longer matches, "~ PATH" for a
      changed file, and "> PATH" with the old path for a renamed one. Prints "watching N results" on standard error after the
      initial results. A warning on standard error names places that can't be watched.

      With --attributes a tab and a value follow for each of them, in their order: dates in ISO 8601, "-" without a value, and
      commas between the members of a list.

      With --explain it prints which tests the index answers, the searched places, whether each file needs a statx(2), the
      number of watched directories, and the number of results.

      With --audit it compares the whole index of the directories, including files that don't fulfil the predicate, with a
      fresh walk, and ends with 1 if there are differences. Without --live it prints a line for each difference instead of the
      results: "missing PATH", "surplus PATH", or "outdated PATH" and each differing value, times in nanoseconds since 1970.
      Files that change during the audit are compared again. With --live it compares at its end, and prints these lines on
      standard error: a nightly job can send SIGTERM to a query that has run for a day.

      With --index it keeps a file in DIR, and makes DIR if necessary. The next search of the same directories begins with that
      file, and reads only directories whose times have changed. This makes searches for names faster, above all on a disk that
      hasn't been read since the machine started. A predicate about sizes, dates or owners still inspects each file.

      If a search takes longer, a terminal shows the number of results so far on standard error.

      With --json each line is an object with the members path, name, size, modified, created and type; with --live also event
      (added, removed, changed) and was, the path before; with --attributes also attributes, an object by their names.

      Attributes: kMDItemFSName, kMDItemDisplayName, kMDItemPath, kMDItemURL, kMDItemFSSize (bytes), kMDItemFSContentChangeDate,
      kMDItemFSCreationDate, kMDItemContentCreationDate, kMDItemContentModificationDate, kMDItemAttributeChangeDate,
      kMDItemLastUsedDate, kMDItemContentType, kMDItemContentTypeTree, kMDItemKind, kMDItemFSInvisible, kMDItemFSOwnerUserID,
      kMDItemFSOwnerGroupID, kMDItemFSNodeCount, kMDItemComment, kMDItemFinderComment, kMDItemUserTags, kMDItemWhereFroms.

      Bytes of names that aren't UTF-8 are shown as U+FFFD, but printed unchanged with -0.
      """,
    examples: [
      Example(
        line: #"filecoord query 'kMDItemFSName LIKE "*.swift"'"#,
        explanation: "Prints all Swift files below this directory."),
      Example(
        line: #"filecoord query --sort -kMDItemFSSize --limit 10 'kMDItemFSSize > 1000000' /usr"#,
        explanation: "Prints the ten largest files."),
      Example(
        line: #"filecoord query --attributes kMDItemFSSize,kMDItemUserTags 'TRUEPREDICATE' ~/Documents"#,
        explanation: "Prints sizes and tags behind the paths of all documents."),
      Example(
        line: #"filecoord query --live 'kMDItemContentTypeTree == "public.image"' ~/Pictures"#,
        explanation: "Prints pictures that come and go."),
      Example(
        line: #"filecoord query --index ~/.cache/filecoord 'kMDItemFSName LIKE "*.pdf"' ~"#,
        explanation: "Prints all PDF files; the second search doesn't read unchanged directories."),
      Example(
        line: #"filecoord query -0 --spotlight 'kMDItemFSName == "*.log"' /var/log | xargs -0 wc -l"#,
        explanation: "The same language as mdfind, and paths for another program."),
    ],
    run: { session in try await QueryPrinter(session).run() })
}

/// Prints results, and their changes.
private struct QueryPrinter {
  private let session: Session
  private let query: MetadataQuery
  /// The attributes whose values are printed.
  private let attributes: [String]

  init(_ session: Session) throws {
    self.session = session
    let invocation = session.invocation
    if invocation.has(.live), invocation.has(.limit) || invocation.has(.count) || invocation.has(.null) {
      throw Failure.usage("'--live' can't be combined with '--limit', '--count' or '--null'").about(.query)
    }
    if invocation.has(.explain),
      invocation.has(.live) || invocation.has(.json) || invocation.has(.null) || invocation.has(.count)
    {
      throw Failure.usage("'--explain' can't be combined with '--live', '--json', '--null' or '--count'").about(.query)
    }
    if invocation.has(.audit), [.explain, .count, .null, .json, .limit].contains(where: { invocation.has($0) }) {
      throw Failure.usage("'--audit' can't be combined with '--explain', '--count', '--null', '--json' or '--limit'")
        .about(.query)
    }
    if invocation.has(.index), [.live, .json, .attributes].contains(where: { invocation.has($0) }) {
      throw Failure.usage("'--index' can't be combined with '--live', '--json' or '--attributes'").about(.query)
    }
    if invocation.has(.null), invocation.has(.attributes) {
      throw Failure.usage("'--attributes' can't be combined with '--null'").about(.query)
    }
    attributes = invocation.text(.attributes)?.split(separator: ",").map(String.init) ?? []
    var scopes = try invocation.operands.dropFirst().map { try URL(file: $0) }
    scopes += try invocation.texts(.directory).map { try URL(file: Argument($0)) }
    if scopes.isEmpty { scopes.append(try URL(file: Argument("."))) }
    let predicate = try Self.predicate(invocation)
    query = try Self.query(predicate, scopes, invocation)
    // With the rest of the explanation otherwise.
    if !invocation.has(.explain) {
      for line in Excerpt.lines(of: predicate.warnings(), in: invocation.operands[0].text) {
        Terminal.error.write("warning: \(line)\n")
      }
    }
  }

  private static func query(
    _ predicate: MetadataPredicate, _ scopes: [URL], _ invocation: Invocation
  ) throws -> MetadataQuery {
    let options = try options(invocation)
    do {
      return try MetadataQuery(
        predicate, in: scopes, sortedBy: order(invocation), batching: MetadataBatching(interval: .milliseconds(20)),
        options: options)
    } catch {
      if error.code != .unsortableAttribute { throw error }
      throw Failure.usage(error.description + Excerpt.pointing(at: error.subject, in: invocation.text(.sort) ?? ""))
        .about(.query)
    }
  }

  /// One-shot listings of names need no attributes.
  private static func options(_ invocation: Invocation) throws -> ScopeOptions {
    let needsMore = invocation.has(.live) || invocation.has(.json) || invocation.has(.attributes)
    return ScopeOptions(
      gatheringDepth: needsMore ? .attributes : .names, unenteredNames: invocation.texts(.except),
      followsSymbolicLinks: invocation.has(.follow),
      indexDirectory: try invocation.text(.index).map { try URL(file: Argument($0)) })
  }

  private static func predicate(_ invocation: Invocation) throws(Failure) -> MetadataPredicate {
    let text = invocation.operands[0].text
    let limits: PredicateLimits = invocation.has(.untrusted) ? .untrusted : .standard
    do throws(MetadataPredicateError) {
      return invocation.has(.spotlight)
        ? try MetadataPredicate(query: text, limits: limits) : try MetadataPredicate(format: text, limits: limits)
    } catch {
      throw Failure(.dataError, "the predicate can't be used\n\(error)")
    }
  }

  private static func order(_ invocation: Invocation) -> [MetadataSortDescriptor] {
    let names = invocation.text(.sort)?.split(separator: ",") ?? []
    let descriptors = names.map { name in
      name.hasPrefix("-")
        ? MetadataSortDescriptor(String(name.dropFirst()), .descending) : MetadataSortDescriptor(String(name))
    }
    return descriptors + [MetadataSortDescriptor("kMDItemPath")]
  }

  func run() async throws -> ExitCode {
    let query = query
    try query.start()
    let audits = session.invocation.has(.audit)
    let isLive = session.invocation.has(.live)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    return try await session.signals.handling({ _ in
      // The query must go on to be audited; the end is reported to the reader of changes.
      if isLive, audits { end.finish() } else { query.stop() }
    }) {
      if !isLive {
        let code = try await printOnce()
        if session.invocation.has(.index) { await keepIndex() }
        return code
      }
      if !audits { return await follow() }
      return await followUntil(ends)
    }
  }

  // MARK: Audit

  /// Follows until a signal comes, or enough is printed, and audits the query then.
  private func followUntil(_ ends: AsyncStream<Void>) async -> ExitCode {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = await follow() }
      group.addTask { for await _ in ends {} }
      await group.next()
      group.cancelAll()
    }
    defer { query.stop() }
    return await printAudit(to: Terminal.error)
  }

  private func printAudit(to terminal: Terminal) async -> ExitCode {
    guard let audit = await query.audit() else { return .failure }
    for difference in audit.differences where !terminal.write(difference.description.onOneLine + "\n") { break }
    let unsettled = audit.unsettledCount == 0 ? "" : ", \(audit.unsettledCount) kept changing"
    Terminal.error.write("compared \(audit.fileCount) files: \(audit.differences.count) differ\(unsettled)\n")
    return audit.isClean ? .success : .failure
  }

  /// The printed results are right, whether that succeeds or not.
  private func keepIndex() async {
    do {
      try await query.saveIndex()
    } catch {
      Terminal.error.write("the index can't be kept: \("\(error)".onOneLine)\n")
    }
  }

  // MARK: Once

  private func printOnce() async throws -> ExitCode {
    let progress = SearchProgress(query)
    let results = try await query.waitUntilCurrent()
    await progress.finish()
    if let number = session.signals.first { throw Failure(.signal(number), "ended by signal \(number)") }
    let health = query.health
    for line in warnings(health) { Terminal.error.write(line) }
    return health.code(of: await print(results))
  }

  private func print(_ results: MetadataResults) async -> ExitCode {
    if session.invocation.has(.audit) { return await printAudit(to: Terminal.output) }
    if session.invocation.has(.explain) {
      Terminal.output.write("\(query.explanation)\nresults: \(results.count)\n")
      return .success
    }
    if session.invocation.has(.count) {
      Terminal.output.write("\(results.count)\n")
      return .success
    }
    // Not one write for each line: there may be a million.
    var bytes: [UInt8] = []
    for item in results.prefix(session.invocation.count(.limit) ?? .max) {
      append(item, to: &bytes)
      if bytes.count > 1 << 16 {
        if !Terminal.output.write(bytes) { return .success }
        bytes = []
      }
    }
    Terminal.output.write(bytes)
    return .success
  }

  private func append(_ item: MetadataItem, to bytes: inout [UInt8]) {
    if session.invocation.has(.json) {
      bytes += Array((JSON.object(members(item)).text + "\n").utf8)
    } else if session.invocation.has(.null) {
      bytes += item.pathBytes + [0]
    } else {
      bytes += Array((item.path.onOneLine + cells(item) + "\n").utf8)
    }
  }

  /// The values behind a path.
  private func cells(_ item: MetadataItem) -> String {
    attributes.map { "\t" + AttributeText.cell(item.value(forAttribute: $0)) }.joined()
  }

  private func members(_ item: MetadataItem) -> [(String, JSON)] {
    let values = attributes.map { ($0, AttributeText.json(item.value(forAttribute: $0))) }
    return Self.members(item) + (values.isEmpty ? [] : [("attributes", .object(values))])
  }

  private static func members(_ item: MetadataItem) -> [(String, JSON)] {
    [
      ("path", .string(item.path)), ("name", .string(item.name)), ("size", .integer(Int(item.size))),
      ("modified", .string(AttributeText.time(item.contentChangeDate))),
      ("created", JSON(item.creationDate.map(AttributeText.time))),
      ("type", JSON(text(item.value(forAttribute: "kMDItemContentType")))),
    ]
  }

  private static func text(_ value: MetadataValue) -> String? {
    if case .string(let text) = value { return text }
    return nil
  }

  // MARK: Live

  private func follow() async -> ExitCode {
    var remaining = session.invocation.count(.events) ?? .max
    // From the end of the first search on.
    var listener: Task<Void, Never>?
    defer { listener?.cancel() }
    for await change in query.changes {
      for line in lines(change) {
        if remaining == 0 { break }
        remaining -= 1
        if !Terminal.output.write(line + "\n") { return .success }
      }
      if change.finishesGathering {
        Terminal.error.write("watching \(change.results.count) results\n")
        listener = Task { await warn(of: query.healthUpdates) }
      }
      if remaining == 0 { break }
    }
    if !session.invocation.has(.audit) { query.stop() }
    return .success
  }

  private func lines(_ change: MetadataQueryChange) -> [String] {
    change.removed.map { line("-", "removed", $0.item, nil) } + change.added.map { line("+", "added", $0.item, nil) }
      + change.changed.map { alteration in
        let isRenamed = alteration.old.pathBytes != alteration.new.pathBytes
        return line(isRenamed ? ">" : "~", "changed", alteration.new, isRenamed ? alteration.old.path : nil)
      }
  }

  private func line(_ sign: String, _ event: String, _ item: MetadataItem, _ oldPath: String?) -> String {
    if session.invocation.has(.json) {
      return JSON.object([("event", .string(event)), ("was", JSON(oldPath))] + members(item)).text
    }
    return "\(sign) \(item.path.onOneLine)" + (oldPath.map { " was \($0.onOneLine)" } ?? "") + cells(item)
  }

  /// Reports the parts that aren't found, or are found late: until the query ends, whenever there's another one.
  private func warn(of updates: AsyncStream<ScopeHealth>) async {
    var last: [String] = []
    for await health in updates {
      let lines = warnings(health)
      for line in lines where !last.contains(line) { Terminal.error.write(line) }
      last = lines
    }
  }

  private static func directories(_ count: Int) -> String { count == 1 ? "1 directory" : "\(count) directories" }

  private func warnings(_ health: ScopeHealth) -> [String] {
    var lines = health.isBehind ? ["the kernel has lost events; everything will be read again\n"] : []
    lines += health.unfoundLines
    if session.invocation.has(.live), health.polledDirectoryCount > 0 {
      lines.append(
        "\(Self.directories(health.polledDirectoryCount)) \(health.polledDirectoryCount == 1 ? "is" : "are") polled instead of watched: "
          + "\((health.pollingReason ?? "").onOneLine)\n")
    }
    return lines
  }
}
