import FileAccessArbiter

extension ItemAccess {
  static let read = ItemAccess.read(withoutChanges: false)
  static let snapshot = ItemAccess.readAll(withoutChanges: false)
  static let update = ItemAccess.write(.update)
  static let merging = ItemAccess.write(.merging)
  static let deleting = ItemAccess.write(.deleting)
  static let moving = ItemAccess.write(.moving)
  static let plainWrites: [ItemAccess] = [.write(.update), .write(.merging), .write(.metadataOnly)]
  static let deepWrites: [ItemAccess] = [.write(.deleting), .write(.moving), .write(.replacing)]
  static let writes = plainWrites + deepWrites
}
