internal import FileAccessArbiter

// How an access comes out.

extension Grant.Item: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(path, wasMoved, wasReplaced) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(path: reader.read(), wasMoved: reader.read(), wasReplaced: reader.read())
  }
}

extension Grant: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(items, wantsOutcome, unanswered) }

  package init(from reader: inout WireReader) throws(WireError) {
    try self.init(items: reader.read(), wantsOutcome: reader.read(), unanswered: reader.read())
  }
}

extension Failure: WireValue {
  private enum Tag: UInt8, WireTag {
    case cancelled = 1
    case timedOut = 2
    case unanswered = 3
    case presenterFailed = 4
    case evictionRefused = 5
    case deadlock = 6
    case outerAccessEnded = 7
    case nestedTooDeep = 8
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .cancelled:
      writer.append(tag: Tag.cancelled)
    case .timedOut(let waiting, let blockers):
      writer.append(tag: Tag.timedOut)
      writer.append(waiting, blockers)
    case .unanswered(let waiting, let blockers, let followers):
      writer.append(tag: Tag.unanswered)
      writer.append(waiting, blockers, followers)
    case .presenterFailed(let message, let summary):
      writer.append(tag: Tag.presenterFailed)
      writer.append(message, summary)
    case .evictionRefused(let presenterLabel, let isCallbackMissing):
      writer.append(tag: Tag.evictionRefused)
      writer.append(presenterLabel, isCallbackMissing)
    case .deadlock(let members):
      writer.append(tag: Tag.deadlock)
      writer.append(members)
    case .outerAccessEnded:
      writer.append(tag: Tag.outerAccessEnded)
    case .nestedTooDeep(let limit):
      writer.append(tag: Tag.nestedTooDeep)
      writer.append(count: limit)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .cancelled: self = .cancelled
    case .timedOut: self = try .timedOut(waiting: reader.read(), blockers: reader.read())
    case .unanswered:
      self = try .unanswered(waiting: reader.read(), blockers: reader.read(), followers: reader.read())
    case .presenterFailed: self = try .presenterFailed(reader.read(), reader.read())
    case .evictionRefused:
      self = try .evictionRefused(presenterLabel: reader.read(), isCallbackMissing: reader.read())
    case .deadlock: self = .deadlock(try reader.read())
    case .outerAccessEnded: self = .outerAccessEnded
    case .nestedTooDeep: self = .nestedTooDeep(limit: try reader.count())
    }
  }
}
