import FileCoordination
import FoundationEssentials
import Glibc
import SystemInterface
import Testing

/// A URL that can't be coordinated, and the text of the error.
private struct BadURL: Sendable, CustomTestStringConvertible {
  let url: URL
  let code: FileCoordinationError.Code
  let testDescription: String

  init?(_ url: URL?, _ code: FileCoordinationError.Code) {
    guard let url else { return nil }
    self.url = url
    self.code = code
    testDescription = "\(code): \(url.absoluteString.prefix(60))"
  }

  static let all: [BadURL] = [
    BadURL(URL(string: "http://example.org/file"), .notAFileURL),
    BadURL(URL(string: "data:text/plain,hello"), .notAFileURL),
    BadURL(URL(string: "file://example.org/file"), .notAFileURL),
    BadURL(URL(string: "file://user@localhost/file"), .notAFileURL),
    BadURL(URL(string: "x", relativeTo: URL(string: "http://example.org/")), .notAFileURL),
    BadURL(URL(string: "some/file"), .relativeURL),
    BadURL(URL(string: "/some/file"), .relativeURL),
    BadURL(URL(string: "file:some/file"), .relativeURL),
    BadURL(URL(filePath: "some/file"), .relativeURL),
    BadURL(URL(filePath: "some/file", relativeTo: URL(filePath: "/base/", directoryHint: .isDirectory)), .relativeURL),
    BadURL(URL(filePath: ""), .relativeURL),
    BadURL(URL(string: "file:///some/fi%00le"), .invalidPath),
    BadURL(URL(filePath: "/some/fi\0le"), .invalidPath),
    BadURL(URL(string: "file:"), .invalidPath),
    BadURL(URL(string: "file://"), .invalidPath),
    BadURL(URL(string: "file://localhost"), .invalidPath),
    BadURL(URL(filePath: "/tmp/" + String(repeating: "n", count: 256)), .pathTooLong),
    BadURL(URL(filePath: "/" + String(repeating: "nnnnnnn/", count: 512) + "f"), .pathTooLong),
    // 10,000 directories deep.
    BadURL(URL(filePath: String(repeating: "/n", count: 10_000)), .pathTooLong),
  ].compactMap(\.self)
}

/// Counts the requests to relinquish and the reacquirers that run, and records moves.
private final class Witness: FilePresenter {
  let presentedItemURL: URL?
  let asked = Guarded(0)
  let reacquired = Guarded(0)
  let moves = Guarded<[String]>([])
  var presentedItemCallbacks: FilePresenterCallbacks { .all }

  init(_ url: URL?) { presentedItemURL = url }

  private func relinquish() -> FileReacquirer? {
    asked.withLock { $0 += 1 }
    return { [self] in reacquired.withLock { $0 += 1 } }
  }

  func relinquishPresentedItem(toReader origin: AccessOrigin) async throws -> FileReacquirer? { relinquish() }
  func relinquishPresentedItem(toWriter origin: AccessOrigin) async throws -> FileReacquirer? { relinquish() }
  func presentedItemDidMove(to url: URL, origin: AccessOrigin) async {
    moves.withLock { $0.append("to \(url.absoluteString)") }
  }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL, origin: AccessOrigin) async {
    moves.withLock { $0.append("\(oldURL.absoluteString) to \(newURL.absoluteString)") }
  }
}

extension CoordinationDomain {
  fileprivate func becomesIdle() async throws {
    try await waitUntil { snapshot in
      snapshot.accesses.isEmpty && snapshot.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
    }
  }
}

private func code(of error: any Error) -> FileCoordinationError.Code? { (error as? FileCoordinationError)?.code }

/// The code of the error that a call throws; `nil` when it succeeds.
private func code(thrownBy body: () async throws -> Void) async -> FileCoordinationError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return code(of: error)
  }
}

/// Blocks, for tests that check that both colours give the same result.
private func codeBlocking(thrownBy body: @escaping @Sendable () throws -> Void) async -> FileCoordinationError.Code? {
  await withCheckedContinuation { continuation in
    HostThread.start(name: "blocking") {
      do {
        try body()
        continuation.resume(returning: nil)
      } catch { continuation.resume(returning: code(of: error)) }
    }
  }
}

@Suite("Bad input gives an error at once and changes nothing", .timeLimit(.minutes(5)))
struct BadInputTests {
  // MARK: URLs

