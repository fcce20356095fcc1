@testable import FileCoordination

/// An act with its names in the model.
indirect enum Step {
  case claim(ModelClaim, isFast: Bool, inner: [Step])
  case handOver(ModelClaim, isFast: Bool, to: Int)
  case takeOver
  case present(ModelPresenter)
  case readAndPresent(ModelClaim, ModelPresenter)
  case snapshot(number: Int)
}

/// Numbers the claims and presenters of scripts.
struct ScriptReader {
  private(set) var claims: [ModelClaim] = []
  private(set) var presenters: [ModelPresenter] = []
  private var snapshotCount = 0

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
    case .handOver(let act, to: let receiver):
      guard case .claim(let claim, let isFast, _) = read(act, thread, isNested, []) else {
        preconditionFailure("only claims are handed over")
      }
      return .handOver(claim, isFast: isFast, to: receiver)
    case .takeOver: return .takeOver
    case .patient(let act):
      guard case .claim(var claim, isFast: true, let inner) = read(act, thread, isNested, inner) else {
        preconditionFailure("only claims of the fast tier are tried again")
      }
      claim.isPatient = true
      claims[claim.number] = claim
      return .claim(claim, isFast: true, inner: inner)
    case .nested(let outer, let inner): return read(outer, thread, isNested, inner)
    case .present(let item): return .present(presenter(of: item))
    case .readAndPresent(let item):
      guard case .claim(let claim, isFast: true, _) = claim(.read, item, true, thread, isNested, []) else {
        preconditionFailure("a read is a claim of the fast tier")
      }
      return .readAndPresent(claim, presenter(of: item))
    case .snapshot:
      snapshotCount += 1
      return .snapshot(number: snapshotCount)
    }
  }

  private mutating func presenter(of item: ModelItem) -> ModelPresenter {
    presenters.append(ModelPresenter(number: presenters.count, item: item))
    return presenters[presenters.count - 1]
  }

  private mutating func claim(
    _ kind: ClaimKind, _ item: ModelItem, _ isFast: Bool, _ thread: Int, _ isNested: Bool, _ inner: [Act]
  ) -> Step {
    let claim = ModelClaim(number: claims.count, thread: thread, kind: kind, item: item, isNested: isNested)
    claims.append(claim)
    return .claim(claim, isFast: isFast, inner: read(inner, thread, isNested: true))
  }
}

/// The program of one model thread.
final class ThreadProgram {
  private let procedures: ModelProcedures
  private let thread: Int
  private let steps: [Step]
  private var memory: ModelMemory { procedures.memory }
  private var tier: ModelTier { procedures.tier }
  // State of one run.
  private var outer: [ClaimToken] = []

  init(_ procedures: ModelProcedures, _ thread: Int, _ steps: [Step]) {
    self.procedures = procedures
    self.thread = thread
    self.steps = steps
  }

  var program: Program { run }

  private func run(_ memory: ModelMemory) throws(TurnOver) {
    outer = []
    try run(steps)
  }

  private func run(_ steps: [Step]) throws(TurnOver) {
    for step in steps {
      switch step {
      case .claim(let claim, let isFast, let inner): try run(claim, isFast, inner)
      case .handOver(let claim, let isFast, let receiver): try handOver(claim, isFast, to: receiver)
      case .takeOver: try takeOver()
      case .present(let presenter):
        try procedures.register(presenter)
        try deregister(presenter)
      case .readAndPresent(let claim, let presenter):
        try readAndPresent(claim, presenter)
        try deregister(presenter)
      case .snapshot(let number):
        try procedures.snapshot()
        forget(.snapshotTaken, number)
      }
    }
  }

  /// Where in its program a thread forgets how it came there.
  private enum Place: UInt64 {
    case refused, looked, refusedAgain, contested, waiting, granted, ending, endingThroughHost, ended, handedOver,
      registered, presenting, presented, snapshotTaken
  }

  /// The further work of the thread follows from its place and the claims that it has.
  private func forget(_ place: Place, _ number: Int, _ token: ClaimToken? = nil) {
    var words = [place.rawValue, UInt64(number), UInt64(token?.slot ?? 0), token?.state.rawValue ?? 0]
    for token in outer { words += [UInt64(token.slot), token.state.rawValue] }
    memory.forget(allBut: words)
  }

