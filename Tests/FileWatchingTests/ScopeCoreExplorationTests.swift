import Glibc
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

// Without a time limit: long runs take turns.
@Suite("Every order of what programs do to a small tree and of what its index does about it")
struct ScopeCoreExplorationTests {
  /// A small tree, and the operations on it.
  struct Setting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Directories end with a slash.
    let files: [String]
    var names = ["a", "b"]
    var kinds: [ModelDisk.Happening] = [.create, .remove, .rename]
    var operationCountMax = 2
    var queueCountMax = 100
    var watchCountMax = 100
    var isSettled = true
    var fault: ModelDisk.Fault?
  }

  static let settings = [
    Setting(testDescription: "directories", files: ["a/", "b/", "a/a/"], kinds: [.remove, .rename]),
    Setting(testDescription: "files", files: ["a/", "a/a", "b"], kinds: [.create, .write, .remove, .rename]),
    Setting(testDescription: "torn renames", files: ["a/", "a/a", "b"], kinds: [.create, .remove, .tear]),
    Setting(testDescription: "exchanges", files: ["a/", "a/a/", "b/"], kinds: [.create, .exchange]),
    Setting(testDescription: "links", files: ["a/", "a/a"], kinds: [.remove, .link]),
    Setting(
      testDescription: "lost events", files: ["a/", "a/a"], kinds: [.create, .remove, .rename], queueCountMax: 1),
    Setting(
      testDescription: "three things", files: ["a/", "b"], names: ["a", "b"], kinds: [.remove, .rename],
      operationCountMax: 3),
  ]

  /// For long runs.
  static let large = [
    Setting(testDescription: "a first search", files: ["a/", "a/a"], isSettled: false),
    Setting(
      testDescription: "no watches left", files: ["a/", "b/", "a/a/"], kinds: [.rename], watchCountMax: 3),
  ]

  @Test(
    "L17: when everything is quiet the index is the tree, and nothing goes on for ever",
    arguments: Budget.isLong ? settings + large : settings)
  func everyOrder(setting: Setting) async {
    let start = HostClock.shared.now
    let explorer = await LongRun.run { () -> ScopeExplorer in
      let explorer = ScopeExplorer(setting)
      explorer.explore()
      return explorer
    }
    let duration = start.duration(to: HostClock.shared.now)
    print(
      "\(explorer.count) states of an index, \(explorer.quietCount) of them quiet, \(duration): \(setting.testDescription)"
    )
    #expect(explorer.violation == nil)
    #expect(explorer.quietCount > 10)
  }

  static let faults: [Setting] = [
    Setting(testDescription: "a watch after reading", files: ["a/"], isSettled: false, fault: .watchesLate),
    Setting(testDescription: "creations that aren't told", files: ["a/"], kinds: [.create], fault: .losesCreations),
    Setting(
      testDescription: "first halves of renames that aren't told", files: ["a/", "b/"], kinds: [.rename],
      fault: .losesDepartures),
    Setting(
      testDescription: "second halves of renames that aren't told", files: ["a/", "b/"], kinds: [.rename],
      fault: .losesArrivals),
    Setting(
      testDescription: "lost events that aren't told", files: ["a/"], kinds: [.create, .rename], queueCountMax: 1,
      fault: .losesOverflows),
    Setting(testDescription: "writes that aren't told", files: ["a"], kinds: [.write], fault: .losesChanges),
  ]

  @Test("A mistake that's built in on purpose is found", arguments: faults)
  func fault(setting: Setting) async {
    let violation = await LongRun.run { () -> String? in
      let explorer = ScopeExplorer(setting)
      explorer.explore()
      return explorer.violation
    }
    #expect(violation != nil)
  }
}

/// Visits all possible sequences of steps, and each state once.
private final class ScopeExplorer: @unchecked Sendable {
  private struct State {
    var core: ScopeCore
    var disk: ModelDisk
    var operationCount = 0
    var isReading = false
    /// Everything that isn't watched has been polled since the last operation.
    var isPolled = false
    /// The number of steps in a row that were steps of the index only.
    var stepCount = 0
    var trail: [String] = []
  }

  /// After so many steps since the last operation the index has to be quiet.
  private static let stepCountMax = 600

  private let setting: ScopeCoreExplorationTests.Setting
  private var seen: Set<Int> = []
  private(set) var violation: String?
  private(set) var quietCount = 0
  var count: Int { seen.count }

  init(_ setting: ScopeCoreExplorationTests.Setting) { self.setting = setting }

  func explore() {
    var state = State(core: ScopeCore(options: ScopeOptions(), mounts: []), disk: disk())
    state.core.addRoot(SystemPath("/r"))
    if setting.isSettled {
      while let next = step(state, []) { state = next.state }
    }
    state.disk.fault = setting.fault
    state.trail = []
    var waiting = [state]
    while let state = waiting.popLast(), violation == nil {
      for next in followers(of: state) where seen.insert(key(next)).inserted { waiting.append(next) }
    }
  }

  private func disk() -> ModelDisk {
    var disk = ModelDisk()
    disk.make(setting.files)
    disk.queueCountMax = setting.queueCountMax
    disk.watchCountMax = setting.watchCountMax
    return disk
  }

  // MARK: Possible next steps

