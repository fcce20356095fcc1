internal import FileAccessArbiter

extension ArbiterSnapshot.Access: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(summary, requestedAt, blockers, outer?.rawValue) }

  package init(from reader: inout WireReader) throws(WireError) {
    let (summary, requestedAt) = (try reader.read(AccessSummary.self), try reader.read(Timestamp.self))
    let blockers: [WaitMember] = try reader.read()
    // Any process's access: its number is not the receiver's own.
    let outer: UInt64? = try reader.read()
    self.init(summary: summary, requestedAt: requestedAt, blockers: blockers, outer: outer.map { AccessID($0) })
  }
}

/// Any process's presenter: its number is not the receiver's own.
extension ArbiterSnapshot.Presenter: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(id.rawValue, client, clientName, label, path, callbacks, running)
    writer.append(count: pendingCount)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      id: PresenterID(reader.read()), client: reader.read(), clientName: reader.read(), label: reader.read(),
      path: reader.read(), callbacks: reader.read(), running: reader.read(), pendingCount: reader.count())
  }
}

extension ArbiterSnapshot: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(time, accesses, presenters)
    writer.append(count: nodeCount)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      time: reader.read(), accesses: reader.read(), presenters: reader.read(), nodeCount: reader.count())
  }
}

extension SnapshotReply.Process: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(processIdentifier, name, isService, delegations)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      processIdentifier: reader.read(), name: reader.read(), isService: reader.read(), delegations: reader.read())
  }
}

extension SnapshotReply: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(arbiter, processes, epoch, isInGrace) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      arbiter: reader.read(), processes: reader.read(), epoch: reader.read(), isInGrace: reader.read())
  }
}
