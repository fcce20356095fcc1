import FileCoordination
import FoundationEssentials

/// Plays all scenes, and says whether everything was as they claim.
struct Tour {
  /// A scene takes milliseconds; one that takes this long hangs.
  static let sceneDuration = Duration.seconds(10)

  private let terminal: Terminal
  private let narrator: Narrator

  init(_ terminal: Terminal) {
    self.terminal = terminal
    narrator = Narrator(terminal)
  }

  func run() async -> ExitCode {
    let start = ContinuousClock.now
    let directory: TemporaryDirectory
    do {
      directory = try TemporaryDirectory()
    } catch {
      Terminal.error.write("filecoord: \(error)\n")
      return .failure
    }
    introduce(directory)
    for (index, scene) in Scene.all.enumerated() { await play(scene, index + 1, directory) }
    narrator.heading("The end")
    narrator.claim("The tour's directory is gone again.", directory.remove())
    return conclude(start.duration(to: .now))
  }

  private func introduce(_ directory: TemporaryDirectory) {
    narrator.heading("A tour of file coordination")
    narrator.explain(
      """
      Several parts of a program share files. Each requests access before it reads or writes a file, and waits for \
      conflicting accesses. An editor that shows the file is asked first and notified afterwards.
      """)
    narrator.explain("The files are real, below \(directory.url.path). A ✓ was checked while you read.")
  }

  private func conclude(_ duration: Duration) -> ExitCode {
    let milliseconds = duration / .milliseconds(1)
    let failures = narrator.failureCount
    let result =
      failures == 0
      ? terminal.styled("all as claimed", .good) : terminal.styled("\(failures) not as claimed", .bad)
    terminal.write("\n\(narrator.claimCount) checks, \(result), in \(Int(milliseconds)) ms.\n")
    return failures == 0 ? .success : .failure
  }

  private func play(_ scene: Scene, _ number: Int, _ directory: TemporaryDirectory) async {
    narrator.heading("\(number). \(scene.title)")
    do {
      let stage = Stage(try directory.makeDirectory("scene-\(number)"), narrator)
      if try await !finishes(scene, stage) {
        narrator.claim("The scene ends within \(Self.sceneDuration). This is where it stands:", false)
        narrator.quote(try await stage.domain.snapshot().description)
      }
    } catch {
      narrator.claim("The scene plays without an unexpected error. It met: \(error)", false)
    }
  }

  /// - Returns: Whether the scene ended in time.
  private func finishes(_ scene: Scene, _ stage: Stage) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await scene.play(stage)
        return !Task.isCancelled
      }
      group.addTask {
        try? await Task.sleep(for: Self.sceneDuration)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }
}
