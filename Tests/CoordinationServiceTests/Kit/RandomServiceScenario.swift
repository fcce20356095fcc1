import CoordinationService
import FileAccessArbiter
import SeededRandom

extension ServiceScenario {
  /// A model with four processes, three directories, presenters, moves and kills, as the seed will have it.
  static func random(seed: UInt64) -> ServiceScenario {
    var generator = Generator(seed: seed)
    return generator.scenario(named: "seed \(seed)")
  }

  private struct Generator {
    private static let directories: [ItemPath] = ["/d", "/e", "/f"]
    private static let files: [ItemPath] = ["/d/a", "/d/b", "/e/a", "/f/a", "/f/b"]

    private var random: SplitMix
    /// For parts that were added later: the rest of a seed's scenario stays as it was.
    private var breaking: SplitMix
    private var nesting: SplitMix
    private var surrendering: SplitMix
    private let hasMoves: Bool
    private var lastPresenter: UInt64 = 0

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      breaking = SplitMix(seed: ~seed)
      nesting = SplitMix(seed: seed &+ 0x6e65_7374)
      surrendering = SplitMix(seed: seed &+ 0x6769_7665)
      hasMoves = random.chance(1, in: 4)
    }

    mutating func scenario(named name: String) -> ServiceScenario {
      var clients: [ClientPlan] = []
      for _ in 0..<Int.random(in: 2...4, using: &random) {
        var plan = ClientPlan(handsOverReacquirers: random.chance(3, in: 4), savesLater: random.chance(1, in: 4))
        for _ in 0..<Int.random(in: 1...2, using: &random) { plan.threads.append(ModelStep.flatten(program())) }
        if nesting.chance(1, in: 2) { plan.nested = nestedPlan() }
        clients.append(plan)
      }
      let cuts = breaking.chance(1, in: 4) ? Int.random(in: 1...2, using: &breaking) : 0
      if breaking.chance(1, in: 6) { clients[0].limits.partyCountMax = Int.random(in: 1...3, using: &breaking) }
      return ServiceScenario(
        name: name, clients: clients, clientKills: Int.random(in: 0...2, using: &random),
        serviceKills: Int.random(in: 0...2, using: &random), graceTimeouts: random.chance(1, in: 4) ? 1 : 0,
        cancellations: random.chance(1, in: 4) ? 2 : 0, expulsions: random.chance(1, in: 4) ? 2 : 0, cuts: cuts,
        surrenders: surrendering.chance(1, in: 4) ? Int.random(in: 1...2, using: &surrendering) : 0,
        usesUntilDelegation: Int.random(in: 1...3, using: &random))
    }

    private mutating func nestedPlan() -> NestedPlan {
      let accesses: [ItemAccess] = [
        .read(withoutChanges: true), .read(withoutChanges: true), .read(withoutChanges: false), .write(.update),
      ]
      let items = (0..<(nesting.chance(1, in: 4) ? 2 : 1)).map { _ in
        AccessRequest.Item(nesting.pick(Self.files), nesting.pick(accesses))
      }
      var moments = Set(NestedPlan.Moment.allCases.filter { _ in nesting.chance(1, in: 2) })
      if moments.isEmpty { moments = [.question] }
      return NestedPlan(
        items: items, moments: moments, callbackCountMax: Int.random(in: 1...6, using: &nesting),
        isOwn: nesting.chance(3, in: 4))
    }

    private mutating func program() -> [ModelOperation] {
      var result: [ModelOperation] = []
      var presented: (UInt64, ItemPath)?
      // A process is alone with few files, or it would never get a delegation.
      let favourites = [random.pick(Self.files), random.pick(Self.files)]
      for _ in 0..<Int.random(in: 2...6, using: &random) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0 where presented == nil:
          lastPresenter += 1
          let path = random.pick(favourites)
          presented = (lastPresenter, path)
          result.append(.present(lastPresenter, path))
        case 1:
          if let (presenter, _) = presented { result.append(.unpresent(presenter)) }
          presented = nil
        case 2:
          if let (presenter, path) = presented { result.append(.write(path, own: presenter)) }
        case 3 where hasMoves:
          let (old, new) = (random.pick(Self.files), random.pick(Self.files))
          if old != new { result.append(.write(old, .moving, .move(old, to: new))) }
        case 4: result.append(.write(random.pick(Self.directories), .deleting))
        case 5: result.append(.read(random.pick(favourites), access(random.pick(Self.files))))
        default: result.append(access(random.pick(favourites)))
        }
      }
      return result
    }

    private mutating func access(_ path: ItemPath) -> ModelOperation {
      let body: [ModelOperation] = random.chance(1, in: 6) ? [random.pick([.look, .readToken, .commit])] : []
      if random.chance(1, in: 2) {
        return .access(path, .read(withoutChanges: random.chance(1, in: 4)), own: nil, body)
      }
      return .access(path, .write(random.pick([.update, .update, .merging, .metadataOnly])), own: nil, body)
    }
  }
}
