internal import FileAccessArbiter

// Reports about accesses and messages of any process: the numbers are not the receiver's own.

extension AccessSummary.Phase: TagCorrespondent {
  enum Tag: UInt8, WireTag {
    case waiting = 1
    case asking = 2
    case ready = 3
    case granted = 4
  }

  var tag: Tag {
    switch self {
    case .waiting: .waiting
    case .asking: .asking
    case .ready: .ready
    case .granted: .granted
    }
  }
}

extension AccessSummary: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(id.rawValue, client, clientName, label, items)
    writer.append(count: omittedItemCount)
    writer.append(isPreparation, phase, since)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      id: AccessID(reader.read()), client: reader.read(), clientName: reader.read(), label: reader.read(),
      items: reader.read(), omittedItemCount: reader.count(), isPreparation: reader.read(), phase: reader.read(),
      since: reader.read())
  }
}

extension MessageSummary: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(id, presenter.rawValue, clientName, presenterLabel, presentedPath, callback, isRunning, since)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      id: reader.read(), presenter: PresenterID(reader.read()), clientName: reader.read(),
      presenterLabel: reader.read(),
      presentedPath: reader.read(), callback: reader.read(), isRunning: reader.read(), since: reader.read())
  }
}

extension WaitMember: WireValue {
  private enum Tag: UInt8, WireTag {
    case access = 1
    case message = 2
    case others = 3
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .access(let summary):
      writer.append(tag: Tag.access)
      writer.append(summary)
    case .message(let summary):
      writer.append(tag: Tag.message)
      writer.append(summary)
    case .others(let count):
      writer.append(tag: Tag.others)
      writer.append(count: count)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .access: self = .access(try reader.read())
    case .message: self = .message(try reader.read())
    case .others: self = .others(try reader.count())
    }
  }
}

extension WaitReport: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(waiter, waiting, blockers, passedOver) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      waiter: reader.read(), waiting: reader.read(), blockers: reader.read(), passedOver: reader.read())
  }
}
