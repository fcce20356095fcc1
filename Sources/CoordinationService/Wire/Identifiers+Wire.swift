internal import FileAccessArbiter

// Numbers that a process gives to its own things have a limit, those that the service gives have none. In reports and
// origins, numbers belong to other processes and are read without the limit.

extension AccessID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(ownNumber: rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.ownNumber()) }
}

extension PresenterID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(ownNumber: rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.ownNumber()) }
}

extension PurposeID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(ownNumber: rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.ownNumber()) }
}

extension MessageID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(epoch, rawValue) }

  package init(from reader: inout WireReader) throws(WireError) {
    let epoch = try reader.integer(UInt64.self)
    self.init(try reader.integer(), epoch: epoch)
  }
}

extension ClientID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.integer()) }
}

extension RequestNumber: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.integer()) }
}

extension DelegationID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.integer()) }
}

extension FencingToken: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(epoch, sequence) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(epoch: reader.read(), sequence: reader.read())
  }
}

extension AccessToken: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(high, low) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(high: reader.read(), low: reader.read())
  }
}

extension ExecutionContext: WireValue {
  private enum Tag: UInt8, WireTag {
    case access = 1
    case message = 2
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .access(let access):
      writer.append(tag: Tag.access)
      writer.append(access)
    case .message(let message):
      writer.append(tag: Tag.message)
      writer.append(message)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .access: self = .access(try reader.read())
    case .message: self = .message(try reader.read())
    }
  }
}
