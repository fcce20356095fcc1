public import FileCoordination
public import FoundationEssentials
internal import SystemInterface

/// Runs every kind of access against a presenter of yours, on a real file, and reports its mistakes.
///
/// ```swift
/// @Test func editorIsAGoodPresenter() async throws {
///   let conformance = PresenterConformance { url, domain in Editor(url, domain: domain) }
///   #expect(await conformance.run() == [])
/// }
/// ```
///
/// Works in any test framework: findings are returned as values, and their descriptions are for people.
///
/// For each kind of access it makes a new file in a temporary directory, a new presenter, and a domain of its own. It
/// checks that
/// - every question is answered within the deadline, without an error, and without a deadlock with accesses of its own;
/// - callbacks that only notify, and reacquirers, come to an end;
/// - after a save the file can be read and, if you say how to edit, has the edit in it;
/// - several accesses at once, one access after the other, and one that is cancelled while it asks are survived;
/// - after a move the presenter has the new URL and is asked and notified there;
/// - after a deletion it doesn't make the file again.
///
/// Not checked, because nothing can be discovered at run time: whether a callback is implemented and not declared (it's
/// never called), and whether a declared one is really implemented (the default answers).
///
/// Coordinators of the presenter must use the domain that the factory gets.
public struct PresenterConformance: Sendable {
  /// Makes a presenter of a file, for a domain.
  ///
  /// The harness registers it.
  public typealias Factory = @Sendable (_ url: URL, _ domain: CoordinationDomain) async throws -> any FilePresenter

  /// Makes an unsaved change in a presenter.
  ///
  /// Returns the bytes that the file has to contain, among others, once the change is saved.
  public typealias Edit = @Sendable (_ presenter: any FilePresenter) async throws -> Data

  /// The name of the file.
  ///
  /// Its extension shows the presenter the type, if that matters.
  public var fileName: String
  /// The first contents of the file.
  public var contents: Data
  /// How long each answer may take, in real time.
  public var answerDeadline: Duration
  /// Makes an unsaved change; `nil` when the presenter never has any, so that saving is checked for harm only.
  public var edit: Edit?

  let makePresenter: Factory

  /// Creates a harness.
  ///
  /// - Parameters:
  ///   - fileName: The name of the file to present.
  ///   - contents: The first contents of the file.
  ///   - answerDeadline: How long each answer may take.
  ///   - edit: Makes an unsaved change, if the presenter can have any.
  ///   - makePresenter: Makes a presenter.
  public init(
    fileName: String = "document.txt", contents: Data = Data("contents".utf8), answerDeadline: Duration = .seconds(10),
    edit: Edit? = nil, makePresenter: @escaping Factory
  ) {
    self.fileName = fileName
    self.contents = contents
    self.answerDeadline = answerDeadline
    self.edit = edit
    self.makePresenter = makePresenter
  }

  /// Runs all checks, one after the other.
  ///
  /// - Returns: The findings, in the order of the checks; empty for a presenter without fault.
  /// - Complexity: A good presenter takes as long as it takes to answer some sixty messages; each answer that never
  ///   comes costs ``answerDeadline`` more.
  public func run() async -> [ConformanceFinding] {
    var findings: [ConformanceFinding] = []
    for step in ConformanceStep.all {
      for finding in await run(step) where !findings.contains(finding) { findings.append(finding) }
    }
    return findings
  }

  private func run(_ step: ConformanceStep) async -> [ConformanceFinding] {
    let findings = FindingList(step.name)
    let name = "PresenterConformance.\(UUID().uuidString)"
    let directory = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      let url = URL(filePath: directory.path + "/" + fileName, directoryHint: .notDirectory)
      try contents.write(to: url)
      try await run(step, url, findings)
    } catch {
      findings.add(.unexpectedError, "the check itself failed: \(error)")
    }
    try? FileManager.default.removeItem(at: directory)
    return findings.values
  }

  private func run(_ step: ConformanceStep, _ url: URL, _ findings: FindingList) async throws {
    var configuration = CoordinationDomain.Configuration()
    // The many accesses of one check wait for each other's answers, so they get much more time: this deadline only ends
    // the wait for an accessor of the presenter that never returns.
    configuration.deadlines = AccessDeadlines(
      waitingForAccesses: max(answerDeadline * 16, .seconds(30)), waitingForAnswers: answerDeadline)
    let domain = CoordinationDomain(configuration)
    let presenter: any FilePresenter
    let registration: FilePresenterRegistration
    do {
      presenter = try await makePresenter(url, domain)
      registration = try await domain.register(presenter)
    } catch {
      return findings.add(.unexpectedError, "the presenter couldn't be made and registered: \(error)")
    }
    let trial = ConformanceTrial(self, url, domain, presenter, findings)
    try await step.run(trial)
    await trial.awaitIdleness()
    registration.end()
  }
}
