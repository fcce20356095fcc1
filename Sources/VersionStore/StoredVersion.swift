package import ContentHashing
package import SystemInterface

/// The attributes of a version that its creator states.
package struct VersionAttributes: Hashable, Sendable {
  /// The name of the machine that saved it, for people.
  package var deviceName: String
  /// The machine that saved it.
  package var deviceID: String
  /// The user who saved it, where that's known.
  package var author: String?
  /// The versions that its contents were made from.
  package var parents: [VersionID]
  /// Whether it stems from two writers that collided.
  package var isConflict: Bool
  /// Its contents are what two writers had in common: retention policies keep it longest.
  package var isBase: Bool

  package init(
    deviceName: String, deviceID: String, author: String? = nil, parents: [VersionID] = [], isConflict: Bool = false,
    isBase: Bool = false
  ) {
    self.deviceName = deviceName
    self.deviceID = deviceID
    self.author = author
    self.parents = parents
    self.isConflict = isConflict
    self.isBase = isBase
  }
}

/// The record of a version in the store, without its contents.
package struct StoredVersion: Hashable, Sendable {
  package internal(set) var id: VersionID
  package let item: ItemID
  package var attributes: VersionAttributes
  /// Whether it's a directory with everything in it.
  package let isPackage: Bool
  /// Of the contents of a file, or of the list of a package's members; `nil` as long as a file isn't hashed, see
  /// ``VersionStore/hashed(_:)``.
  package internal(set) var hash: ContentHash?
  /// In bytes; of all members.
  package internal(set) var size: Int64
  /// The name that the item had.
  package let name: SystemPath
  /// The permissions that the item had.
  package internal(set) var mode: UInt32
  /// In nanoseconds since 1970.
  package let modificationTime: Int64
  /// The time of day when it was added, if its name has a later one: a version before it was added when the clock was ahead.
  var clockTime: Int64?
  /// For a conflict that was resolved: when, in nanoseconds since 1970.
  package var resolutionTime: Int64?
  /// Whether it may be removed at any time to get space.
  package var isDiscardable = false
  /// Whether it has no directory, because there was no room for one when it was looked at.
  var isBare = false
}

extension StoredVersion {
  /// When it was added by the clock of the machine, in nanoseconds since 1970.
  package var additionTime: Int64 { clockTime ?? Int64(clamping: id.time) }

  /// Whether these are the contents of the file that was kept, as far as that's known.
  package func isOf(_ bytes: [UInt8]) -> Bool { hash == nil || ContentHash(of: bytes) == hash }

  /// Whether a file has these contents by its size and time, which may not say so although it has.
  package func surelyIs(_ status: FileStatus) -> Bool {
    // A second write within the same tick of the file system's clock doesn't show.
    let isSettled = modificationTime < additionTime - 2_000_000_000
    return isSettled && !isPackage && status.kind == .regular && isOf(status)
  }

  /// Whether a file that isn't hashed seems to be as it was when it was kept.
  func isOf(_ status: FileStatus) -> Bool { status.size == size && status.modificationTime == modificationTime }

  func with(_ hash: ContentHash, size: Int64) -> StoredVersion {
    var version = self
    (version.hash, version.size) = (hash, size)
    return version
  }

  /// Unresolved conflicts are those that are listed as such.
  package var isResolved: Bool { !attributes.isConflict || resolutionTime != nil }

  var record: StoreRecord {
    var record = StoreRecord()
    record.add("version", id)
    record.add("item", item)
    record.add("kind", isPackage ? "package" : "file")
    if let hash { record.add("sha256", hash) }
    record.add("size", size)
    record.add("name", bytes: name.bytes)
    record.add("mode", String(mode, radix: 8))
    record.add("modified", modificationTime)
    if let clockTime { record.add("added", clockTime) }
    record.add("device", attributes.deviceID)
    record.add("device-name", attributes.deviceName)
    if let author = attributes.author { record.add("author", author) }
    for parent in attributes.parents { record.add("parent", parent) }
    if attributes.isConflict { record.add("conflict", "yes") }
    if attributes.isBase { record.add("base", "yes") }
    if let resolutionTime { record.add("resolved", resolutionTime) }
    if isDiscardable { record.add("discardable", "yes") }
    return record
  }

  init?(_ record: StoreRecord) {
    guard let id = record.rawValue(of: "version").flatMap({ VersionID($0) }),
      let item = record.rawValue(of: "item").flatMap({ ItemID($0) }), let kind = record.rawValue(of: "kind"),
      let size: Int64 = record.number(of: "size"),
      let name = record.value(of: "name"), let mode = record.text(of: "mode").flatMap({ UInt32($0, radix: 8) }),
      let modificationTime: Int64 = record.number(of: "modified"), let deviceID = record.text(of: "device"),
      let deviceName = record.text(of: "device-name")
    else { return nil }
    self.id = id
    self.item = item
    isPackage = kind.elementsEqual("package".utf8)
    hash = record.value(of: "sha256").flatMap { ContentHash(hexadecimal: $0) }
    if hash == nil, isPackage || record.rawValue(of: "sha256") != nil { return nil }
    self.size = size
    self.name = SystemPath(bytes: name)
    self.mode = mode
    self.modificationTime = modificationTime
    clockTime = record.number(of: "added")
    attributes = VersionAttributes(
      deviceName: deviceName, deviceID: deviceID, author: record.text(of: "author"),
      parents: record.values(of: "parent").compactMap { VersionID($0[...]) },
      isConflict: record.rawValue(of: "conflict") != nil, isBase: record.rawValue(of: "base") != nil)
    resolutionTime = record.number(of: "resolved")
    isDiscardable = record.rawValue(of: "discardable") != nil
  }
}
