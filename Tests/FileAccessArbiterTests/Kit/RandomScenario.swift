import SeededRandom

@testable import FileAccessArbiter

// Larger worlds, made from a seed.

extension Scenario {
  private static let paths: [ItemPath] = [
    "/a", "/a/f", "/a/g", "/a/x", "/a/x/f", "/b", "/b/f", "/k.pkg", "/k.pkg/a", "/k.pkg/in.pkg/b", "/b/n.pkg/c",
  ]
  private static let destinations: [ItemPath] = ["/a/f", "/b/f", "/b/moved", "/k.pkg/a", "/c", "/c/f", "/d.pkg"]

  /// 10 to 20 accesses, 5 to 8 presenters: nested, multi-item, preparing, moving, saving, cancelled, departing.
  static func random(seed: UInt64) -> Scenario {
    var random = SplitMix(seed: seed)
    var scenario = Scenario(name: "seed \(seed)")
    let presenterCount = Int.random(in: 5...8, using: &random)
    for index in 0..<presenterCount { scenario.presenters.append(presenter(index, &random)) }
    var accessCount = Int.random(in: 10...20, using: &random)
    while accessCount > 0 {
      var steps: [Step] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) where accessCount > 0 {
        steps.append(step(presenterCount, depth: 0, &accessCount, &random))
      }
      scenario.actors.append(ActorPlan(client: UInt64.random(in: 1...3, using: &random), steps: steps))
    }
    if random.chance(1, in: 3) { scenario.mayDepart = [3] }
    scenario.activeReactionsMax = Int.random(in: 1...3, using: &random)
    return scenario
  }

  private static func presenter(_ index: Int, _ random: inout SplitMix) -> PresenterPlan {
    let hasPlace = !random.chance(1, in: 8)
    let callbacks = PresenterCallbacks(rawValue: UInt32.random(in: 0..<(1 << 14), using: &random))
    // Numbers of its own, so that the rest of a model doesn't change.
    var choice = SplitMix(seed: UInt64(callbacks.rawValue) << 8 | UInt64(index))
    let written = PresenterCallbacks(rawValue: UInt32.random(in: 0..<(1 << 14), using: &choice))
    let active = AccessPlan([item(&random)]).with {
      if random.chance(1, in: 2) { $0.own = index }
      $0.blocksThread = random.chance(1, in: 2)
      $0.isOnMainThread = random.chance(1, in: 4)
    }
    let detached = AccessPlan([item(&random)])
    let elsewhere = AccessPlan([item(&random)]).with { $0.own = index }
    return PresenterPlan(
      hasPlace ? random.pick(paths) : nil, random.chance(1, in: 2) ? .all : callbacks,
      client: UInt64.random(in: 1...3, using: &random)
    ) {
      // A class whose methods are unknown.
      if choice.chance(1, in: 3) { $0.callbacks.presumed = $0.callbacks }
      if choice.chance(1, in: 4) { $0.callbacks.insert(.directoryEntries) }
      $0.written = written
      $0.servesWhileWaiting = random.chance(3, in: 4)
      $0.isActor = random.chance(1, in: 4)
      $0.isAsync = random.chance(1, in: 2)
      $0.isRegisteredAtStart = random.chance(3, in: 4)
      let later: [Reaction] = [
        .answeringLater(.access(elsewhere)), .awaitingOthers(.access(elsewhere)),
        .awaitingOthers(.access(elsewhere), inheritsContext: true),
      ]
      let extra: [Reaction] = [.reacquirer, .unregister, .doing(.access(active), end: .reacquirer), .fail] + later
      $0.onRelinquish = [.answer, .reacquirer, random.pick(extra)]
      let turn = Reaction.doing(.inTurn(of: index, []))
      $0.onSave = [
        .answer, random.pick([.doing(.access(active)), .fail, .doing(.access(active), end: .fail), turn] + later),
      ]
      $0.onDeletion = [.answer, random.pick([.unregister, .fail, .doing(.access(active))])]
      $0.onTold = [
        .answer,
        random.pick([
          .doing(.access(active)), .doing(.detached(detached)), .doing(.answer(hasReacquirer: false), .access(active)),
        ]),
      ]
    }
  }

  private static func item(_ random: inout SplitMix) -> AccessRequest.Item {
    let access: ItemAccess
    if random.chance(2, in: 5) {
      let withoutChanges = random.chance(1, in: 4)
      access =
        random.chance(1, in: 6)
        ? .readAll(withoutChanges: withoutChanges) : .read(withoutChanges: withoutChanges)
    } else {
      access = .write(random.pick(WriteIntent.allCases.filter { $0 != .evicting }))
    }
    return .init(random.pick(paths), access)
  }

  private static func step(
    _ presenterCount: Int, depth: Int, _ budget: inout Int, _ random: inout SplitMix
  ) -> Step {
    let presenter = Int.random(in: 0..<presenterCount, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .register(presenter)
    case 1: return .unregister(presenter)
    case 2: return .locate(presenter, random.pick(paths))
    case 3 where depth > 0, 4 where depth > 0, 5 where depth > 0:
      return .move(from: random.chance(1, in: 3) ? random.pick(paths) : nil, to: random.pick(destinations))
    default: break
    }
    budget -= 1
    if depth == 0, random.chance(1, in: 10) {
      return .inTurn(of: presenter, [.access(AccessPlan([item(&random)]).with { $0.own = presenter })])
    }
    var plan = AccessPlan([item(&random)])
    if random.chance(1, in: 4) { plan.items.append(item(&random)) }
    if random.chance(1, in: 8) { plan.own = presenter }
    if random.chance(1, in: 10) { plan.purpose = 7 }
    if random.chance(1, in: 10) { plan.isPreparation = true }
    plan.mayBeCancelled = random.chance(1, in: 4)
    plan.isOnMainThread = random.chance(1, in: 6)
    plan.blocksThread = random.chance(1, in: 3)
    plan.proceedsWithoutLateAnswers = random.chance(1, in: 2)
    if random.chance(1, in: 5) { plan.limits = .init(waiting: 1, answering: 1) }
    if plan.items.count == 1, plan.own == nil, !plan.isPreparation { plan.mayBeAdopted = random.chance(1, in: 2) }
    if depth < 2 {
      for _ in 0..<Int.random(in: 0...2, using: &random) where budget > 0 {
        plan.inside.append(step(presenterCount, depth: depth + 1, &budget, &random))
      }
    }
    return random.chance(1, in: 8) ? .detached(plan) : .access(plan)
  }
}
