import FileCoordination
import Foundation
import Synchronization

extension Suite {
  static let claimsScale = Suite(
    name: "claims/scale", summary: "claims while a million presenters and claims are elsewhere, and their memory (T-6)"
  ) { laboratory, report in
    let domain = CoordinationDomain()
    report.results += try laboratory.measure(cells("empty", "nobody else in the domain", laboratory, domain))
    let crowd = try Crowd(laboratory)
    let presenters = try crowd.registerPresenters(in: domain)
    let claims = try crowd.holdClaims(in: domain)
    let count = format(Double(laboratory.settings.presenterCount))
    let claimCount = format(Double(crowd.claimCount))
    report.results += try laboratory.measure(
      cells("crowded", "\(count) presenters and \(claimCount) claims elsewhere", laboratory, domain))
    let returned = try crowd.release()
    report.results += memoryRows(presenters: presenters, claims: claims, returned)
    report.targets += costTargets(report)
    report.targets += memoryTargets(report, returned: returned)
  }

  private static func cells(
    _ name: String, _ group: String, _ laboratory: Laboratory, _ domain: CoordinationDomain
  ) -> [Cell] {
    let tree = laboratory.tree
    let contenders = [
      Contender("by-handle", "by handle", isOurs: true, scenarios: Scenario.alone) { _, item in
        try HandleWorker(tree.paths[item], domain)
      },
      Contender("by-url", "by URL", isOurs: true, scenarios: Scenario.alone) { _, item in
        URLWorker(tree.paths[item], domain)
      },
    ]
    return contenders.flatMap { $0.cells(suite: "claims/scale/\(name)", group: group) }
  }

  private static func memoryRows(
    presenters: MemoryGrowth, claims: MemoryGrowth, _ returned: Returned
  ) -> [ResultRow] {
    let group = "memory, as the kernel counts it and as malloc does"
    func row(_ id: String, _ subject: String, _ value: Double, unit: String = "bytes") -> ResultRow {
      ResultRow(
        id: "claims/scale/memory/\(id)", group: group, subject: subject, unit: unit, isOurs: true,
        isPlotted: false, measurement: Measurement(samples: [value]))
    }
    return [
      row("presenter", "for each registered presenter", presenters.anonymous),
      row("presenter-malloc", "the same, from malloc", presenters.allocated),
      row("claim", "for each held claim", claims.anonymous),
      row("claim-malloc", "the same, from malloc", claims.allocated),
      row("returned", "returned to the kernel after release", 100 * returned.anonymous, unit: "%"),
      row("returned-malloc", "the same, to malloc", 100 * returned.allocated, unit: "%"),
    ]
  }

  private static func costTargets(_ report: Report) -> [TargetLine] {
    ["by-handle", "by-url"].flatMap { form in
      [Scenario.read, .write].map { scenario in
        let verb = scenario == .read ? "read" : "write"
        let name = form == "by-handle" ? "by handle" : "by URL"
        let ratio = report.speed(
          "claims/scale/empty/\(scenario.id)/\(form)", comparedWith: "claims/scale/crowded/\(scenario.id)/\(form)")
        return TargetLine(
          "T-6 \(verb) \(name)", "\(verb) \(name) in a crowded domain, time of an empty one", ratio: ratio,
          target: 1.2, higherIsBetter: false)
      }
    }
  }

  private static func memoryTargets(_ report: Report, returned: Returned) -> [TargetLine] {
    [
      TargetLine(
        "T-6 presenter", "memory for each idle presenter beyond itself",
        ratio: report.median("claims/scale/memory/presenter"), target: 400, higherIsBetter: false, unit: " B"),
      TargetLine(
        "T-6 claim", "memory for each held claim", ratio: report.median("claims/scale/memory/claim"), target: 300,
        higherIsBetter: false, unit: " B"),
      TargetLine(
        "T-6 returned", "share of that memory that returns after release", ratio: returned.allocated, target: 0.95),
    ]
  }
}

/// Bytes for each of many things.
private struct MemoryGrowth {
  let anonymous: Double
  let allocated: Double

  init(from earlier: MemoryUse, to later: MemoryUse, count: Int) {
    anonymous = (later.anonymous - earlier.anonymous) / Double(count)
    allocated = (later.allocated - earlier.allocated) / Double(count)
  }
}

/// Memory that is to be returned, in bytes, or the returned share of it: to malloc, which counts the bytes that it has
/// handed out, and to the kernel, which gets only whole free pages.
private struct Returned {
  var allocated: Double
  var anonymous: Double

  mutating func add(from earlier: MemoryUse, to later: MemoryUse) {
    allocated += later.allocated - earlier.allocated
    anonymous += later.anonymous - earlier.anonymous
  }
}

