internal import FileAccessArbiter

extension ArbiterEvent: WireValue {
  private enum Tag: UInt8, WireTag {
    case accessRequested = 1
    case accessAdopted = 2
    case accessReleased = 3
    case accessCancelled = 4
    case presenterAdded = 5
    case presenterLocated = 6
    case presenterRemoved = 7
    case messageAnswered = 8
    case messageFailed = 9
    case ubiquityAttributesChanged = 10
    case versionChanged = 11
    case changesSeen = 12
    case changesConfirmed = 13
    case echoEnded = 14
    case callbackReturned = 15
    case presenterRelabelled = 16
    case callbackBegan = 17
    case presenterLearned = 18
    case relinquished = 19
  }

  private var tag: Tag {
    switch self {
    case .accessRequested: .accessRequested
    case .accessAdopted: .accessAdopted
    case .accessReleased: .accessReleased
    case .accessCancelled: .accessCancelled
    case .presenterAdded: .presenterAdded
    case .presenterLocated: .presenterLocated
    case .presenterRelabelled: .presenterRelabelled
    case .presenterRemoved: .presenterRemoved
    case .messageAnswered: .messageAnswered
    case .relinquished: .relinquished
    case .messageFailed: .messageFailed
    case .ubiquityAttributesChanged: .ubiquityAttributesChanged
    case .versionChanged: .versionChanged
    case .changesSeen: .changesSeen
    case .changesConfirmed: .changesConfirmed
    case .echoEnded: .echoEnded
    case .callbackReturned: .callbackReturned
    case .callbackBegan: .callbackBegan
    case .presenterLearned: .presenterLearned
    }
  }

  package func encode(into writer: inout WireWriter) {
    writer.append(tag: tag)
    switch self {
    case .accessRequested(let access, let request): writer.append(access, request)
    case .accessAdopted(let access, let request): writer.append(access, request)
    case .accessReleased(let access, let outcomes): writer.append(access, outcomes)
    case .accessCancelled(let access): writer.append(access)
    case .presenterAdded(let presenter, let registration): writer.append(presenter, registration)
    case .presenterLocated(let presenter, let path, let attributes): writer.append(presenter, path, attributes)
    case .presenterRelabelled(let presenter, let label): writer.append(presenter, label)
    case .presenterRemoved(let presenter): writer.append(presenter)
    case .messageAnswered(let message, let hasReacquirer), .relinquished(let message, let hasReacquirer):
      writer.append(message, hasReacquirer)
    case .messageFailed(let message, let explanation): writer.append(message, explanation)
    case .ubiquityAttributesChanged(let announcement, let attributes): writer.append(announcement, attributes)
    case .versionChanged(let announcement, let change, let version): writer.append(announcement, change, version)
    case .changesSeen(let client, let changes), .changesConfirmed(let client, let changes):
      writer.append(client, changes)
    case .echoEnded(let client, let echo): writer.append(client, echo)
    case .callbackReturned(let message), .callbackBegan(let message): writer.append(message)
    case .presenterLearned(let presenter, let callbacks): writer.append(presenter, callbacks)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .accessRequested: self = try .accessRequested(reader.read(), reader.read())
    case .accessAdopted: self = try .accessAdopted(reader.read(), reader.read())
    case .accessReleased: self = try .accessReleased(reader.read(), reader.read())
    case .accessCancelled: self = .accessCancelled(try reader.read())
    case .presenterAdded: self = try .presenterAdded(reader.read(), reader.read())
    case .presenterLocated: self = try .presenterLocated(reader.read(), reader.read(), observing: reader.read())
    case .presenterRelabelled: self = try .presenterRelabelled(reader.read(), reader.read())
    case .presenterRemoved: self = .presenterRemoved(try reader.read())
    case .messageAnswered: self = try .messageAnswered(reader.read(), hasReacquirer: reader.read())
    case .relinquished: self = try .relinquished(reader.read(), hasReacquirer: reader.read())
    case .messageFailed: self = try .messageFailed(reader.read(), explanation: reader.read())
    case .ubiquityAttributesChanged: self = try .ubiquityAttributesChanged(reader.read(), reader.read())
    case .versionChanged: self = try .versionChanged(reader.read(), reader.read(), reader.read())
    case .changesSeen: self = try .changesSeen(reader.read(), reader.read())
    case .changesConfirmed: self = try .changesConfirmed(reader.read(), reader.read())
    case .echoEnded: self = try .echoEnded(reader.read(), reader.read())
    case .callbackReturned: self = .callbackReturned(try reader.read())
    case .callbackBegan: self = .callbackBegan(try reader.read())
    case .presenterLearned: self = try .presenterLearned(reader.read(), reader.read())
    }
  }
}

extension PresenterCallbacks: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(rawValue: try reader.integer()) }
}

extension PresenterRegistration: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(client, purpose, label, callbacks, path, observedUbiquityAttributes, servesWhileWaiting, isActor)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      client: reader.read(), purpose: reader.read(), label: reader.read(), callbacks: reader.read(),
      path: reader.read(), observedUbiquityAttributes: reader.read())
    servesWhileWaiting = try reader.flag()
    isActor = try reader.flag()
  }
}

extension Announcement: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(client, purpose, ownPresenter, label, path)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      client: reader.read(), purpose: reader.read(), ownPresenter: reader.read(), label: reader.read(),
      path: reader.read())
  }
}

extension PresenterFailure: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(code, text, deadlock) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(code: reader.read(), text: reader.read(), deadlock: reader.read())
  }
}
