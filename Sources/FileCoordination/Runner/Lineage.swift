internal import FileAccessArbiter
internal import SwiftRuntimeHooks
internal import SystemInterface

/// The surroundings of the current code: an accessor or a presenter's callback.
///
/// Asynchronous accessors and callbacks are carried by a task-local. Child tasks inherit it; so do unstructured ones,
/// which may outlive the accessor. Therefore ``task`` shows whether the asking code is the accessor itself. Accessors
/// that block their thread are carried by the thread, see ``Nesting``: no task that they start inherits them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all properties | they change only while nobody but the task that made it refers to it, see ``reusing(_:_:of:callback:)`` | a message needs no memory for the surroundings of its callback |
///
/// `@unchecked Sendable` because the compiler can't see that.
final class Lineage: @unchecked Sendable {
  @TaskLocal static var current: Lineage?
  static let binding = TaskLocalBinding($current)

  enum Context: Sendable {
    case known(ExecutionContext)
    /// A claim of the fast tier, which may have ended.
    case claim(ClaimToken)
  }

  /// The number of the host that has the context.
  ///
  /// No reference: threads would count them at one place, and a task that outlives the host has nothing to ask it.
  private(set) var hostNumber: UInt64
  private(set) var context: Context
  private(set) var outer: Nesting
  /// How many accessors and callbacks this is, with those around it that ran when it began.
  private(set) var depth: Int
  /// Keeps the lineage that `outer` names.
  private var outerLineage: Lineage?
  /// The task that runs inside of this; zero for a thread.
  private(set) var task: UInt
  /// The presenter's callback that this is, or that it's part of.
  private(set) var callback: CallbackUnderWay?

  init(
    _ context: Context, ofHost hostNumber: UInt64, in outer: Nesting, task: UInt, callback: CallbackUnderWay? = nil
  ) {
    self.context = context
    self.hostNumber = hostNumber
    self.outer = outer
    depth = outer.depth + 1
    if case .lineage(let lineage) = outer.element { outerLineage = lineage } else { outerLineage = nil }
    self.task = task
    self.callback = callback ?? outerLineage?.callback
  }

  /// Of a claim, inside of the surroundings that its slot names.
  convenience init(_ claim: ClaimToken, ofHost hostNumber: UInt64) {
    let note = ClaimNote(at: claim.slot, in: ProcessMemory())
    self.init(.claim(claim), ofHost: hostNumber, in: Nesting(word: note.outer), task: note.task)
  }

  /// Inside of the surroundings of the running code.
  convenience init(_ context: Context, of host: ArbiterHost, callback: CallbackUnderWay? = nil) {
    let task = CurrentTask.number
    self.init(context, ofHost: host.number, in: .current(.current, task: task), task: task, callback: callback)
  }

  /// The surroundings of a callback, inside of those of the running code.
  ///
  /// - Parameters:
  ///   - former: The surroundings of a callback that has returned, which are used again unless something refers to them still, such
  ///     as a task that the callback started. Becomes `nil`.
  ///   - message: The message that the callback is about.
  ///   - host: The host that delivers it.
  ///   - callback: The callback; `nil` for a reacquirer.
  /// - Returns: The surroundings.
  static func reusing(
    _ former: inout Lineage?, _ message: MessageID, of host: ArbiterHost, callback: CallbackUnderWay? = nil
  ) -> Lineage {
    let context = Context.known(.message(message))
    guard var lineage = former.take(), isKnownUniquelyReferenced(&lineage) else {
      return Lineage(context, of: host, callback: callback)
    }
    let task = CurrentTask.number
    let outer = Nesting.current(.current, task: task)
    lineage.context = context
    lineage.hostNumber = host.number
    lineage.outer = outer
    lineage.depth = outer.depth + 1
    if case .lineage(let around) = outer.element { lineage.outerLineage = around } else { lineage.outerLineage = nil }
    lineage.task = task
    lineage.callback = callback ?? lineage.outerLineage?.callback
    return lineage
  }

  /// Keeps nothing but the memory, and that only if nothing else refers to it.
  static func forget(_ former: inout Lineage?) {
    guard var lineage = former.take(), isKnownUniquelyReferenced(&lineage) else { return }
    lineage.outer = .none
    lineage.outerLineage = nil
    lineage.callback = nil
    former = lineage
  }

  /// Runs code of the running task inside of this.
  @inline(__always)
  func surrounding<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    if !RuntimeHooks.areTested { return try await Lineage.$current.withValue(self) { try await body() } }
    Lineage.binding.push(self)
    defer { Lineage.binding.pop() }
    return try await body()
  }
}