  @Test(
    "A relative URL names its absolute form, which is taken",
    arguments: [
      (URL(string: "some/file"), "some/file"), (URL(filePath: "some/file"), "some/file"),
      (URL(string: "file:some/file"), "some/file"), (URL(string: "a%20b/../%FF"), "a%20b/../%FF"),
      (URL(string: "file"), "file"), (URL(string: "profile.txt"), "profile.txt"), (URL(string: "/some/f%C3%A9"), nil),
    ])
  func absoluteFiles(url: URL?, inWorkingDirectory rest: String?) async throws {
    let url = try #require(url)
    let error = await #expect(throws: FileCoordinationError.self) { try await FileCoordinator().read(url) { _ in } }
    #expect(error?.code == .relativeURL && error?.description.contains("absoluteFileURL()") == true)
    let absolute = try url.absoluteFileURL()
    let directory = URL(filePath: FileManager.default.currentDirectoryPath).absoluteString
    #expect(
      absolute.absoluteString
        == (rest.map { "\(directory)\(directory.hasSuffix("/") ? "" : "/")\($0)" } ?? "file:///some/f%C3%A9"))
    #expect(absolute.baseURL == nil)
    try await FileCoordinator().read(absolute, options: .immediatelyAvailableMetadataOnly) { _ in }
  }

  @Test("A URL that isn't a file's has no absolute form; an absolute one stays as it is, and a base counts")
  func unresolvable() throws {
    for (text, code) in [
      ("http://example.org/f", FileCoordinationError.Code.notAFileURL), ("a%00b", .invalidPath), ("a?b", .invalidPath),
    ] {
      let url = try #require(URL(string: text))
      let error = #expect(throws: FileCoordinationError.self) { try url.absoluteFileURL() }
      #expect(error?.code == code)
    }
    let url = try #require(URL(string: "file:///a/b?"))
    #expect(throws: FileCoordinationError.self) { try url.absoluteFileURL() }
    #expect(try URL(filePath: "/a//b/").absoluteFileURL() == URL(filePath: "/a//b/"))
    let base = URL(filePath: "/base/", directoryHint: .isDirectory)
    #expect(
      try URL(filePath: "some/file", relativeTo: base).absoluteFileURL().absoluteString == "file:///base/some/file")
  }

  @Test("A URL that can't name a file is refused by every call, before anybody is asked", arguments: BadURL.all)
  private func url(bad: BadURL) async throws {
    let domain = CoordinationDomain(), coordinator = FileCoordinator(domain: domain)
    let (url, good) = (bad.url, URL(filePath: "/nowhere/good"))
    let witness = Witness(good)
    let registration = try await domain.register(witness)
    func check(_ call: String, _ body: () async throws -> Void) async {
      #expect(await code(thrownBy: body) == bad.code, "\(call)")
    }
    await check("read") { try await coordinator.read(url) { _ in _ = Issue.record("it ran") } }
    await check("write") { try await coordinator.write(url) { _ in _ = Issue.record("it ran") } }
    await check("read and write") {
      try await coordinator.read(good, writing: url) { _, _ in _ = Issue.record("it ran") }
    }
    await check("write two") { try await coordinator.write(good, and: url) { _, _ in _ = Issue.record("it ran") } }
    await check("coordinate") {
      try await coordinator.coordinate([.writing(good), .reading(url)]) { _ in _ = Issue.record("it ran") }
    }
    await check("prepare") {
      try await coordinator.prepare(reading: [good], writing: [url]) { _ in _ = Issue.record("it ran") }
    }
    await check("move") { try await coordinator.move(good, to: url) }
    await check("contents") { _ = try await coordinator.contents(of: url) }
    await check("announce") { try coordinator.item(at: url, didChangeUbiquityAttributes: ["a"]) }
    await check("register") { _ = try domain.register(Witness(url)) }
    await check("events") { _ = try domain.events(at: url) }
    #expect(await codeBlocking { try coordinator.blocking.write(url) { _ in _ = Issue.record("it ran") } } == bad.code)
    try await domain.becomesIdle()
    #expect(witness.asked.withLock { $0 } == 0)
    #expect(domain.presenters.count == 1)
    withExtendedLifetime(registration) {}
  }

  @Test(
    "Other spellings of a file URL name the same file",
    arguments: [
      "file://localhost", "file://LOCALHOST", "FILE://", "file:", "file:///.", "file:////", "file:///nowhere/..",
    ])
  func spellings(prefix: String) async throws {
    try await SafeSaveScratch.with { scratch in
      let plain = scratch.file.path()
      let url = try #require(URL(string: prefix + plain))
      #expect(
        try await FileCoordinator(domain: CoordinationDomain()).contents(of: url) == SafeSaveScratch.old, "\(url)")
    }
  }

  @Test("A query or fragment in a file URL is refused, not dropped", arguments: ["?query=1", "#fragment", "?a#b"])
  func queries(suffix: String) async throws {
    try await SafeSaveScratch.with { scratch in
      let url = try #require(URL(string: "file://" + scratch.file.path() + suffix))
      let error = await #expect(throws: FileCoordinationError.self) {
        try await FileCoordinator(domain: CoordinationDomain()).contents(of: url)
      }
      #expect(error?.code == .invalidPath && error?.message.contains("%3F") == true)
    }
  }

  @Test("A percent sign that encodes nothing is part of the name")
  func percent() async throws {
    try await SafeSaveScratch.with { scratch in
      let coordinator = FileCoordinator(domain: CoordinationDomain())
      for name in ["100%", "%zz", "%4"] {
        let url = try #require(
          URL(string: scratch.root.description + "/" + name).map { URL(string: "file://\($0)") } ?? nil)
        try await coordinator.replaceContents(of: url, with: Data(name.utf8))
        #expect(try scratch.contents(name) == Data(name.utf8))
      }
    }
  }

  @Test("Symbolic links that lead in a circle are an error where they have to be followed, and an item where not")
  func loop() async throws {
    try await SafeSaveScratch.with { scratch in
      for (name, target) in [("a", "b"), ("b", "a")] {
        try scratch.host.makeSymbolicLink(
          SystemPath("\(scratch.root)/\(name)"), at: .workingDirectory, target: SystemPath(target))
      }
      let coordinator = FileCoordinator(domain: CoordinationDomain())
      #expect(await code { try await coordinator.read(scratch.url("a/file")) { _ in } } == .symbolicLinkLoop)
      #expect(
        await code { try await coordinator.read(scratch.url("a"), options: .resolvesSymbolicLink) { _ in } }
          == .symbolicLinkLoop)
      try await coordinator.read(scratch.url("a")) { access in #expect(access.url == scratch.url("a")) }
      try await coordinator.delete(scratch.url("a"))
      #expect(try scratch.names() == ["b", "file"])
    }
  }

  // MARK: Options, counts, purposes

  @Test("There's one writing option at a time: several bits are none, and bits without a meaning are refused (C-169)")
  func options() async throws {
    typealias Options = FileCoordinator.WritingOptions
    let choices: [Options] = [
      [], .forDeleting, .forMoving, .forMerging, .forReplacing, .contentIndependentMetadataOnly,
    ]
    #expect(choices.map(\.rawValue) == [0, 1, 2, 4, 8, 16] && Options.forUpdating == [])
    for bits in UInt(0)..<64 { #expect(Options(rawValue: bits) == choices.first { $0.rawValue == bits }) }
    for bit in [5, 17, 63] { #expect(Options(rawValue: 1 << UInt(bit)) == nil) }
    #expect(choices.map(\.description).first == ".forUpdating" && Set(choices.map(\.description)).count == 6)
    let coordinator = FileCoordinator(domain: CoordinationDomain()), url = URL(filePath: "/nowhere/file")
    for bit in [4, 17, 63] {
      let strange = FileCoordinator.ReadingOptions(rawValue: 1 << UInt(bit) | 1)
      #expect(await code { try await coordinator.read(url, options: strange) { _ in } } == .optionNotAllowed)
    }
  }

  @Test("Following links and replacing are refused in prepare (C-140)")
  func optionsOfPrepare() async throws {
    let coordinator = FileCoordinator(domain: CoordinationDomain()), url = URL(filePath: "/nowhere/file")
    #expect(
      await code { try await coordinator.prepare(reading: [url], readingOptions: .resolvesSymbolicLink) { _ in } }
        == .optionNotAllowed)
    #expect(
      await code { try await coordinator.prepare(writing: [url], writingOptions: .forReplacing) { _ in } }
        == .optionNotAllowed)
    #expect(
      await codeBlocking {
        try coordinator.blocking.prepare(writing: [url], writingOptions: .forReplacing) { $1.succeed() }
      } == .optionNotAllowed)
  }

  @Test("A request without items, or with too many, is refused before anything is looked at")
  func counts() async throws {
    var configuration = CoordinationDomain.Configuration()
    let door = ScriptedFileSystem { _ in .proceed }
    configuration.fileSystem = door
    let coordinator = FileCoordinator(domain: CoordinationDomain(configuration)), url = URL(filePath: "/nowhere/file")
    #expect(await code { try await coordinator.coordinate([]) { _ in } } == .noItems)
    #expect(await code { try await coordinator.prepare { _ in } } == .noItems)
    let million = Array(repeating: FileAccessIntent.writing(url), count: 1_000_000)
    #expect(await code { try await coordinator.coordinate(million) { _ in } } == .tooManyItems)
    let urls = Array(repeating: url, count: FileCoordinator.itemCountMax)
    #expect(await code { try await coordinator.prepare(reading: urls, writing: [url]) { _ in } } == .tooManyItems)
    #expect(door.log.isEmpty)
  }

  @Test(
    "A request may name one item thousands of times, in every way: it counts once, with the strongest",
    arguments: [12, 5000])
  func repetition(count: Int) async throws {
    // reader       [----]
    // repetitious     ··[----]
    // reader 2           ····[--]
    let domain = CoordinationDomain(), url = URL(filePath: "/nowhere/file"), gates = [LivenessGate(), LivenessGate()]
    func reading(_ label: String, _ gate: LivenessGate?) -> Task<Void, any Error> {
      Task { try await FileCoordinator(label: label, domain: domain).read(url) { _ in await gate?.pass() } }
    }
    let first = reading("first", gates[0])
    await gates[0].arrivals(1)
    let intents = (0..<count).map { index in
      switch index % 3 {
      case 0: FileAccessIntent.reading(url)
      case 1: FileAccessIntent.writing(url)
      default: FileAccessIntent.writing(url, options: .forReplacing)
      }
    }
    let repetitious = Task {
      try await FileCoordinator(domain: domain).coordinate(intents) { _ in await gates[1].pass() }
    }
    try await domain.waitUntil { $0.accesses.count == 2 }
    #expect(try await domain.snapshot().accesses.map(\.isGranted) == [true, false])
    gates[0].open()
    await gates[1].arrivals(1)
    let second = reading("second", nil)
    try await domain.waitUntil { $0.accesses.contains { $0.party.label == "second" } }
    #expect(try await domain.snapshot().accesses.map(\.isGranted) == [true, false])
    gates[1].open()
    for task in [first, repetitious, second] { try await task.value }
  }

  @Test("A purpose can be set once, before the first access, and not to nothing (C-117, C-118)")
  func purpose() async throws {
    let domain = CoordinationDomain(), url = URL(filePath: "/nowhere/file")
    func rejects(_ coordinator: FileCoordinator, _ identifier: String) async -> Bool {
      let before = coordinator.purposeIdentifier
      let code = await code { try coordinator.setPurposeIdentifier(identifier) }
      return code == .invalidPurposeIdentifier && coordinator.purposeIdentifier == before
    }
    let fresh = FileCoordinator(domain: domain)
    #expect(await rejects(fresh, ""))
    try fresh.setPurposeIdentifier("org.example.one")
    #expect(fresh.purposeIdentifier == "org.example.one")
    #expect(await rejects(fresh, "org.example.two"))
    #expect(await rejects(fresh, "org.example.one"))
    let used = FileCoordinator(domain: domain)
    try await used.read(url) { _ in }
    #expect(await rejects(used, "org.example.one"))
    #expect(await rejects(FileCoordinator(presenter: Witness(url), domain: domain), "org.example.one"))
  }

  @Test("A presenter without a URL can be registered, is asked nothing, and can be removed (C-122)")
  func presenterWithoutURL() async throws {
    let domain = CoordinationDomain(), witness = Witness(nil)
    let registration = try await domain.register(witness)
    #expect(try await domain.snapshot().presenters.map(\.path) == [nil])
    #expect(try await domain.snapshot().description.contains("(not saved yet)"))
    try await FileCoordinator(presenter: witness, domain: domain).write(URL(filePath: "/nowhere/file")) { _ in }
    try await FileCoordinator(domain: domain).write(URL(filePath: "/nowhere/file")) { _ in }
    try await domain.becomesIdle()
    #expect(witness.asked.withLock { $0 } == 0)
    registration.end()
    #expect(try await domain.snapshot().presenters.isEmpty)
  }

  @Test("An accessor that throws ends its access: its error reaches the caller, presenters reacquire, others go on")
  func accessorThrows() async throws {
    struct Mishap: Error {}
    let domain = CoordinationDomain(), witness = Witness(URL(filePath: "/nowhere/file"))
    let registration = try await domain.register(witness)
    let url = URL(filePath: "/nowhere/file")
    await #expect(throws: Mishap.self) {
      try await FileCoordinator(domain: domain).write(url, options: .forDeleting) { _ in throw Mishap() }
    }
    let blocking = await withCheckedContinuation { continuation in
      HostThread.start(name: "blocking") {
        continuation.resume(
          returning: Result { try FileCoordinator(domain: domain).blocking.read(url) { _ in throw Mishap() } })
      }
    }
    #expect(throws: Mishap.self) { try blocking.get() }
    await #expect(throws: Mishap.self) {
      try await FileCoordinator(domain: domain).update(url) { _ in throw Mishap() }
    }
    try await FileCoordinator(domain: domain).write(url) { _ in }
    try await domain.becomesIdle()
    #expect(witness.asked.withLock { $0 } == 4)
    #expect(witness.reacquired.withLock { $0 } == 4)
    withExtendedLifetime(registration) {}
  }

  // MARK: Strange files

  @Test("A tree of 10,000 nested directories can be deleted")
  func deepTree() async throws {
    try await SafeSaveScratch.with { scratch in
      let (host, name) = (scratch.host, SystemPath("n"))
      var directory = try host.open(scratch.root, at: .workingDirectory, flags: .directory, mode: 0)
      for _ in 0..<10_000 {
        try host.makeDirectory(name, at: directory, mode: 0o755)
        let inner = try host.open(name, at: directory, flags: .directory, mode: 0)
        try host.close(directory)
        directory = inner
      }
      try host.close(directory)
      try await FileCoordinator(domain: CoordinationDomain()).delete(scratch.url("n"))
      #expect(try scratch.names() == ["file"])
    }
  }

  @Test("File names that aren't UTF-8 go through every URL without loss")
  func names() async throws {
    try await SafeSaveScratch.with { scratch in
      let domain = CoordinationDomain(), coordinator = FileCoordinator(domain: domain)
      let prefix = "file://\(scratch.root)"
      let old = try #require(URL(string: "\(prefix)/%FF%FE%80%20a")),
        new = try #require(URL(string: "\(prefix)/d%C3(/%E2%82"))
      let directory = try #require(URL(string: "\(prefix)/d%C3("))
      try scratch.host.makeDirectory(
        SystemPath(bytes: scratch.root.bytes + [0x2F, 0x64, 0xC3, 0x28]), at: .workingDirectory, mode: 0o755)
      let item = Witness(old), root = Witness(URL(filePath: scratch.root.description))
      let registrations = try [item, root].map { try domain.register($0) }
      try await coordinator.replaceContents(of: old, with: SafeSaveScratch.new)
      #expect(
        try scratch.host.contents(of: SystemPath(bytes: scratch.root.bytes + [0x2F, 0xFF, 0xFE, 0x80, 0x20, 0x61]))
          == Array(SafeSaveScratch.new))
      // A reader that waits for the move is given the new name.
      let gate = LivenessGate()
      let mover = Task {
        try await coordinator.write(old, options: .forMoving, and: new, secondOptions: .forReplacing) { from, to in
          await gate.pass()
          try HostFileSystem().moveItem(
            from: SystemPath(bytes: scratch.root.bytes + [0x2F, 0xFF, 0xFE, 0x80, 0x20, 0x61]),
            to: SystemPath(bytes: scratch.root.bytes + [0x2F, 0x64, 0xC3, 0x28, 0x2F, 0xE2, 0x82]), replacing: false)
          try await from.didMove(to: to.url)
        }
      }
      await gate.arrivals(1)
      let reader = Task { try await FileCoordinator(domain: domain).read(old) { $0.url } }
      try await domain.waitUntil { $0.accesses.count == 2 }
      gate.open()
      try await mover.value
      #expect(try await reader.value.absoluteString == new.absoluteString)
      #expect(try await coordinator.contents(of: new) == SafeSaveScratch.new)
      try await coordinator.move(directory, to: try #require(URL(string: "\(prefix)/%FF")))
      try await coordinator.copy(try #require(URL(string: "\(prefix)/%FF/%E2%82")), to: scratch.url("copy"))
      #expect(try scratch.contents("copy") == SafeSaveScratch.new)
      try await domain.becomesIdle()
      #expect(item.moves.withLock { $0 } == ["to \(new.absoluteString)", "to \(prefix)/%FF/%E2%82"])
      #expect(
        root.moves.withLock { $0 } == [
          "\(old.absoluteString) to \(new.absoluteString)", "\(directory.absoluteString) to \(prefix)/%FF",
        ])
      withExtendedLifetime(registrations) {}
    }
  }

  @Test(
    "Names that mean something in a URL, a shell or Unicode are moved to and reported as they are",
    arguments: [
      "?", "#", "%41", " ", "a b", "\\", "a:b", "~", "*", ";", "&=+", "\n", "\u{7F}", "...", "é", "e\u{301}", "日本", "👩‍👩‍👧",
      "-",
      "[x]", "a|b", "\"",
    ])
  func oddNames(name: String) async throws {
    let domain = CoordinationDomain(), coordinator = FileCoordinator(domain: domain)
    let old = URL(filePath: "/nowhere/old"), new = URL(filePath: "/nowhere/\(name)", directoryHint: .notDirectory)
    let item = Witness(old), root = Witness(URL(filePath: "/nowhere"))
    let registrations = try [item, root].map { try domain.register($0) }
    try await coordinator.write(old, options: .forMoving, and: new, secondOptions: .forReplacing) { from, to in
      try from.didMove(to: to.url)
    }
    try await coordinator.read(new) { access in
      #expect(Array(access.url.path(percentEncoded: false).utf8) == Array("/nowhere/\(name)".utf8))
    }
    try await domain.becomesIdle()
    let text = try #require(item.moves.withLock { $0.first }?.dropFirst(3))
    let reported = try #require(URL(string: String(text)))
    #expect(Array(reported.path(percentEncoded: false).utf8) == Array("/nowhere/\(name)".utf8))
    #expect(root.moves.withLock { $0 } == ["\(old.absoluteString) to \(text)"])
    #expect(item.asked.withLock { $0 } == 2, "the reader at the new place asks it again")
    withExtendedLifetime(registrations) {}
  }

  // MARK: A file system that fails

  enum Verb: CaseIterable, Sendable {
    case replaceContents, update, move, moveReplacing, copy, copyReplacing, delete, contents

    func run(_ coordinator: FileCoordinator, _ scratch: SafeSaveScratch) async throws {
      let (file, other) = (scratch.file, scratch.url("other"))
      switch self {
      case .replaceContents: try await coordinator.replaceContents(of: file, with: SafeSaveScratch.new)
      case .update: try await coordinator.update(file) { $0 = SafeSaveScratch.new }
      case .move: try await coordinator.move(file, to: scratch.url("absent"))
      case .moveReplacing: try await coordinator.move(file, to: other, replacing: true)
      case .copy: try await coordinator.copy(file, to: scratch.url("absent"))
      case .copyReplacing: try await coordinator.copy(file, to: other, replacing: true)
      case .delete: try await coordinator.delete(file)
      case .contents: _ = try await coordinator.contents(of: file)
      }
    }

    /// Whether the contents of the directory are either the former ones or those that the verb should leave; never
    /// less.
    func isWhole(_ scratch: SafeSaveScratch, other: Data) throws -> Bool {
      let (old, new) = (SafeSaveScratch.old, SafeSaveScratch.new)
      let found = (
        file: try scratch.contents("file"), other: try scratch.contents("other"), absent: try scratch.contents("absent")
      )
      let isUntouched = found == (old, other, nil)
      switch self {
      case .replaceContents, .update: return isUntouched || found == (new, other, nil)
      case .move: return isUntouched || found == (nil, other, old)
      case .moveReplacing: return isUntouched || found == (nil, old, nil)
      case .copy: return isUntouched || found == (old, other, old)
      case .copyReplacing: return isUntouched || found == (old, old, nil)
      case .delete: return isUntouched || found == (nil, other, nil)
      case .contents: return isUntouched
      }
    }
  }

  /// Fails one call, once.
  private static func domain(failing number: Int, with code: Int32) -> (CoordinationDomain, ScriptedFileSystem) {
    var configuration = CoordinationDomain.Configuration()
    let door = ScriptedFileSystem { $0.number == number ? .fail(code) : .proceed }
    configuration.fileSystem = door
    return (CoordinationDomain(configuration), door)
  }

  @Test(
    "An error at any call of any verb leaves files whole, ends the access, and lets the next one work",
    arguments: Verb.allCases, [ENOSPC, EROFS, EIO])
  func faults(verb: Verb, errno: Int32) async throws {
    let other = Data("the other file".utf8)
    var number = 0, isBeyond = false
    while !isBeyond, number < 200 {
      number += 1
      isBeyond = try await SafeSaveScratch.with { scratch in
        try scratch.write("other", other)
        let witness = Witness(scratch.file)
        // The registration reads the file system too: its calls are not those that are to fail.
        let (_, trial) = Self.domain(failing: 0, with: errno)
        _ = try FileCoordinationProbe.register(Witness(scratch.file), through: trial)
        let target = trial.log.count + number
        let (domain, door) = Self.domain(failing: target, with: errno)
        let registration = try await domain.register(witness)
        var thrown: (any Error)?
        do { try await verb.run(FileCoordinator(domain: domain), scratch) } catch { thrown = error }
        try await domain.becomesIdle()
        if door.log.count < target { return true }
        let note: Comment = "\(verb), call \(number): \(String(describing: door.log.dropFirst(target - 1).first))"
        if let thrown {
          let error = try #require(thrown as? FileCoordinationError, note)
          #expect(error.code == .fileSystem, note)
          #expect((error.underlyingError as? SystemError)?.errno == errno, note)
          #expect(error.systemError?.errno == errno, note)
          #expect(error.systemError?.symbol == SystemError.symbol(of: errno), note)
          #expect(error.subjects.isEmpty == false, "\(note): \(error)")
        }
        #expect(try verb.isWhole(scratch, other: other), note)
        #expect(witness.asked.withLock { $0 } == witness.reacquired.withLock { $0 }, note)
        let hasMoved = verb == .move || verb == .moveReplacing ? try scratch.contents("file") == nil : false
        #expect(
          witness.moves.withLock { $0.count } == (hasMoved ? 1 : 0), "\(note): its presenter is notified of a move")
        // Nothing is left of it, neither in the directory nor in the domain.
        #expect(try scratch.names().allSatisfy { ["file", "other", "absent"].contains($0) }, note)
        try await FileCoordinator(domain: domain, deadlines: .within(.seconds(60)))
          .replaceContents(of: scratch.file, with: other)
        #expect(try scratch.contents("file") == other, note)
        withExtendedLifetime(registration) {}
        return false
      }
    }
    #expect(isBeyond && number > 3, "\(number) calls")
  }
}

