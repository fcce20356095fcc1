import SeededRandom
import SystemInterface

@testable import KeyValueReplicas
@testable import KeyValueStore

/// Devices with the decisions that programs run and a real folder, in an order that a seed chooses.
///
/// A device may stand still before each call of the system, while others do as many steps as the seed says. A process may end there; its journal
/// is read then. In the end all have the same values, and each write counts once.
///
/// `@unchecked Sendable`: a run is on one thread; only the doors' scripts, which that thread calls, have to be sendable.
final class FolderRun: @unchecked Sendable {
  private final class Device {
    var core: ReplicaCore
    var contents: FolderContents
    var journal: [(input: ReplicaInput, now: Int64)] = []
    var editCount = 6
    var wantsRead = true
    /// The revision that has arrived, and the directory that it came from.
    var arrived: Int64?
    var identity: FileIdentity?
    var requests: [Upload] = []
    var isDue = false
    /// Whether it's in the middle of a step.
    var isBusy = false

    init(_ core: ReplicaCore, _ contents: FolderContents) { (self.core, self.contents) = (core, contents) }
  }

  private enum Action: Hashable {
    case write, due, send, read, watch, restart
  }

  private let sandbox: FolderSandbox
  private var random: SplitMix
  private var devices: [Device] = []
  private var now: Int64 = 1_000
  private var depth = 0
  private var (faultCount, restartCount): (Int, Int)
  /// The device whose process ends at the next call.
  private var endingCalls: [Int?] = []
  private var (sum, elementCount): (Int64, Int64) = (0, 0)
  private(set) var problem: String?
  private(set) var gapCount = 0

  init(seed: UInt64, _ sandbox: FolderSandbox) {
    self.sandbox = sandbox
    random = SplitMix(seed: seed)
    faultCount = random.below(40)
    restartCount = random.below(4)
    for index in 0..<3 {
      endingCalls.append(nil)
      devices.append(Device(Self.core(index), contents(index)))
    }
  }

  private static func core(_ index: Int) -> ReplicaCore {
    ReplicaCore(ReplicaID(rawValue: UInt64(index + 1)), budget: UploadBudget(interval: 0)) { key in
      ["counter": .counter, "set": .union][key] ?? .lastWriter
    }
  }

  private func contents(_ index: Int) -> FolderContents {
    let door = ScriptedFileSystem { [unowned self] call in self.script(call, index) }
    return sandbox.contents(UInt64(index + 1), files: door)
  }

  /// Before a call: others go on, or the process ends.
  private func script(_ call: ScriptedCall, _ index: Int) -> ScriptedAction {
    if call.call == .close { return .proceed }
    if let left = endingCalls[index] {
      if left == 0 { return .fail(5) }
      endingCalls[index] = left - 1
    }
    if depth < 3, faultCount > 0, random.chance(1, in: 12) {
      faultCount -= 1
      depth += 1
      // Enough for the change to be removed again, sometimes.
      for _ in 0..<random.below(60) { stepOnce() }
      depth -= 1
    }
    return call.call == .synchronize ? .skip : .proceed
  }

  // MARK: Steps

  func perform() throws {
    for _ in 0..<20_000 where problem == nil {
      if !stepOnce() { break }
    }
    if problem == nil { problem = try finalProblem() }
  }

  /// - Returns: Whether anything was left to do.
  @discardableResult
  private func stepOnce() -> Bool {
    now += 1
    let possible = devices.indices.flatMap { index in actions(index).map { (index, $0) } }
    if possible.isEmpty || problem != nil { return false }
    let (index, action) = random.pick(possible)
    let device = devices[index]
    device.isBusy = true
    defer { devices[index].isBusy = false }
    do throws(SharedStorageFailure) { try perform(action, index, device) } catch {
      if endingCalls[index] == 0 {
        restart(index)
      } else if error.kind == .gap {
        gapCount += 1
        device.wantsRead = true
      } else {
        problem = "device \(index) fails at \(action): \(error)"
      }
    }
    if endingCalls[index] == 0 { restart(index) }
    return true
  }

  private func actions(_ index: Int) -> [Action] {
    let device = devices[index]
    if device.isBusy { return [] }
    var actions: [Action] = []
    if device.editCount > 0, device.core.hasRead { actions.append(.write) }
    if device.isDue { actions.append(.due) }
    if !device.requests.isEmpty { actions.append(.send) }
    if device.wantsRead { actions.append(.read) }
    if !device.wantsRead, let arrived = device.arrived, arrived < lastRevision { actions.append(.watch) }
    if restartCount > 0, !actions.isEmpty, random.chance(1, in: 30) { actions.append(.restart) }
    return actions
  }

