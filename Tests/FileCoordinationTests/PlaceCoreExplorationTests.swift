import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import FileCoordination

// Without a time limit: long runs take turns.
@Suite("Every order of what programs do to the way to a place and of what its cache does about it")
struct PlaceCoreExplorationTests {
  /// A small tree, the paths that are requested, and the operations on the tree.
  struct Setting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Directories end with a slash; the target of a link follows its name.
    let files: [String]
    let paths: [String]
    var names = ["a", "b"]
    var kinds: [NameDisk.Kind] = [.rename, .retarget]
    /// Operations also concern names inside the directories of the root.
    var isDeep = false
    var operationCountMax = 2
    var requestCountMax = 2
    var isTorn = false
    var queueCountMax = 100
    /// As many watches the kernel has.
    var kernelWatchCountMax = 100
    var watchCountMax = 100
    var placeCountMax = 100
    /// The library moves something, as one of the operations.
    var movesByLibrary = false
    /// Readers ask for places that are known.
    var isRead = false
    var fault: PlaceWorld.Fault?
  }

  static let link = ["a/", "b/", "l>/a"]
  static let linkedPaths = ["/l/x", "/a/x"]

  static let settings: [Setting] = [
    Setting(
      testDescription: "links that come and go", files: ["a/", "b>/a"], paths: ["/a/b", "/b/a"],
      kinds: [.link, .remove, .retarget]),
    Setting(
      testDescription: "directories above", files: ["a/", "a/m>../b", "b/"], paths: ["/a/m/x", "/a/../b"],
      kinds: [.rename, .remove]),
    Setting(
      testDescription: "directories that may not be searched", files: ["a/", "a/b/", "l>/a"], paths: ["/l/b", "/a/b"],
      kinds: [.close, .rename]),
    Setting(
      testDescription: "mounts", files: link, paths: linkedPaths, kinds: [.mount, .retarget]),
    Setting(
      testDescription: "no watches left", files: ["a/", "a/b/", "b/"], paths: ["/a/b/x", "/b/x"], kinds: [.rename],
      kernelWatchCountMax: 2),
    Setting(
      testDescription: "moves by the library", files: link, paths: linkedPaths, kinds: [.retarget],
      movesByLibrary: true),
  ]

  /// For long runs: up to half a minute each in a debug build.
  static let large: [Setting] = [
    Setting(testDescription: "a link and its target", files: link, paths: linkedPaths),
    Setting(
      testDescription: "names that come and go", files: ["a/", "a/b/"], paths: ["/a/b"],
      kinds: [.make, .remove, .rename], isDeep: true),
    Setting(
      testDescription: "operations that return late", files: link, paths: linkedPaths, isTorn: true),
    Setting(
      testDescription: "lost changes", files: link, paths: linkedPaths, queueCountMax: 1),
    Setting(
      testDescription: "watches that end", files: ["a/", "a/b/", "l>/a"], paths: ["/l/b", "/a/b"],
      kinds: [.endWatch, .rename], isDeep: true),
    Setting(
      testDescription: "room for one place", files: link, paths: linkedPaths, kinds: [.retarget, .rename],
      requestCountMax: 3, placeCountMax: 1, isRead: true),
    Setting(
      testDescription: "names that come and go on two paths", files: ["a/", "a/b/"], paths: ["/a/b", "/b/a"],
      kinds: [.make, .remove, .rename], isDeep: true),
    Setting(
      testDescription: "room for few watches", files: ["a/", "b/"], paths: ["/a/x", "/b/x"], kinds: [.make, .rename],
      requestCountMax: 3, watchCountMax: 2, isRead: true),
    Setting(
      testDescription: "three operations, three requests", files: link, paths: linkedPaths, operationCountMax: 3,
      requestCountMax: 3),
    Setting(
      testDescription: "three operations that return late", files: link, paths: linkedPaths, operationCountMax: 3,
      isTorn: true),
    Setting(
      testDescription: "three lost changes", files: link, paths: linkedPaths, operationCountMax: 3, requestCountMax: 3,
      queueCountMax: 1),
  ]

  /// For `FILE_COORDINATION_SEEDS=all`: two million states.
  static let largest: [Setting] = [
    Setting(
      testDescription: "three names that come and go", files: ["a/", "a/b/"], paths: ["/a/b", "/b/a"],
      kinds: [.make, .remove, .rename], isDeep: true, operationCountMax: 3)
  ]

  @Test(
    "A place that a reader trusts leads where the system leads, and nothing is kept for nothing",
    arguments: settings + (Budget.isLong ? large : []) + (Budget.isComplete ? largest : []))
  func everyOrder(setting: Setting) async {
    let start = HostClock.shared.now
    let explorer = await LongRun.run { () -> PlaceExplorer in
      let explorer = PlaceExplorer(setting)
      explorer.explore()
      return explorer
    }
    let duration = start.duration(to: HostClock.shared.now)
    print(
      "\(explorer.count) states of places, \(explorer.quietCount) of them quiet, \(duration): \(setting.testDescription)"
    )
    #expect(explorer.violation == nil)
    #expect(explorer.quietCount > 10 && explorer.answerCount > 10)
  }

  /// A move by the library during an attempt is among the changes in the queue as well: to ignore it alone is no mistake.
  static let faults: [Setting] = [
    Setting(
      testDescription: "a look before the watch", files: link, paths: linkedPaths, fault: .looksBeforeWatching),
    Setting(
      testDescription: "places that are registered too late", files: link, paths: linkedPaths, fault: .registersLate),
    Setting(testDescription: "no mark of changes", files: link, paths: linkedPaths, fault: .marksNothingStale),
    Setting(
      testDescription: "no mark when there's no room", files: link, paths: linkedPaths, placeCountMax: 1,
      fault: .marksNothingUnwatched),
    Setting(testDescription: "watches that aren't ended", files: link, paths: linkedPaths, fault: .keepsWatches),
    Setting(
      testDescription: "ends of watches that are ignored", files: ["a/", "a/b/"], paths: ["/a/b"],
      kinds: [.endWatch, .rename], isDeep: true, fault: .keepsWatchesThatEnded),
    Setting(
      testDescription: "losses that are ignored", files: link, paths: linkedPaths, queueCountMax: 1,
      fault: .ignoresLosses),
    Setting(testDescription: "changes that are marked late", files: link, paths: linkedPaths, fault: .endsEarly),
    Setting(
      testDescription: "marks of the library that are ignored", files: link, paths: linkedPaths, kinds: [],
      movesByLibrary: true, fault: .ignoresMarksOfTheLibrary),
    Setting(
      testDescription: "places that never make room", files: link, paths: linkedPaths, placeCountMax: 1,
      fault: .takesEverythingForUsed),
    Setting(testDescription: "links that aren't seen", files: link, paths: linkedPaths, kinds: [], fault: .seesNoLinks),
  ]

  @Test("A deliberate mistake is found", arguments: faults)
  func fault(setting: Setting) async {
    let violation = await LongRun.run { () -> String? in
      let explorer = PlaceExplorer(setting)
      explorer.explore()
      return explorer.violation
    }
    #expect(violation != nil)
  }

  @Test("A copy of a core is independent")
  func copies() throws {
    var disk = NameDisk()
    disk.make(Self.link)
    var first = PlaceWorld(disk, ResolutionCache.Limits())
    let clocks = UnsafeMutablePointer<ResolutionCache.Clocks>.allocate(capacity: 1)
    clocks.initialize(to: ResolutionCache.Clocks())
    defer {
      clocks.deinitialize(count: 1)
      clocks.deallocate()
    }
    first.request(SystemPath("/l/x"))
    for _ in 0..<4 { _ = first.step(nil, clocks) }
    let former = first
    let hash = first.hashValue
    var second = first
    while first.step(nil, clocks) != nil {}
    #expect(first.hashValue != hash && former.hashValue == hash)
    while second.step(nil, clocks) != nil {}
    #expect(first.hashValue == second.hashValue && first.answerCount == 1)
  }
}

