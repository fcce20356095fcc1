import CoordinationWorker
import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import TestSupport

/// Processes that write the same few documents, some of which are killed.
final class Authors {
  /// How many words were acknowledged, and where they would be found.
  struct Outcome {
    var acknowledged: [String] = []
    var files: [String] = []
    var versions: [String] = []
    var versionsOfGoneFiles: [String] = []
    var journals: [String] = []
    /// Unsaved contents of files that aren't at their places any more.
    var strandedJournals: [String] = []
    var problems: [String] = []
    /// Errors with which documents have given up.
    var surrenders: [String] = []
    /// Where lost words are.
    var traces: [String] = []

    /// The acknowledged words that aren't in any of these texts.
    func missing(in texts: [String]) -> [String] {
      let all = texts.joined(separator: "\n")
      return acknowledged.filter { !all.contains($0) }
    }

    var lost: [String] { missing(in: files + versions + versionsOfGoneFiles + journals + strandedJournals) }
  }

  private let root: URL
  private let mistake: String
  private let domain: CoordinationDomain
  private let versions: FileVersions
  private var random: SplitMix
  private var lastSeed: UInt64
  private var processes: [HelperProcess] = []
  private var outcome = Outcome()
  /// Serves the others, so that none of those that are killed does.
  private var registration: FilePresenterRegistration?

