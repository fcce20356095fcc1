@testable import CoordinationService
@testable import FileAccessArbiter

// The actions that are possible next.

extension ServiceModel {
  /// Without disturbances.
  var progress: [Action] {
    var result: [Action] = []
    for client in clients.indices {
      for thread in clients[client].threads.indices
      where clients[client].canStep(thread) && !awaitsChild(client, thread) {
        result.append(.step(client, thread: thread))
      }
      if clients[client].isAlive {
        for callback in clients[client].callbacks.indices where clients[client].canAnswer(callback) {
          result.append(.answer(client, callback: callback))
        }
      }
      if !toClients[client].isEmpty { result.append(.receive(client)) }
      if !toService[client].isEmpty { result.append(.serve(client)) }
      if connections[client] == .hungUp, toService[client].isEmpty || faults.network.contains(.hangUpFirst) {
        result.append(.hangUp(client))
      }
    }
    for (index, connection) in broken.enumerated() {
      result.append(connection.frames.isEmpty ? .hangUpBroken(index) : .serveBroken(index))
    }
    for session in core.awaitedSessions.sorted() where !hasSession(Int(session) - 1) {
      result.append(.noteEnd(session: session))
    }
    return result
  }

  /// Whether a service that begins waits for the report of a client.
  func hasSession(_ client: Int) -> Bool { clients[client].isAlive && connections[client] != .given }

  private func awaitsChild(_ client: Int, _ thread: Int) -> Bool {
    guard case .await(let child) = clients[client].plan.threads[thread][clients[client].threads[thread].next] else {
      return false
    }
    return clients[child].isAlive && !clients[child].isDone
  }

  var disturbances: [Action] {
    var result: [Action] = []
    if clientKills > 0 {
      for client in clients.indices where clients[client].isAlive { result.append(.killClient(client)) }
    }
    if serviceKills > 0 {
      let mayLose = clients.indices.filter { connections[$0] == .open && !toClients[$0].isEmpty }
      for mask in 0..<(1 << clients.count)
      where clients.indices.allSatisfy({ mask & 1 << $0 == 0 || mayLose.contains($0) }) {
        result.append(.killService(losing: mask))
      }
    }
    if graceTimeouts > 0, core.awaitedSessions.contains(where: { clients[Int($0) - 1].isAlive }) {
      result.append(.endGrace)
    }
    if expulsions > 0 {
      // The frames that it sent before it was stopped have been taken in.
      for client in clients.indices
      where clients[client].isAlive && connections[client] == .open && toService[client].isEmpty {
        result.append(.expel(client))
      }
    }
    if cuts > 0 {
      for client in clients.indices where clients[client].isAlive && connections[client] == .open {
        result.append(.cut(client, losing: false))
        if !toService[client].isEmpty || !toClients[client].isEmpty { result.append(.cut(client, losing: true)) }
      }
    }
    if surrenders > 0 {
      for client in clients.indices
      where clients[client].isAlive && connections[client] == .ended && toClients[client] == [.end] {
        result.append(.surrender(client))
      }
    }
    for client in clients.indices where clients[client].isAlive && clients[client].canKeepDeadlines {
      result.append(.keepDeadlines(client))
    }
    if cancellations > 0 {
      for client in clients.indices where clients[client].isAlive {
        for thread in clients[client].threads.indices where clients[client].canCancel(thread) {
          result.append(.cancel(client, thread: thread))
        }
      }
    }
    return result
  }
}