  private var lastRevision: Int64 {
    FolderSurvey(of: FileIdentity(device: 0, inode: 0), sandbox.names.map { SystemPath($0) }).revision
  }

  private func perform(_ action: Action, _ index: Int, _ device: Device) throws(SharedStorageFailure) {
    switch action {
    case .write: step(index, .write(edits(index, device), isForced: false))
    case .due:
      device.isDue = false
      step(index, .uploadIsDue)
    case .send:
      let upload = device.requests.removeFirst()
      var outcome = try device.contents.upload(upload)
      if endingCalls[index] == 0 { return }
      if faultCount > 0, random.chance(1, in: 6) {
        faultCount -= 1
        outcome = .unknown
      }
      step(index, .uploadEnded(upload.id, outcome))
    case .read:
      device.wantsRead = false
      let all = try device.contents.readAll()
      (device.arrived, device.identity) = (all.revision, nil)
      step(index, .received(all))
    case .watch:
      guard let arrived = device.arrived else { return }
      guard let change = try device.contents.next(after: arrived, in: &device.identity) else { return }
      if change.revision != arrived + 1 { problem = "device \(index) hears of \(change.revision) after \(arrived)" }
      device.arrived = change.revision
      step(index, .received(change.batch(for: device.core.replica)))
    case .restart:
      restartCount -= 1
      // At some call of the next step.
      endingCalls[index] = random.below(20)
    }
  }

  private func edits(_ index: Int, _ device: Device) -> [KeyWrite] {
    device.editCount -= 1
    var writes: [KeyWrite] = []
    if random.chance(1, in: 2) {
      let number = Int64(1 + random.below(9))
      sum += number
      guard case .integer(let old) = device.core["counter"] ?? .integer(0) else { return [] }
      writes.append(KeyWrite("counter", .integer(old + number)))
    }
    if random.chance(1, in: 2) {
      guard case .array(let old) = device.core["set"] ?? .array([]) else { return [] }
      writes.append(KeyWrite("set", .array(old + [.integer(elementCount)])))
      elementCount += 1
    }
    let key = random.pick(["a", "b"])
    writes.append(KeyWrite(key, random.chance(1, in: 4) ? nil : .string("\(index).\(now)")))
    return writes
  }

  private func step(_ index: Int, _ input: ReplicaInput) {
    let device = devices[index]
    do throws(WriteRefusal) {
      let effects = try device.core.step(input, at: now)
      device.journal.append((input, now))
      for effect in effects {
        switch effect {
        case .changed: break
        case .upload(let upload): device.requests.append(upload)
        case .read: device.wantsRead = true
        case .wake: device.isDue = true
        }
      }
    } catch { problem = "device \(index) refuses a write: \(error)" }
  }

  /// The process ends, and the next one reads its journal.
  private func restart(_ index: Int) {
    endingCalls[index] = nil
    let former = devices[index]
    let device = Device(Self.core(index), contents(index))
    for (input, now) in former.journal { _ = device.core.replay(input, at: now) }
    if device.core.state != former.core.state { problem = "the journal of device \(index) leads to another state" }
    (device.journal, device.editCount, device.isBusy) = (former.journal, former.editCount, former.isBusy)
    devices[index] = device
    if let id = device.core.uploadUnderWay { step(index, .uploadEnded(id, .unknown)) }
    device.isDue = true
  }

  private func finalProblem() throws -> String? {
    let shared = try sandbox.contents(9).values()
    for (index, device) in devices.enumerated() {
      if !device.core.pendingKeys.isEmpty || device.core.uploadUnderWay != nil || device.editCount > 0 {
        return "device \(index) never uploads \(device.core.pendingKeys.sorted())"
      }
      if device.core.values != shared { return "device \(index) has \(device.core.values), the folder \(shared)" }
    }
    if shared["counter"] ?? .integer(0) != .integer(sum) { return "the counter isn't \(sum): \(shared)" }
    guard case .array(let elements) = shared["set"] ?? .array([]) else { return "the set is no array" }
    if Set(elements) != Set((0..<elementCount).map { .integer($0) }) || elements.count != elementCount {
      return "the set hasn't \(elementCount) elements: \(elements)"
    }
    return nil
  }
}