extension BadInputTests {
  @Test("A move that is done is announced and succeeds, however badly the file system fails afterwards")
  func failureAfterMove() async throws {
    try await SafeSaveScratch.with { scratch in
      var configuration = CoordinationDomain.Configuration()
      let hasRenamed = Guarded(false)
      configuration.fileSystem = ScriptedFileSystem { call in
        if call.call == .rename { hasRenamed.withLock { $0 = true } }
        let isLooking: Set<SystemCall> = [.openWithoutSymbolicLinks, .open, .status, .readLink, .descriptorStatus]
        return hasRenamed.withLock { $0 } && isLooking.contains(call.call) ? .fail(EIO) : .proceed
      }
      let domain = CoordinationDomain(configuration), witness = Witness(scratch.file)
      let registration = try await domain.register(witness)
      try await FileCoordinator(domain: domain).move(scratch.file, to: scratch.url("moved"))
      try await domain.becomesIdle()
      #expect(witness.moves.withLock { $0 } == ["to \(scratch.url("moved").absoluteString)"])
      #expect(try scratch.names() == ["moved"])
      withExtendedLifetime(registration) {}
    }
  }
}

/// How many calls a registration makes.
private enum FileCoordinationProbe {
  static func register(_ presenter: Witness, through door: ScriptedFileSystem) throws -> FilePresenterRegistration {
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = door
    return try CoordinationDomain(configuration).register(presenter)
  }
}