/// Presenters and claims of items that aren't measured.
///
/// The objects of the owners, the presenters and intents themselves, are there before memory is measured, so that the
/// difference is ours. In the end they go as well: the bytes that malloc still counts then are those that we kept.
private final class Crowd {
  private static let directoryCount = 1_000

  private let settings: Settings
  private let directory: String
  private var presenters: [IdlePresenter] = []
  private var registrations: [FilePresenterRegistration?] = []
  private var holders: [ClaimHolder] = []
  private let progress: @Sendable (String) -> Void
  /// The memory of the process without all of it.
  private var atFirst: MemoryUse?
  private var measured = Returned(allocated: 0, anonymous: 0)

  var claimCount: Int { settings.bulkRequestCount * settings.bulkClaimCount }

  /// Makes real directories for them.
  ///
  /// The files in them don't exist, which is no matter to a claim.
  init(_ laboratory: Laboratory) throws {
    settings = laboratory.settings
    progress = laboratory.progress
    directory = laboratory.tree.root + "/Elsewhere"
    for kind in ["Presented", "Claimed"] {
      for number in 0..<Self.directoryCount {
        try FileManager.default.createDirectory(
          atPath: "\(directory)/\(kind)/\(number)", withIntermediateDirectories: true)
      }
    }
  }

  func registerPresenters(in domain: CoordinationDomain) throws -> MemoryGrowth {
    let count = settings.presenterCount
    atFirst = MemoryUse.now()
    progress("registering \(count) presenters")
    presenters = (0..<count).map { IdlePresenter(path("Presented", $0)) }
    registrations = Array(repeating: nil, count: count)
    let before = MemoryUse.now()
    for index in presenters.indices { registrations[index] = try domain.register(presenters[index]) }
    let after = MemoryUse.now()
    measured.add(from: before, to: after)
    return MemoryGrowth(from: before, to: after, count: count)
  }

  func holdClaims(in domain: CoordinationDomain) throws -> MemoryGrowth {
    progress("holding \(claimCount) claims")
    holders = (0..<settings.bulkRequestCount).map { request in
      ClaimHolder(
        (0..<settings.bulkClaimCount).map { index in
          let url = fileURL(path("Claimed", request * settings.bulkClaimCount + index))
          return index % 2 == 0 ? .reading(url) : .writing(url)
        }, domain)
    }
    let before = MemoryUse.now()
    for holder in holders { try holder.hold() }
    let after = MemoryUse.now()
    measured.add(from: before, to: after)
    return MemoryGrowth(from: before, to: after, count: claimCount)
  }

  /// Ends everything.
  ///
  /// - Returns: The shares of the memory that are free again.
  func release() throws -> Returned {
    progress("releasing everything")
    for holder in holders { try holder.release() }
    for index in registrations.indices {
      registrations[index]?.end()
      registrations[index] = nil
    }
    (presenters, registrations, holders) = ([], [], [])
    guard let atFirst else { preconditionFailure("nobody was registered") }
    let now = MemoryUse.now()
    return Returned(
      allocated: 1 - (now.allocated - atFirst.allocated) / measured.allocated,
      anonymous: 1 - (now.anonymous - atFirst.anonymous) / measured.anonymous)
  }

  private func path(_ kind: String, _ index: Int) -> String {
    "\(directory)/\(kind)/\(index % Self.directoryCount)/Item-\(index).txt"
  }
}

/// Says where it is, and is never asked.
private final class IdlePresenter: FilePresenter {
  private let path: String
  let presentedItemCallbacks = FilePresenterCallbacks.all

  init(_ path: String) { self.path = path }

  var presentedItemURL: URL? { fileURL(path) }
}

/// A thread that holds one request of many claims until its owner ends it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `failure` | its mutex | the thread writes it, the owner reads it |
private final class ClaimHolder: Sendable {
  private let intents: [FileAccessIntent]
  private let domain: CoordinationDomain
  private let isHeld = DispatchSemaphore(value: 0)
  private let mayEnd = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)

  init(_ intents: [FileAccessIntent], _ domain: CoordinationDomain) {
    self.intents = intents
    self.domain = domain
  }

  func hold() throws {
    let thread = Thread { [self] in
      do {
        try FileCoordinator(label: "crowd", domain: domain).blocking.coordinate(intents) { _ in
          isHeld.signal()
          mayEnd.wait()
        }
      } catch {
        failure.withLock { $0 = error }
        isHeld.signal()
      }
      hasEnded.signal()
    }
    thread.start()
    isHeld.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  func release() throws {
    mayEnd.signal()
    hasEnded.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
