internal import FileWatching
internal import SystemInterface

/// A run of a query, from one start to the next stop: over one scope after the other, each with an engine of its own.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | changes of the port and their notification to the engine belong together: the next engine begins with the state of the port |
final class QuerySession: Sendable {
  private struct State: Sendable {
    var engine: ScopeEngine
    var query: Int
    var isRunning = true
  }

  let port: QueryPort
  private let state: Guarded<State>

  init(_ engine: ScopeEngine, query: Int, _ port: QueryPort) {
    self.port = port
    state = Guarded(State(engine: engine, query: query))
  }

  var engine: ScopeEngine { state.withLock { $0.engine } }
  var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Gives the engine an order about the query.
  func give(_ order: (_ query: Int) -> ScopeEngine.Order) {
    state.withLock { $0.engine.give(order($0.query)) }
  }

  /// Does something to the port, and gives the engine the order that follows from that, if any.
  func act(_ body: (QueryPort) -> ((_ query: Int) -> ScopeEngine.Order)?) {
    state.withLock { state in
      if let order = body(port) { state.engine.give(order(state.query)) }
    }
  }

  /// Goes on with another engine, which begins where this one leaves off.
  ///
  /// - Parameters:
  ///   - plan: The search of the query.
  ///   - attach: Adds the query to the other engine.
  /// - Throws: The error of `attach`; then it goes on with this one.
  func move(
    _ plan: QueryPlan,
    attaching attach: (QueryPort, QueryPort.Heritage) throws(SystemError) -> (engine: ScopeEngine, query: Int)
  ) throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      let old = state
      let heritage = port.succeed()
      do throws(SystemError) {
        (state.engine, state.query) = try attach(port, heritage)
        old.engine.give(.detach(old.query))
      } catch {
        // Batches of the old engine since then aren't in the port: it begins anew as well.
        if let query = old.engine.attach(plan, port, heritage) { state.query = query } else { port.end() }
        old.engine.give(.detach(old.query))
        throw error
      }
    }
  }

  /// Ends the run.
  func stop() {
    state.withLock { state in
      guard state.isRunning else { return }
      state.isRunning = false
      port.end()
      state.engine.give(.detach(state.query))
    }
  }
}
