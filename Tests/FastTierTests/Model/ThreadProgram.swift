@testable import FileCoordination

/// An act with the names that the model knows it by.
indirect enum Step {
  case claim(ModelClaim, isFast: Bool, inner: [Step])
  case present(ModelPresenter)
  case snapshot
}

/// Numbers the claims and presenters of scripts.
struct ScriptReader {
  private(set) var claims: [ModelClaim] = []
  private(set) var presenters: [ModelPresenter] = []

  mutating func read(_ acts: [Act], _ thread: Int, isNested: Bool = false) -> [Step] {
    acts.map { read($0, thread, isNested, []) }
  }

  private mutating func read(_ act: Act, _ thread: Int, _ isNested: Bool, _ inner: [Act]) -> Step {
    switch act {
    case .read(let item): return claim(.read, item, true, thread, isNested, inner)
    case .write(let item): return claim(.write, item, true, thread, isNested, inner)
    case .hostRead(let item): return claim(.read, item, false, thread, isNested, inner)
    case .hostWrite(let item): return claim(.write, item, false, thread, isNested, inner)
    case .deepWrite(let item): return claim(.deepWrite, item, false, thread, isNested, inner)
    case .nested(let outer, let inner): return read(outer, thread, isNested, inner)
    case .present(let item):
      presenters.append(ModelPresenter(number: presenters.count, item: item))
      return .present(presenters[presenters.count - 1])
    case .snapshot: return .snapshot
    }
  }

  private mutating func claim(
    _ kind: ClaimKind, _ item: ModelItem, _ isFast: Bool, _ thread: Int, _ isNested: Bool, _ inner: [Act]
  ) -> Step {
    let claim = ModelClaim(number: claims.count, thread: thread, kind: kind, item: item, isNested: isNested)
    claims.append(claim)
    return .claim(claim, isFast: isFast, inner: read(inner, thread, isNested: true))
  }
}

/// What one model thread runs.
final class ThreadProgram {
  private let procedures: ModelProcedures
  private let thread: Int
  private let steps: [Step]
  private var memory: ModelMemory { procedures.memory }
  private var tier: FastTier<ModelMemory> { procedures.tier }
  // State of one run.
  private var place: UInt64 = 0
  private var outer: [ClaimToken] = []

  init(_ procedures: ModelProcedures, _ thread: Int, _ steps: [Step]) {
    self.procedures = procedures
    self.thread = thread
    self.steps = steps
  }

  var program: Program { run }

  private func run(_ memory: ModelMemory) throws(TurnOver) {
    place = 0
    outer = []
    try run(steps)
  }

  private func run(_ steps: [Step]) throws(TurnOver) {
    for step in steps {
      switch step {
      case .claim(let claim, let isFast, let inner): try run(claim, isFast, inner)
      case .present(let presenter):
        try procedures.register(presenter)
        forget()
        try procedures.deregister(presenter)
      case .snapshot: try procedures.snapshot()
      }
      forget()
    }
  }

  /// What the thread does from here on follows from its place and the claims that it has.
  private func forget(_ token: ClaimToken? = nil) {
    place += 1
    var words = [place, UInt64(token?.slot ?? 0), token?.state.rawValue ?? 0]
    for token in outer { words += [UInt64(token.slot), token.state.rawValue] }
    memory.forget(allBut: words)
  }

  private func run(_ claim: ModelClaim, _ isFast: Bool, _ inner: [Step]) throws(TurnOver) {
    try memory.say(.begins, UInt64(claim.number))
    let token = isFast ? try claimFast(claim) : nil
    if !isFast { try procedures.request(claim, memory.lock(), outer: outer) }
    forget(token)
    try memory.say(.granted, UInt64(claim.number), token == nil ? 1 : 0)
    if let token { outer.append(token) }
    try run(inner)
    try memory.say(.ends, UInt64(claim.number))
    guard let token else { return try procedures.end(claim) }
    outer.removeLast()
    try procedures.end(claim, token)
  }

  /// - Returns: What to end the claim with if the fast tier granted it; otherwise the host did.
  private func claimFast(_ claim: ModelClaim) throws(TurnOver) -> ClaimToken? {
    let note = ClaimNote(item: claim.item.rawValue, holder: UInt(claim.number), outer: 0, task: 0)
    let path = claim.item.claimPath
    let answer =
      claim.kind == .read ? try tier.read(path, shard: thread, note) : try tier.write(path, shard: thread, note)
    switch answer {
    case .granted(let token): return token
    case .refused: try procedures.request(claim, memory.lock(), outer: outer)
    case .unsettled(let token, _):
      let host = try memory.lock()
      if try tier.settle(token) {
        try memory.unlock(host)
        return token
      }
      try procedures.request(claim, host, outer: outer)
    }
    return nil
  }
}
