extension ClientFrame: WireValue {
  private enum Tag: UInt8, WireTag {
    // The same in all versions.
    case hello = 1
    case purposeNamed = 2
    case event = 3
    case presenterEvent = 4
    case itemMoved = 5
    case delegationReturned = 6
    case reasserted = 7
    case reassertionEnded = 8
    case snapshotWanted = 9
    case surveyed = 10
    case validationWanted = 11
    case observationWanted = 12
    case serviceWanted = 13
    case purposeForgotten = 14
    case accessShared = 15
  }

  private var tag: Tag {
    switch self {
    case .hello: .hello
    case .purposeNamed: .purposeNamed
    case .purposeForgotten: .purposeForgotten
    case .event: .event
    case .presenterEvent: .presenterEvent
    case .itemMoved: .itemMoved
    case .delegationReturned: .delegationReturned
    case .reasserted: .reasserted
    case .reassertionEnded: .reassertionEnded
    case .snapshotWanted: .snapshotWanted
    case .surveyed: .surveyed
    case .validationWanted: .validationWanted
    case .observationWanted: .observationWanted
    case .serviceWanted: .serviceWanted
    case .accessShared: .accessShared
    }
  }

  package func encode(into writer: inout WireWriter) {
    writer.append(tag: tag)
    switch self {
    case .hello(let hello): writer.append(hello)
    case .purposeNamed(let purpose, let name): writer.append(purpose, name)
    case .purposeForgotten(let purpose): writer.append(purpose)
    case .event(let event): writer.append(event)
    case .presenterEvent(let number, let event): writer.append(number, event)
    case .itemMoved(let number, let access, let old, let new, let replaced):
      writer.append(number, access, old, new, replaced)
    case .delegationReturned(let delegation): writer.append(delegation)
    case .reasserted(let reassertion): writer.append(reassertion)
    case .reassertionEnded, .serviceWanted: break
    case .snapshotWanted(let number): writer.append(number)
    case .surveyed(let number): writer.append(number)
    case .validationWanted(let number, let access): writer.append(number, access)
    case .observationWanted(let isWanted): writer.append(isWanted)
    case .accessShared(let number, let access, let token): writer.append(number, access, token)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .hello: self = .hello(try reader.read())
    case .purposeNamed: self = try .purposeNamed(reader.read(), reader.read())
    case .purposeForgotten: self = .purposeForgotten(try reader.read())
    case .event: self = .event(try reader.read())
    case .presenterEvent: self = try .presenterEvent(reader.read(), reader.read())
    case .itemMoved:
      self = try .itemMoved(
        reader.read(), by: reader.read(), from: reader.read(), to: reader.read(), replaced: reader.read())
    case .delegationReturned: self = .delegationReturned(try reader.read())
    case .reasserted: self = .reasserted(try reader.read())
    case .reassertionEnded: self = .reassertionEnded
    case .snapshotWanted: self = .snapshotWanted(try reader.read())
    case .surveyed: self = .surveyed(try reader.read())
    case .validationWanted: self = try .validationWanted(reader.read(), reader.read())
    case .observationWanted: self = .observationWanted(try reader.read())
    case .serviceWanted: self = .serviceWanted
    case .accessShared: self = try .accessShared(reader.read(), reader.read(), reader.read())
    }
  }
}

extension Hello: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(
      version, session, processIdentifier, processStartTime, processName, packageExtensions, previousEpoch,
      outerAccess)
  }

  /// Only the version is understood of a process of another version, and the rest is empty.
  package init(from reader: inout WireReader) throws(WireError) {
    let version: UInt32 = try reader.read()
    guard version == Hello.currentVersion else {
      reader.skipRest()
      self.init(
        version: version, session: 0, processIdentifier: 0, processStartTime: 0, processName: "",
        packageExtensions: [], previousEpoch: 0)
      return
    }
    try self.init(
      version: version, session: reader.read(), processIdentifier: reader.read(), processStartTime: reader.read(),
      processName: reader.read(), packageExtensions: reader.read(), previousEpoch: reader.read(),
      outerAccess: reader.read())
  }
}

extension Reassertion: WireValue {
  private enum Tag: UInt8, WireTag {
    case access = 1
    case presenter = 2
    case debt = 3
    case token = 4
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .access(let access, let request):
      writer.append(tag: Tag.access)
      writer.append(access, request)
    case .presenter(let presenter, let registration, let running):
      writer.append(tag: Tag.presenter)
      writer.append(presenter, registration, running)
    case .debt(let presenter, let message, let origin):
      writer.append(tag: Tag.debt)
      writer.append(presenter, message, origin)
    case .token(let access, let token):
      writer.append(tag: Tag.token)
      writer.append(access, token)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .access: self = try .access(reader.read(), reader.read())
    case .presenter: self = try .presenter(reader.read(), reader.read(), running: reader.read())
    case .debt: self = try .debt(reader.read(), reader.read(), owedFor: reader.read())
    case .token: self = try .token(reader.read(), reader.read())
    }
  }
}

extension RunningCallback: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(message, kind) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(message: reader.read(), kind: reader.read())
  }
}

extension DebtOrigin: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(session, access) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(session: reader.read(), access: reader.read())
  }
}

extension DelegationMode: TaggedWireValue {}
