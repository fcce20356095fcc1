internal import FileAccessArbiter

extension ItemChange: WireValue {
  private enum Tag: UInt8, WireTag {
    case changed = 1
    case appeared = 2
    case vanished = 3
    case moved = 4
    case unknown = 5
  }

  package func encode(into writer: inout WireWriter) {
    switch self {
    case .changed(let path):
      writer.append(tag: Tag.changed)
      writer.append(path)
    case .appeared(let path):
      writer.append(tag: Tag.appeared)
      writer.append(path)
    case .vanished(let path):
      writer.append(tag: Tag.vanished)
      writer.append(path)
    case .moved(let old, let new, let replaced):
      writer.append(tag: Tag.moved)
      writer.append(old, new, replaced)
    case .unknown(let path):
      writer.append(tag: Tag.unknown)
      writer.append(path)
    }
  }

  package init(from reader: inout WireReader) throws(WireError) {
    switch try reader.tag(of: Tag.self) {
    case .changed: self = .changed(try reader.read())
    case .appeared: self = .appeared(try reader.read())
    case .vanished: self = .vanished(try reader.read())
    case .moved: self = try .moved(from: reader.read(), to: reader.read(), replaced: reader.read())
    case .unknown: self = .unknown(try reader.read())
    }
  }
}

extension EchoID: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(rawValue) }
  package init(from reader: inout WireReader) throws(WireError) { self.init(try reader.integer()) }
}