  private func followers(of state: State) -> [State] {
    var followers: [State] = []
    let operations =
      state.operationCount < setting.operationCountMax ? state.disk.operations(setting.kinds, names: setting.names) : []
    for operation in operations {
      var next = state
      next.disk.perform(operation)
      next.operationCount += 1
      next.isPolled = false
      next.stepCount = 0
      next.trail.append("\(operation)")
      followers.append(next)
    }
    guard let plain = step(state, []) else {
      quietCount += 1
      checkQuiet(state)
      return followers
    }
    followers.append(plain.state)
    // The same while an operation occurs in the middle.
    for call in 1..<max(1, plain.callCount) {
      for operation in operations {
        guard var next = step(state, [(call, operation)])?.state else { continue }
        next.operationCount += 1
        next.isPolled = false
        next.stepCount = 0
        next.trail[next.trail.count - 1] += " with \(operation) before call \(call)"
        followers.append(next)
      }
    }
    return followers
  }

  /// Lets the index do one step; `nil` if it has nothing to do.
  private func step(
    _ former: State, _ plan: [(call: Int, operation: ModelDisk.Operation)]
  ) -> (state: State, callCount: Int)? {
    var state = former
    let system = ModelSystem(state.disk, plan)
    let hands = ScopeHands(files: system, watcher: system, yield: { _ in })
    if let order = state.core.next() {
      state.trail.append("\(order)")
      state.core.take(hands.carryOut(order))
    } else if state.core.isBehind {
      state.trail.append("read again")
      state.core.readAgain()
    } else if state.isReading, let order = nextRead(&state) {
      state.trail.append("read \(order.path)")
      take(hands.reader.read(order), &state)
    } else if state.core.hasWork || !state.disk.queue.isEmpty || !state.disk.late.isEmpty || !state.isReading {
      state.trail.append("turn")
      state.core.beginTurn()
      state.isReading = true
    } else if state.core.needsPolling, !state.isPolled {
      state.trail.append("poll")
      state.core.poll()
      state.isPolled = true
    } else {
      return nil
    }
    state.disk = system.disk
    state.stepCount += 1
    if state.stepCount > Self.stepCountMax, violation == nil {
      violation = "it goes on for ever: \(state.trail.suffix(40))"
    }
    return (state, system.callCount)
  }

  private func nextRead(_ state: inout State) -> ReadOrder? {
    while let step = state.core.nextRead() {
      switch step {
      case .read(let order): return order
      case .reserveWatch: state.core.grantWatches(1000)
      }
    }
    return nil
  }

  private func take(_ found: (reading: DirectoryReading, rest: FileDescriptor?), _ state: inout State) {
    if let reading = state.core.take(found.reading) { state.core.end(reading, nil) }
  }

  // MARK: The properties

  private func checkQuiet(_ state: State) {
    if violation != nil { return }
    let table = state.core.index.table
    var found: [SystemPath: FileFacts] = [:]
    for root in table.roots {
      table.forEach(in: root) { found[table.path(of: $0)] = known(table.facts(of: $0), state) }
    }
    let expected = state.disk.contents.mapValues { known(FileFacts($0), state) }
    if found != expected {
      let paths = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }.sorted()
      let details = paths.map {
        "\($0): \(found[$0].map { "\($0)" } ?? "-") for \(expected[$0].map { "\($0)" } ?? "-")"
      }
      violation = "\(details) after \(state.trail)"
    } else if !state.core.index.violations.isEmpty {
      violation = "\(state.core.index.violations) after \(state.trail)"
    } else if setting.watchCountMax >= 100, state.core.needsPolling {
      violation = "something is polled for ever after \(state.trail)"
    } else if setting.watchCountMax >= 100, let watch = strayWatch(state) {
      violation = "\(watch) is watched for nothing after \(state.trail)"
    } else if !state.core.departures.isEmpty {
      violation = "something is on its way for ever after \(state.trail)"
    }
  }

  /// Of files that have had several names it may be unknown how many they have.
  private func known(_ facts: FileFacts, _ state: State) -> FileFacts {
    var facts = facts
    if state.disk.linked.contains(Int(facts.identity.inode)) {
      facts.changeTime = 0
      facts.modificationTime = 0
      facts.isLinked = false
    }
    return facts
  }

  /// A directory that's watched although it isn't in the index, or on the way to it.
  private func strayWatch(_ state: State) -> Int? {
    let known = Set(state.core.index.table.numbers.map { Int(state.core.index.table.inode(of: $0)) })
    return state.disk.watches.keys.first { $0 != ModelDisk.root && !known.contains($0) }
  }

  /// All that the future depends on.
  private func key(_ state: State) -> Int {
    var hasher = Hasher()
    hasher.combine(state.disk)
    hasher.combine(state.operationCount)
    hasher.combine(state.isReading)
    hasher.combine(state.isPolled)
    state.core.hashState(into: &hasher)
    return hasher.finalize()
  }
}

extension ScopeCore {
  fileprivate func hashState(into hasher: inout Hasher) {
    let table = index.table
    for number in table.numbers where table.contains(number) {
      hasher.combine(number)
      hasher.combine(table.path(of: number))
      hasher.combine(table.facts(of: number))
    }
    hasher.combine(looks.names)
    hasher.combine(departures)
    hasher.combine(misplaced)
    for set in [polled, Set(unreadable.keys), doubles, refilled] { hasher.combine(set) }
    for set in [uncertainRoots, alteredRoots, blindRoots] { hasher.combine(set) }
    hasher.combine(unmatchedLinks)
    hasher.combine(isBehind)
    for root in roots {
      hasher.combine(root.number)
      hasher.combine(root.isBehindLink)
    }
    for number in table.numbers {
      hasher.combine(watches[number]?.rawValue)
      hasher.combine(watches.isSure(number))
      hasher.combine(ties.contains(watches[number] ?? WatchID(0)))
    }
    hasher.combine(agenda)
    hasher.combine(turn)
    var rest = queue
    while let directory = rest.pop() { hasher.combine(directory) }
    rest = refills
    while let directory = rest.pop() { hasher.combine(directory) }
  }
}
