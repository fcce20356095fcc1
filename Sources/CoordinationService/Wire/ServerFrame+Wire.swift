extension ServerFrame: WireValue {
  private enum Tag: UInt8, WireTag {
    case welcome = 1
    // The same in all versions.
    case refused = 2
    case granted = 3
    case failed = 4
    case delivered = 5
    case itemMoved = 6
    case presenterMoved = 7
    case presenterToBeLocated = 8
    case presenterForgotten = 9
    case reported = 10
    case delegated = 11
    case recalled = 12
    case answered = 13
    case survey = 14
    case snapshot = 15
    case lost = 16
    case graceEnded = 17
    case moved = 18
    case observed = 19
    case settle = 20
    case verifyAgain = 21
    case saveWithdrawn = 22
  }

  private var tag: Tag {
    switch self {
    case .welcome: .welcome
    case .refused: .refused
    case .granted: .granted
    case .failed: .failed
    case .delivered: .delivered
    case .itemMoved: .itemMoved
    case .presenterMoved: .presenterMoved
    case .presenterToBeLocated: .presenterToBeLocated
    case .presenterForgotten: .presenterForgotten
    case .reported: .reported
    case .delegated: .delegated
    case .recalled: .recalled
    case .answered: .answered
    case .survey: .survey
    case .snapshot: .snapshot
    case .lost: .lost
    case .graceEnded: .graceEnded
    case .moved: .moved
    case .observed: .observed
    case .settle: .settle
    case .verifyAgain: .verifyAgain
    case .saveWithdrawn: .saveWithdrawn
    }
  }

  package func encode(into writer: inout WireWriter) {
    writer.append(tag: tag)
    switch self {
    case .welcome(let welcome): writer.append(welcome)
    case .refused(let refusal, let explanation): writer.append(refusal, explanation)
    case .granted(let access, let grant, let token): writer.append(access, grant, token)
    case .failed(let access, let failure, let explanation): writer.append(access, failure, explanation)
    case .delivered(let delivery, let origin): writer.append(delivery, origin)
    case .itemMoved(let access, let item, let path): writer.append(access, item, path)
    case .presenterMoved(let presenter, let path): writer.append(presenter, path)
    case .presenterToBeLocated(let presenter): writer.append(presenter)
    case .presenterForgotten(let presenter): writer.append(presenter)
    case .reported(let access, let report): writer.append(access, report)
    case .delegated(let delegation, let root, let mode): writer.append(delegation, root, mode)
    case .recalled(let delegation): writer.append(delegation)
    case .answered(let number, let answer): writer.append(number, answer)
    case .survey(let number): writer.append(number)
    case .snapshot(let number, let reply): writer.append(number, reply)
    case .lost(let access): writer.append(access)
    case .graceEnded: break
    case .moved(let old, let new): writer.append(old, new)
    case .observed(let reply): writer.append(reply)
    case .settle(let echo): writer.append(echo)
    case .verifyAgain(let change): writer.append(change)
    case .saveWithdrawn(let message): writer.append(message)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .welcome: self = .welcome(try reader.read())
    case .refused: self = try .refused(reader.read(), explanation: reader.read())
    case .granted: self = try .granted(reader.read(), reader.read(), reader.read())
    case .failed: self = try .failed(reader.read(), reader.read(), explanation: reader.read())
    case .delivered: self = try .delivered(reader.read(), reader.read())
    case .itemMoved: self = try .itemMoved(reader.read(), item: reader.read(), to: reader.read())
    case .presenterMoved: self = try .presenterMoved(reader.read(), to: reader.read())
    case .presenterToBeLocated: self = .presenterToBeLocated(try reader.read())
    case .presenterForgotten: self = .presenterForgotten(try reader.read())
    case .reported: self = try .reported(reader.read(), reader.read())
    case .delegated: self = try .delegated(reader.read(), root: reader.read(), mode: reader.read())
    case .recalled: self = .recalled(try reader.read())
    case .answered: self = try .answered(reader.read(), reader.read())
    case .survey: self = .survey(try reader.read())
    case .snapshot: self = try .snapshot(reader.read(), reader.read())
    case .lost: self = .lost(try reader.read())
    case .graceEnded: self = .graceEnded
    case .moved: self = try .moved(from: reader.read(), to: reader.read())
    case .observed: self = .observed(try reader.read())
    case .settle: self = .settle(try reader.read())
    case .verifyAgain: self = .verifyAgain(try reader.read())
    case .saveWithdrawn: self = .saveWithdrawn(try reader.read())
    }
  }
}

extension Welcome: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(epoch, serviceProcessIdentifier)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(epoch: reader.read(), serviceProcessIdentifier: reader.read())
  }
}

extension Refusal: TaggedWireValue {}

extension DeliveryOrigin: WireValue {
  package func encode(into writer: inout WireWriter) {
    writer.append(processIdentifier, processName, purpose, debtOrigin)
  }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(
      processIdentifier: reader.read(), processName: reader.read(), purpose: reader.read(),
      debtOrigin: reader.read())
  }
}