/// Visits all possible sequences of steps, and each state once.
private final class PlaceExplorer: @unchecked Sendable {
  private struct State {
    var world: PlaceWorld
    var operationCount = 0
    var requestCount = 0
    var key = 0
    /// The states since something else than an order occurred.
    var run: [Int] = []
    var trail: [String] = []
  }

  /// After so many orders since something else occurred the core has to be idle.
  private static let stepCountMax = 200

  private let setting: PlaceCoreExplorationTests.Setting
  private let clocks = UnsafeMutablePointer<ResolutionCache.Clocks>.allocate(capacity: 1)
  private var seen: Set<Int> = []
  private(set) var violation: String?
  private(set) var quietCount = 0
  private(set) var answerCount = 0
  var count: Int { seen.count }

  init(_ setting: PlaceCoreExplorationTests.Setting) {
    self.setting = setting
    clocks.initialize(to: ResolutionCache.Clocks())
  }

  deinit {
    clocks.deinitialize(count: 1)
    clocks.deallocate()
  }

  func explore() {
    var waiting = [start()]
    while let state = waiting.popLast(), violation == nil {
      for var next in followers(of: state) {
        next.key = key(next)
        check(next)
        if seen.insert(next.key).inserted { waiting.append(next) }
      }
    }
  }

  private func start() -> State {
    var disk = NameDisk()
    disk.make(setting.files)
    disk.isTorn = setting.isTorn
    disk.queueCountMax = setting.queueCountMax
    disk.watchCountMax = setting.kernelWatchCountMax
    var limits = ResolutionCache.Limits()
    (limits.placeCountMax, limits.watchCountMax) = (setting.placeCountMax, setting.watchCountMax)
    var world = PlaceWorld(disk, limits)
    world.fault = setting.fault
    return State(world: world)
  }

