internal import CompactContainers

extension ReplicaSettings {
  func write(to bytes: inout [UInt8]) {
    bytes.append(policies: policies)
    bytes.append(littleEndian: Int64(uploadCountMax))
    bytes.append(littleEndian: uploadInterval)
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    policies = try reader.policies()
    uploadCountMax = Int(try reader.integer(Int64.self))
    uploadInterval = try reader.integer()
  }
}

extension ReplicaState {
  func write(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: clock.replica.rawValue)
    bytes.append(littleEndian: clock.wall)
    bytes.append(littleEndian: clock.count)
    bytes.append(all: entries.sorted()) { entry, bytes in
      bytes.append(data: Array(entry.key.utf8))
      bytes.append(entry.value.shared) { $0.write(to: &$1) }
      bytes.append(entry.value.pending) { $0.write(to: &$1) }
    }
    bytes.append(littleEndian: Int64(sequence))
    bytes.append(attempt) { $0.write(to: &$1) }
    bytes.append(needsRead)
    bytes.append(littleEndian: Int64(lastUpload))
    bytes.append(hasHeld)
    bytes.append(acknowledgement) { $0.write(to: &$1) }
    budget.write(to: &bytes)
    bytes.append(hasRead)
    bytes.append(all: losses) { $0.write(to: &$1) }
    bytes.append(policies: policies)
    bytes.append(uploadSizeMax.map(Int64.init)) { $1.append(littleEndian: $0) }
  }

  init(from reader: inout ByteReader) throws(DamagedBytes) {
    let replica = ReplicaID(rawValue: try reader.integer())
    clock = HybridClock(replica, wall: try reader.integer(), count: try reader.integer())
    entries = KeyTable()
    for _ in 0..<(try reader.count()) {
      let key = try reader.string()
      let shared = try reader.optional { (reader) throws(DamagedBytes) in try SharedItem(from: &reader) }
      let pending = try reader.optional { (reader) throws(DamagedBytes) in try ReplicaCore.Pending(from: &reader) }
      let entry = ReplicaCore.Entry(shared: shared, pending: pending)
      if entries.contains(key) { throw DamagedBytes() }
      entries[key] = entry
    }
    sequence = Int(try reader.integer(Int64.self))
    attempt = try reader.optional { (reader) throws(DamagedBytes) in try Upload(from: &reader) }
    needsRead = try reader.boolean()
    lastUpload = Int(try reader.integer(Int64.self))
    hasHeld = try reader.boolean()
    acknowledgement = try reader.optional { (reader) throws(DamagedBytes) in try Acknowledgement(from: &reader) }
    budget = try UploadBudget(from: &reader)
    hasRead = try reader.boolean()
    losses = try reader.array { (reader) throws(DamagedBytes) in try ReplicaCore.Loss(from: &reader) }
    policies = try reader.policies()
    // States that earlier versions have written end here.
    if reader.isAtEnd { return }
    uploadSizeMax = try reader.optional { (reader) throws(DamagedBytes) in Int(try reader.integer(Int64.self)) }
  }
}

extension ReplicaCore.Pending {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(value) { $0.write(to: &$1) }
    time.write(to: &bytes)
    bytes.append(littleEndian: Int64(sequence))
    bytes.append(littleEndian: Int64(group))
    bytes.append(base) { $0.write(to: &$1) }
    bytes.append(isProvisional)
    bytes.append(isHeld)
    bytes.append(isRestored)
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    self.init(
      value: try reader.value(), time: try HybridTime(from: &reader),
      sequence: Int(try reader.integer(Int64.self)), group: Int(try reader.integer(Int64.self)),
      base: try reader.value(), isProvisional: try reader.boolean(), isHeld: try reader.boolean(),
      isRestored: try reader.boolean())
  }
}

extension ReplicaCore.Loss {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(data: Array(key.utf8))
    bytes.append(value) { $0.write(to: &$1) }
    time.write(to: &bytes)
    winner.write(to: &bytes)
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    self.init(
      key: try reader.string(), value: try reader.value(), time: try HybridTime(from: &reader),
      winner: try HybridTime(from: &reader))
  }
}

extension Upload {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: Int64(id))
    bytes.append(all: items) { item, bytes in
      bytes.append(data: Array(item.key.utf8))
      bytes.append(item.value) { $0.write(to: &$1) }
      item.time.write(to: &bytes)
      bytes.append(littleEndian: item.expectedRevision)
      bytes.append(littleEndian: Int64(item.sequence))
    }
    bytes.append(littleEndian: expectedAcknowledgement)
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    id = Int(try reader.integer(Int64.self))
    items = try reader.array { (reader) throws(DamagedBytes) in
      Item(
        key: try reader.string(), value: try reader.value(), time: try HybridTime(from: &reader),
        expectedRevision: try reader.integer(), sequence: Int(try reader.integer(Int64.self)))
    }
    expectedAcknowledgement = try reader.integer()
  }
}

extension UploadBudget {
  fileprivate func write(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: Int64(countMax))
    bytes.append(littleEndian: interval)
    bytes.append(littleEndian: Int64(count))
    bytes.append(addedAt) { $1.append(littleEndian: $0) }
  }

  fileprivate init(from reader: inout ByteReader) throws(DamagedBytes) {
    self.init(
      countMax: Int(try reader.integer(Int64.self)), interval: try reader.integer(),
      count: Int(try reader.integer(Int64.self)),
      addedAt: try reader.optional { (reader) throws(DamagedBytes) in try reader.integer() })
  }
}

extension ByteReader {
  fileprivate mutating func value() throws(DamagedBytes) -> StoredValue? {
    try optional { (reader) throws(DamagedBytes) in try StoredValue(from: &reader) }
  }

  fileprivate mutating func policies() throws(DamagedBytes) -> [String: MergePolicy.Kind] {
    var policies: [String: MergePolicy.Kind] = [:]
    for _ in 0..<(try count()) {
      let key = try string()
      guard let kind = MergePolicy.Kind(rawValue: try integer()) else { throw DamagedBytes() }
      if policies.updateValue(kind, forKey: key) != nil { throw DamagedBytes() }
    }
    return policies
  }
}

extension [UInt8] {
  fileprivate mutating func append(policies: [String: MergePolicy.Kind]) {
    append(all: policies.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) { policy, bytes in
      bytes.append(data: Swift.Array(policy.key.utf8))
      bytes.append(policy.value.rawValue)
    }
  }
}
