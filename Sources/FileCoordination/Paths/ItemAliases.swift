internal import CompactContainers
internal import FileAccessArbiter
internal import SystemInterface

/// The claims of an access beside those of its items, in a domain that coordinates files by identity, too.
///
/// An item has an alias for itself, by device and inode, and one for each directory on the way, with the rest of the
/// path behind it. Hard links have the first in common. Paths below a directory that's mounted at several places have
/// those from that directory on in common, also where nothing exists yet, and where another file takes the place of
/// one. An alias is claimed like the item. So the rules for items inside of each other hold for aliases, too: an access
/// that deletes a directory by one path waits for an access that reads in it by another.
enum ItemAliases {
  /// Determines the aliases of an item.
  ///
  /// Directories on the way are followed where the path has a link. Only paths that were taken at their word have one.
  ///
  /// - Parameters:
  ///   - path: Where the item is.
  ///   - access: The kind of access.
  ///   - fileSystem: The door to the file system.
  /// - Returns: One alias for each directory on the way that exists, and one for the item if it exists.
  /// - Throws: The error of statx(2), such as EACCES.
  /// - Complexity: One system call for each component of the path.
  static func aliases(
    of path: ItemPath, _ access: ItemAccess, in fileSystem: any FileSystem
  ) throws(SystemError) -> [AccessRequest.Item] {
    let bytes = path.bytes
    let claim = claim(like: access)
    var result: [AccessRequest.Item] = []
    var end = 0
    while true {
      let isItem = end == bytes.count || path.isRoot
      let prefix = SystemPath(bytes: end == 0 ? bytes[...0] : bytes[..<end])
      guard let identity = try identity(of: prefix, isItem ? .noFollow : .follow, fileSystem) else { return result }
      let name = "\(identity.device)-\(identity.inode)"
      result.append(AccessRequest.Item(ItemPath(alias: name, followedBy: isItem ? [] : bytes[end...]), claim))
      if isItem { return result }
      end = bytes[(end + 1)...].firstIndex(of: FileURLCoding.slash) ?? bytes.count
    }
  }

  private static func identity(
    of path: SystemPath, _ links: LinkTreatment, _ fileSystem: any FileSystem
  ) throws(SystemError) -> FileIdentity? {
    do throws(SystemError) {
      return try fileSystem.status(of: path, at: .workingDirectory, links: links).identity
    } catch {
      if error.isAbsence { return nil }
      throw error
    }
  }

  /// An alias has no presenters: only conflicts matter.
  private static func claim(like access: ItemAccess) -> ItemAccess {
    switch (access.isWrite, access.includesContents) {
    case (false, false): .read(withoutChanges: true)
    case (false, true): .readAll(withoutChanges: true)
    case (true, false): .write(.update)
    case (true, true): .write(.moving)
    }
  }
}

extension AccessPlan {
  /// The items of the request for the plan, with their aliases.
  func requestedItems(in host: ArbiterHost) throws(FileCoordinationError) -> ShortList<AccessRequest.Item> {
    var requested = ShortList<AccessRequest.Item>()
    requested.reserveCapacity(items.count)
    for item in items { requested.append(AccessRequest.Item(item.location.path, item.access)) }
    for alias in try aliases(at: items.map(\.location.path), in: host) { requested.append(alias) }
    return requested
  }

  /// The aliases of all items, where a domain coordinates files by identity, too.
  func aliases(
    at paths: @autoclosure () -> [ItemPath], in host: ArbiterHost
  ) throws(FileCoordinationError) -> [AccessRequest.Item] {
    if !host.configuration.coordinatesFilesByIdentity || isPreparation { return [] }
    var result: [AccessRequest.Item] = []
    for (item, path) in zip(items, paths()) {
      result += try FileCoordinationError.wrapping { () throws(SystemError) in
        try ItemAliases.aliases(of: path, item.access, in: host.configuration.fileSystem)
      }
    }
    return result
  }

  /// The plan for items that have gone elsewhere since it was made.
  fileprivate func following(_ waiter: AccessWaiter) -> AccessPlan {
    var plan = self
    for (index, item) in items.enumerated() {
      let location = FileLocation(
        waiter.url(of: index), at: waiter.path(of: index), spelling: item.location.spelling)
      let wasMoved = item.wasMoved || waiter.path(of: index) != item.location.path
      plan.items[index] = Item(
        access: item.access, location: location, isUpload: item.isUpload, wasMoved: wasMoved)
    }
    return plan
  }
}

extension GrantedAccess {
  /// How often an access is requested anew because another file took the place of its item while it waited.
  ///
  /// Each time another access got ahead with a safe save of the same item.
  static let aliasAttemptCountMax = 1000

  /// Checks whether the access claims all aliases that its items have now, when no other access can change them any
  /// more.
  ///
  /// - Parameter plan: The original request.
  /// - Returns: The request to make instead when this access has ended; `nil` if it may go on.
  /// - Throws: The error of the check; the access has ended then.
  func planForOtherAliases(_ plan: AccessPlan) throws(FileCoordinationError) -> AccessPlan? {
    if !host.configuration.coordinatesFilesByIdentity { return nil }
    do throws(FileCoordinationError) {
      let now = try plan.aliases(at: items.indices.map(waiter.path), in: host)
      return Set(now).isSubset(of: waiter.aliases) ? nil : plan.following(waiter)
    } catch {
      end()
      throw error
    }
  }
}

/// The rest of the deadlines of an access that is requested again, because its file has become another one meanwhile.
///
/// All requests together last no longer than one whose both phases take all their time.
struct RepeatedRequest {
  private let host: ArbiterHost
  private let deadlines: AccessDeadlines
  private let start: MonotonicTime

  init(_ host: ArbiterHost, _ deadlines: AccessDeadlines) {
    self.host = host
    self.deadlines = deadlines
    start = host.configuration.clock.now
  }

  /// The deadlines of the next request.
  var remainder: AccessDeadlines {
    guard let waiting = deadlines.waitingForAccesses, let answering = deadlines.waitingForAnswers else {
      return deadlines
    }
    let left = max(.zero, waiting + answering - start.duration(to: host.configuration.clock.now))
    var result = deadlines
    result.waitingForAccesses = min(waiting, left)
    result.waitingForAnswers = min(answering, left)
    return result
  }
}