  // MARK: Possible next steps

  private func followers(of state: State) -> [State] {
    let isOver = state.operationCount >= setting.operationCountMax
    let operations = isOver ? [] : operations(in: state.world.disk)
    var followers = operations.map { operation in
      follower(of: state, "\(operation)") {
        $0.world.perform(operation)
        $0.operationCount += 1
      }
    }
    if state.world.disk.isUnderWay {
      followers.append(follower(of: state, "the operation returns") { $0.world.perform(.finish) })
    }
    if setting.movesByLibrary, !isOver {
      followers.append(
        follower(of: state, "the library moves something") {
          $0.world.noteMove()
          $0.operationCount += 1
        })
    }
    if setting.isRead {
      for id in state.world.given.keys {
        followers.append(follower(of: state, "\(id) is read") { $0.world.use(id) })
      }
    }
    return followers + (state.world.isIdle ? idleFollowers(of: state) : orders(of: state, operations))
  }

  private func operations(in disk: NameDisk) -> [NameDisk.Operation] {
    disk.operations(setting.kinds, names: setting.names, isDeep: setting.isDeep)
  }

  private func idleFollowers(of state: State) -> [State] {
    var followers: [State] = []
    let disk = state.world.disk
    if disk.queue.isEmpty, !disk.isUnderWay { quietCount += 1 }
    answerCount += state.world.answerCount
    if !disk.queue.isEmpty || disk.hasMountChange {
      followers.append(follower(of: state, "absorb") { $0.world.absorb() })
    }
    if state.requestCount < setting.requestCountMax {
      for path in setting.paths {
        followers.append(
          follower(of: state, "request \(path)") {
            $0.world.request(SystemPath(path))
            $0.requestCount += 1
          })
      }
    }
    return followers
  }

  /// The next order, also with an operation right before any of its system calls but the first.
  private func orders(of state: State, _ operations: [NameDisk.Operation]) -> [State] {
    var followers: [State] = []
    guard let (plain, callCount) = step(state, nil) else {
      violation = violation ?? "nothing is due, and something isn't done: \(state.trail)"
      return []
    }
    followers.append(plain)
    let within = operations + (state.world.disk.isUnderWay ? [.finish] : [])
    for call in 1..<max(1, callCount) {
      for operation in within {
        guard var next = step(state, (call, operation))?.next else { continue }
        if operation != .finish { next.operationCount += 1 }
        next.run = []
        next.trail[next.trail.count - 1] += " with \(operation) before call \(call)"
        followers.append(next)
      }
    }
    return followers
  }

  private func follower(of state: State, _ name: String, _ change: (inout State) -> Void) -> State {
    var next = state
    change(&next)
    next.run = []
    next.trail.append(name)
    next.world.check()
    return next
  }

  private func step(
    _ state: State, _ plan: (call: Int, operation: NameDisk.Operation)?
  ) -> (next: State, callCount: Int)? {
    var next = state
    guard let (callCount, name) = next.world.step(plan, clocks) else { return nil }
    next.trail.append(name)
    next.run.append(state.key)
    return (next, callCount)
  }

  // MARK: The properties

  private func check(_ state: State) {
    if violation != nil { return }
    if let problem = state.world.violation { violation = "\(problem) after \(state.trail)" }
    if state.run.contains(state.key) || state.run.count > Self.stepCountMax {
      violation = "it goes on for ever: \(state.trail.suffix(40))"
    }
  }

  /// All that the future depends on.
  private func key(_ state: State) -> Int {
    var hasher = Hasher()
    hasher.combine(state.world)
    hasher.combine(state.operationCount)
    hasher.combine(state.requestCount)
    return hasher.finalize()
  }
}
