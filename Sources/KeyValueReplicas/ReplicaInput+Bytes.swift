internal import CompactContainers

extension HybridTime {
  func write(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: wall)
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: replica.rawValue)
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    self.init(
      wall: try reader.integer(), count: try reader.integer(), replica: ReplicaID(rawValue: try reader.integer()))
  }
}

extension KeyWrite {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(data: Array(key.utf8))
    bytes.append(value) { $0.write(to: &$1) }
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    key = try reader.string()
    value = try reader.optional { (reader) throws(DamagedBytes) in try StoredValue(from: &reader) }
  }
}

extension SharedItem {
  func write(to bytes: inout [UInt8]) {
    bytes.append(data: Array(key.utf8))
    bytes.append(value) { $0.write(to: &$1) }
    time.write(to: &bytes)
    bytes.append(littleEndian: revision)
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    key = try reader.string()
    value = try reader.optional { (reader) throws(DamagedBytes) in try StoredValue(from: &reader) }
    time = try HybridTime(from: &reader)
    revision = try reader.integer()
  }
}

extension Acknowledgement {
  func write(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: Int64(upload))
    bytes.append(littleEndian: revision)
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    self.init(upload: Int(try reader.integer(Int64.self)), revision: try reader.integer())
  }
}

extension SharedBatch {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(all: items) { $0.write(to: &$1) }
    bytes.append(acknowledgement) { $0.write(to: &$1) }
    bytes.append(isComplete)
    bytes.append(littleEndian: revision)
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    items = try reader.array { (reader) throws(DamagedBytes) in try SharedItem(from: &reader) }
    acknowledgement = try reader.optional { (reader) throws(DamagedBytes) in try Acknowledgement(from: &reader) }
    isComplete = try reader.boolean()
    revision = try reader.integer()
  }
}

extension UploadOutcome {
  fileprivate func write(to bytes: inout [UInt8]) {
    switch self {
    case .applied(let revision):
      bytes.append(0)
      bytes.append(littleEndian: revision)
    case .outdated: bytes.append(1)
    case .overQuota: bytes.append(2)
    case .unknown: bytes.append(3)
    case .tooLarge: bytes.append(4)
    }
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    switch try reader.integer(UInt8.self) {
    case 0: self = .applied(revision: try reader.integer())
    case 1: self = .outdated
    case 2: self = .overQuota
    case 3: self = .unknown
    case 4: self = .tooLarge
    default: throw DamagedBytes()
    }
  }
}

extension ReplicaInput {
  func write(to bytes: inout [UInt8]) {
    switch self {
    case .write(let writes, let isForced):
      bytes.append(0)
      bytes.append(all: writes) { $0.write(to: &$1) }
      bytes.append(isForced)
    case .received(let batch):
      bytes.append(1)
      batch.write(to: &bytes)
    case .uploadWasDue: bytes.append(2)
    case .uploadEnded(let id, let outcome):
      bytes.append(3)
      bytes.append(littleEndian: Int64(id))
      outcome.write(to: &bytes)
    case .configured(let settings):
      bytes.append(4)
      settings.write(to: &bytes)
    case .restored(let state):
      bytes.append(5)
      state.write(to: &bytes)
    case .uploadIsDue: bytes.append(6)
    case .moved(let writes):
      bytes.append(7)
      bytes.append(all: writes) { $0.write(to: &$1) }
    }
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    switch try reader.integer(UInt8.self) {
    case 0: self = .write(try reader.writes(), isForced: try reader.boolean())
    case 1: self = .received(try SharedBatch(from: &reader))
    case 2: self = .uploadWasDue
    case 3:
      let id = Int(try reader.integer(Int64.self))
      self = .uploadEnded(id, try UploadOutcome(from: &reader))
    case 4: self = .configured(try ReplicaSettings(from: &reader))
    case 5: self = .restored(try ReplicaState(from: &reader))
    case 6: self = .uploadIsDue
    case 7: self = .moved(try reader.writes())
    default: throw DamagedBytes()
    }
  }
}

extension ByteReader {
  fileprivate mutating func writes() throws(DamagedBytes) -> [KeyWrite] {
    try array { (reader) throws(DamagedBytes) in try KeyWrite(from: &reader) }
  }
}
