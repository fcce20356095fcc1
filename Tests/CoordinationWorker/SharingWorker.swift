import FileCoordination
import Foundation
import SeededRandom
import Synchronization

/// A process that reads and writes files of a directory through the library.
struct SharingWorker {
  /// The additional behaviour of some workers.
  private enum Trait: String {
    /// Presents a file.
    case presents
    /// Is short of descriptors now and then.
    case starves
  }

  /// The phases of the test: first files are accessed, then nothing is, then the process ends.
  private enum Phase: Int {
    case sharing, quiet, ending
  }

  private static let phase = Atomic<Int>(Phase.sharing.rawValue)
  private static let phaseChanged = DispatchSemaphore(value: 0)

  private let directory: URL
  private let log: HoldLog
  private let domain: CoordinationDomain
  private let coordinator: FileCoordinator
  private let traits: Set<Trait>
  private var random: SplitMix
  private var descriptors = ScarceDescriptors()
  private var isStarving = false

  /// Called as `share SOCKET DIRECTORY LOG SEED TRAITS`.
  static func main(_ arguments: [String]) throws {
    guard arguments.count == 5 else { throw CocoaError(.coderInvalidValue) }
    var worker = try SharingWorker(arguments)
    Thread.detachNewThread {
      if readLine() != nil { enter(.quiet) }
      while readLine() != nil {}
      enter(.ending)
    }
    let registration = try worker.present()
    while phase.load(ordering: .acquiring) == Phase.sharing.rawValue { worker.step() }
    worker.log.append(.quiet, item: 0)
    while phase.load(ordering: .acquiring) != Phase.ending.rawValue { phaseChanged.wait() }
    registration?.end()
  }

  private static func enter(_ newPhase: Phase) {
    phase.store(newPhase.rawValue, ordering: .releasing)
    phaseChanged.signal()
  }

  private init(_ arguments: [String]) throws {
    domain = CoordinationDomain.socket(arguments[0])
    directory = URL(filePath: arguments[1], directoryHint: .isDirectory)
    log = try HoldLog(path: arguments[2])
    random = SplitMix(seed: UInt64(arguments[3]) ?? 0)
    traits = Set(arguments[4].split(separator: ",").compactMap { Trait(rawValue: String($0)) })
    coordinator = FileCoordinator(label: "worker \(arguments[3])", domain: domain)
  }

  /// Begins to present a file, inside a write of it: so no other process holds it when the presenter is registered.
  private mutating func present() throws -> FilePresenterRegistration? {
    if !traits.contains(.presents) { return nil }
    let item = random.below(HoldItems.files.count)
    let url = HoldItems.url(of: item, in: directory)
    let presenter = ItemPresenter(item, at: url, log, domain)
    presenters.append(presenter)
    return try coordinator.blocking.write(url) { _ in
      let registration = try domain.register(presenter)
      log.append(.presents, item: item)
      return registration
    }
  }

  /// Keeps the registered presenters alive.
  private var presenters: [ItemPresenter] = []

  private mutating func step() {
    if traits.contains(.starves), random.below(40) == 0 {
      descriptors.exhaust()
      isStarving = true
    }
    defer {
      if isStarving { descriptors.release() }
      isStarving = false
    }
    // Rounds at one file, so that directories are delegated.
    let item = random.below(HoldItems.files.count)
    let rounds = 1 + random.below(8)
    for _ in 0..<rounds {
      do {
        switch random.below(10) {
        case 0: try holdDirectory(HoldItems.directory(of: item))
        case 1..<5: try write(item)
        default: try read(item)
        }
      } catch {
        if isStarving, "\(error)".contains("EMFILE") { continue }
        log.append(.failed, item: item)
        FileHandle.standardError.write(Data("\(error)\n".utf8))
      }
    }
  }

  private mutating func read(_ item: Int) throws {
    let isLooking = random.below(50) == 0
    try coordinator.blocking.read(HoldItems.url(of: item, in: directory)) { access in
      log.append(.beganReading, item: item)
      if isLooking { try? lookAround(access) }
      CheckedFile(url: access.url, item: item, log: log).check()
      log.append(.ended, item: item)
    }
  }

  /// All ways to write in place.
  private mutating func write(_ item: Int) throws {
    let options: FileCoordinator.WritingOptions = random.pick([[], [], .forMerging, .contentIndependentMetadataOnly])
    let isLooking = random.below(50) == 0
    try coordinator.blocking.write(HoldItems.url(of: item, in: directory), options: options) { access in
      log.append(.beganWriting, item: item)
      if isLooking { try? lookAround(access) }
      CheckedFile(url: access.url, item: item, log: log).increment()
      log.append(.ended, item: item)
    }
  }

  /// Reports the access to the service, also if this process has a delegation of the directory.
  private func lookAround(_ access: borrowing FileAccess) throws {
    _ = access.fencingToken
    _ = try domain.processes()
  }

  /// Claims everything inside a directory.
  private func holdDirectory(_ item: Int) throws {
    try coordinator.blocking.write(HoldItems.url(of: item, in: directory), options: .forMoving) { _ in
      log.append(.beganWriting, item: item)
      sched_yield()
      log.append(.ended, item: item)
    }
  }
}