  /// Starts the processes, with two files and a package.
  ///
  /// - Parameters:
  ///   - seed: Names the run.
  ///   - isServing: Whether the test meets the processes, and serves them; otherwise one of those that are killed does.
  ///   - mistake: The mistake of the processes.
  /// - Throws: An error when a process can't be started.
  init(seed: UInt64, isServing: Bool, mistake: String = "none") async throws {
    root = URL(filePath: "/tmp/authors-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    self.mistake = mistake
    random = SplitMix(seed: seed)
    lastSeed = seed &* 10_000
    domain = CoordinationDomain.socket(root.appending(path: "s").path)
    versions = FileVersions(domain: domain, storage: .directory(root.appending(path: "store")))
    let manager = FileManager.default
    try manager.createDirectory(at: root.appending(path: "files"), withIntermediateDirectories: true)
    for name in SharedPlaces.texts.prefix(2) { try Data("Dear ".utf8).write(to: url(name)) }
    for name in SharedPlaces.packages.prefix(1) {
      try manager.createDirectory(at: url(name), withIntermediateDirectories: false)
      for member in SharedPlaces.members { try Data("Dear ".utf8).write(to: url(name).appending(path: member)) }
    }
    if isServing { registration = try await domain.register(Bystander(root.appending(path: "elsewhere"))) }
    for _ in 0..<3 + random.below(2) { processes.append(try start()) }
  }

  func remove() { removeSurely(root.path) }

  private func url(_ name: String) -> URL { root.appending(path: "files/\(name)") }

  private func start() throws -> HelperProcess {
    lastSeed += 1
    let process = try HelperProcess(["author", root.appending(path: "s").path, root.path, "\(lastSeed)", mistake])
    if try !isPaused(process) { outcome.problems.append("a process ended before it began") }
    return process
  }

  private func note(_ line: String) {
    if line.hasPrefix("acknowledged ") {
      outcome.acknowledged.append(String(line.dropFirst("acknowledged ".count)))
    } else if line.hasPrefix("gave up") {
      outcome.surrenders.append(line)
    } else if line != "paused" {
      outcome.problems.append(line)
    }
  }

  /// Notes what a process reports until it has done what it was told; `false` if it has ended instead.
  private func isPaused(_ process: HelperProcess) throws -> Bool {
    let count = outcome.surrenders.count + outcome.problems.count
    while let line = try process.line() {
      note(line)
      if line == "paused" { return true }
    }
    if outcome.surrenders.count + outcome.problems.count == count {
      outcome.problems.append("a process ended by itself")
    }
    return false
  }

  /// Kills a process, and notes what it has reported until then.
  private func kill(_ process: HelperProcess) throws {
    process.send(SIGKILL)
    // The last line may be cut off.
    for line in try process.lines() where line.hasSuffix(">") { note(line) }
  }

  /// Lets all processes work for a while, kills one of them in the middle of that, and starts another one.
  ///
  /// Does nothing once something went wrong.
  func round() throws {
    if !outcome.problems.isEmpty { return }
    for process in processes { try process.tell("\(1 + random.below(24))") }
    let victim = processes.remove(at: random.below(processes.count))
    for _ in 0..<random.below(16) {
      guard let line = try victim.line() else { break }
      note(line)
      if line == "paused" { break }
    }
    try kill(victim)
    let count = processes.count + 1
    processes = try processes.filter { try isPaused($0) }
    while processes.count < count { processes.append(try start()) }
  }

  /// Kills all that are left, and finds all texts that a person would.
  func end() async throws -> Outcome {
    for process in processes { try kill(process) }
    processes = []
    for name in SharedPlaces.texts where FileManager.default.fileExists(atPath: url(name).path) {
      try await collect(name, as: .text) { [$0] }
    }
    for name in SharedPlaces.packages where FileManager.default.fileExists(atPath: url(name).path) {
      try await collect(name, as: .package, texts: Self.texts(of:))
    }
    // Those of files that were moved, and then saved by another process.
    outcome.strandedJournals += try await abandoned(as: .text) { [$0] }
    outcome.strandedJournals += try await abandoned(as: .package, texts: Self.texts(of:))
    // Those of a file whose place another file has taken are listed as those of a file that's gone.
    for file in try await versions.deletedFiles(below: root.appending(path: "files")) {
      for version in file.versions { outcome.versionsOfGoneFiles += try Self.texts(below: version.url) }
    }
    registration?.end()
    outcome.traces = try traces()
    return outcome
  }

  /// The files that have words which nobody would find; for the message of a failure.
  private func traces() throws -> [String] {
    let lost = outcome.lost
    if lost.isEmpty { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { name in
      guard let data = try? Data(contentsOf: root.appending(path: name)) else { return false }
      return lost.contains { data.range(of: Data($0.utf8)) != nil }
    }
  }

  private static func texts(of tree: PackageTree) throws -> [String] {
    try tree.names().map { String(decoding: try tree.contents(of: $0), as: UTF8.self) }
  }

  private func options<Contents>() -> DocumentOptions<Contents> {
    var options = DocumentOptions<Contents>(domain: domain, versions: versions)
    options.crashJournal = .directory(root.appending(path: "journals"))
    options.autosave = .never
    return options
  }

  private func abandoned<Format: DocumentFormat>(
    as format: Format, texts: (Format.Contents) throws -> [String]
  ) async throws -> [String] {
    try await FileDocument.abandonedContents(as: format, options: options()).flatMap { abandoned in
      try abandoned.contents.map(texts) ?? []
    }
  }

  private func collect<Format: DocumentFormat>(
    _ name: String, as format: Format, texts: (Format.Contents) throws -> [String]
  ) async throws {
    let document = FileDocument(url(name), as: format, options: options())
    try await document.open()
    if let contents = await document.contents { outcome.files += try texts(contents) }
    for recovery in await document.recoveries {
      outcome.journals += try recovery.contents.map(texts) ?? []
      outcome.journals.append(String(decoding: recovery.bytes, as: UTF8.self))
    }
    try await document.close()
    for version in try await versions.versions(of: url(name)) ?? [] {
      outcome.versions += try Self.texts(below: version.url)
    }
  }

  /// The texts of a file, or of all files in a directory.
  private static func texts(below url: URL) throws -> [String] {
    let manager = FileManager.default
    var isDirectory: ObjCBool = false
    guard manager.fileExists(atPath: url.path, isDirectory: &isDirectory), isDirectory.boolValue else {
      return [String(decoding: try Data(contentsOf: url), as: UTF8.self)]
    }
    return try manager.subpathsOfDirectory(atPath: url.path).map { name in
      String(decoding: try Data(contentsOf: url.appending(path: name)), as: UTF8.self)
    }
  }

  private final class Bystander: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = []

    init(_ file: URL) { presentedItemURL = file }
  }
}