  private func run(_ claim: ModelClaim, _ isFast: Bool, _ inner: [Step]) throws(TurnOver) {
    let token = try begin(claim, isFast)
    if let token { outer.append(token) }
    try run(inner)
    if token != nil { outer.removeLast() }
    try end(claim, token)
  }

  private func deregister(_ presenter: ModelPresenter) throws(TurnOver) {
    forget(.presenting, presenter.number)
    try procedures.deregister(presenter)
    forget(.presented, presenter.number)
  }

  private func readAndPresent(_ claim: ModelClaim, _ presenter: ModelPresenter) throws(TurnOver) {
    let token = try begin(claim, true)
    // Once others wait for it, it ends as they expect.
    if let token, try !tier.state(at: token.slot).has(SlotState.isAdopted) {
      let hasEnded = try procedures.register(presenter, ending: claim, token)
      forget(.registered, claim.number, hasEnded ? nil : token)
      if hasEnded { return }
    } else {
      try procedures.register(presenter)
      forget(.registered, claim.number, token)
    }
    try end(claim, token)
  }

  /// - Returns: The token to end the claim with if the fast tier granted it.
  private func begin(_ claim: ModelClaim, _ isFast: Bool) throws(TurnOver) -> ClaimToken? {
    try memory.say(.begins, UInt64(claim.number))
    let token = isFast ? try claimFast(claim) : nil
    if !isFast { try request(claim, memory.lock()) }
    forget(.granted, claim.number, token)
    try memory.say(.granted, UInt64(claim.number), token == nil ? 1 : 0)
    return token
  }

  private func end(_ claim: ModelClaim, _ token: ClaimToken?) throws(TurnOver) {
    forget(.ending, claim.number, token)
    try memory.say(.ends, UInt64(claim.number))
    if let token {
      if try !tier.end(token, claim.item.fingerprint) {
        forget(.endingThroughHost, claim.number, token)
        try procedures.endThroughHost(claim, token)
      }
    } else {
      try procedures.end(claim)
    }
    forget(.ended, claim.number)
  }

  /// - Returns: The token to end the claim with if the fast tier granted it; otherwise the host did.
  private func claimFast(_ claim: ModelClaim, isAgain: Bool = false) throws(TurnOver) -> ClaimToken? {
    let note = ClaimNote(item: claim.item.rawValue, holder: UInt(claim.number), outer: 0, task: 0, access: 0)
    let path = claim.item.claimPath(memos: procedures.memos)
    let answer =
      claim.kind == .read ? try tier.read(path, shard: thread, note) : try tier.write(path, shard: thread, note)
    switch answer {
    case .granted(let token): return token
    case .refused:
      forget(isAgain ? .refusedAgain : .refused, claim.number)
      if claim.isPatient, !isAgain, try tier.mayClaim(path, isWrite: claim.kind == .write, shard: thread) {
        forget(.looked, claim.number)
        return try claimFast(claim, isAgain: true)
      }
      try request(claim, memory.lock())
    case .contested(let token, _):
      forget(.contested, claim.number, token)
      let host = try memory.lock()
      if try tier.conclude(token) {
        try memory.unlock(host)
        return token
      }
      try request(claim, host)
    }
    return nil
  }

  private func request(_ claim: ModelClaim, _ host: consuming ModelHost) throws(TurnOver) {
    if try procedures.request(claim, host, outer: outer) { return }
    forget(.waiting, claim.number)
    try memory.sleep()
  }

  private func handOver(_ claim: ModelClaim, _ isFast: Bool, to receiver: Int) throws(TurnOver) {
    let token = try begin(claim, isFast)
    let mailbox = procedures.mailboxes + 24 * receiver
    if let token {
      try memory.storeRelaxed(UInt64(token.slot), at: mailbox + 8)
      try memory.storeRelaxed(token.state.rawValue, at: mailbox + 16)
    }
    _ = try memory.exchange(UInt64(claim.number + 1), at: mailbox)
    try memory.wake(receiver)
    forget(.handedOver, claim.number)
  }

  /// Ends the claim that another thread hands over; the thread must not have slept before.
  private func takeOver() throws(TurnOver) {
    try memory.sleep()
    let mailbox = procedures.mailboxes + 24 * thread
    let claim = procedures.rules.claims[Int(try memory.load(mailbox)) - 1]
    let slot = Int(try memory.load(mailbox + 8))
    let state = SlotState(try memory.load(mailbox + 16))
    try end(claim, slot == 0 ? nil : ClaimToken(slot: slot, state: state))
  }
}
