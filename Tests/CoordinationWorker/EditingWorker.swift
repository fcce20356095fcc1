import FileCoordination
import Foundation
import Glibc
import SeededRandom
import Synchronization

/// A process in which two users type into the guide's editors of one file, and other code uses that file as well.
///
/// Everything typed is a word of its own, so that it can be found wherever it ends up.
enum EditingWorker {
  /// Called as `edit SOCKET FILE SEED STEPS`.
  static func main(_ arguments: [String]) throws {
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let stepCount = Int(arguments[3]) else {
      throw CocoaError(.coderInvalidValue)
    }
    let session = try EditingSession(
      URL(filePath: arguments[1]), in: .socket(arguments[0]), seed: seed, stepCount: stepCount)
    let ended = DispatchSemaphore(value: 0)
    Task {
      do { try await session.run() } catch { Worker.report("failed: \(error)") }
      ended.signal()
    }
    ended.wait()
  }
}

/// The work of such a process.
private struct EditingSession {
  private let domain: CoordinationDomain
  private let file: URL
  private let editors: [NoteEditor]
  private let seed: UInt64
  private let stepCount: Int
  private let tally = Tally()

  /// How often an access was made that lets editors save.
  private final class Tally: Sendable {
    let saves = Atomic<Int>(0)
    let reads = Atomic<Int>(0)
  }

  init(_ file: URL, in domain: CoordinationDomain, seed: UInt64, stepCount: Int) throws {
    self.domain = domain
    self.file = file
    self.seed = seed
    self.stepCount = stepCount
    editors = [NoteEditor(file, in: domain), NoteEditor(file, in: domain)]
  }

  func run() async throws {
    var registrations: [FilePresenterRegistration] = []
    for editor in editors { registrations.append(try await editor.open()) }
    Worker.report("open")
    _ = readLine()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in editors.indices { group.addTask { try await type(into: index) } }
      group.addTask { try await useAsStranger() }
      try await group.waitForAll()
    }
    Worker.report("typed")
    _ = readLine()
    for editor in editors { try await save(editor) }
    Worker.report("saved \(tally.saves.load(ordering: .relaxed)) \(tally.reads.load(ordering: .relaxed))")
    _ = readLine()
    for registration in registrations { registration.end() }
  }

  private func random(_ actor: UInt64) -> SplitMix { SplitMix(seed: seed &* 8 &+ actor) }

  /// The words that all steps of an editor type.
  static func words(seed: UInt64, stepCount: Int) -> [String] {
    (0..<2).flatMap { editor in (0..<stepCount).map { word(seed, editor, $0) } }
  }

  private static func word(_ seed: UInt64, _ editor: Int, _ step: Int) -> String { "<\(seed).\(editor).\(step)>" }

  private func type(into index: Int) async throws {
    var random = random(UInt64(index))
    for step in 0..<stepCount {
      await editors[index].append(Self.word(seed, index, step))
      if random.chance(1, in: 3) { try await save(editors[index]) }
      if random.chance(1, in: 2) { await Task.yield() }
    }
  }

  private func save(_ editor: NoteEditor) async throws {
    tally.saves.wrappingAdd(1, ordering: .relaxed)
    try await editor.save()
  }

  private func useAsStranger() async throws {
    var random = random(2)
    let coordinator = FileCoordinator(label: "stranger", domain: domain)
    for step in 0..<stepCount {
      let url = random.pick(editors).presentedItemURL ?? file
      do {
        switch random.below(8) {
        case 0:
          let place = file.deletingLastPathComponent().appending(path: "note-\(seed)-\(step).txt")
          try await coordinator.move(url, to: place)
        case 1:
          // Refused while an editor has unsaved text. A process that may delete refrains from it.
          try await coordinator.write(url, options: .forDeleting) { _ in }
        default:
          tally.reads.wrappingAdd(1, ordering: .relaxed)
          _ = try await coordinator.contents(of: url)
        }
      } catch let error as FileCoordinationError where error.systemError?.errno == ENOENT {
        // The other process has moved it, and the editor hasn't heard of it yet.
      } catch let error as FileCoordinationError where error.underlyingError is UnsavedText {
      } catch let error as FileCoordinationError where "\(error)".contains("UnsavedText") {
        // The editor of the other process.
      }
    }
  }
}

/// The words that a process types when it runs with such arguments.
package func typedWords(seed: UInt64, stepCount: Int) -> [String] {
  EditingSession.words(seed: seed, stepCount: stepCount)
}
