internal import Glibc
internal import SystemInterface

/// Carries out the orders of a ``ScopeCore``, and decides nothing.
///
/// Each order is a few calls of the system.
struct ScopeHands: WatchingHands, Sendable {
  let files: any FileSystem
  let watcher: any FileWatcher
  /// Lets time pass in which the second half of a rename may arrive.
  var yield: @Sendable (_ attemptCount: Int) -> Void = Self.letTimePass

  /// For how many attempts the processor is offered to others; then the thread sleeps.
  private static let arrivalYieldCountMax = 16
  /// For how long, in microseconds.
  private static let arrivalPause: UInt32 = 100

  var reader: DirectoryReader { DirectoryReader(files: files, watcher: watcher) }

  func carryOut(_ order: ScopeOrder) -> ScopeOutcome {
    switch order {
    case .takeEvents: return .events(watcher.takeEvents())
    case .awaitArrival(let count):
      yield(count)
      return .events(watcher.takeEvents())
    case .check(let place, let path): return .checked(place, path, facts(at: path))
    case .secure(let place, let path, let reach):
      return .secured(place, path, RootWayFinder(files: files, watcher: watcher).way(to: path, reach))
    case .look(let order): return .looked(order, look(order))
    case .resolve(let link, let path): return .resolved(link, path, target(of: path))
    case .unwatch(let watch):
      watcher.unwatch(watch)
      return .done
    case .readMounts: return .mounts(Set(MountTable.mounts))
    }
  }

  private static func letTimePass(_ attemptCount: Int) {
    // It's there at once, unless the renaming program has lost the processor in between.
    if attemptCount < arrivalYieldCountMax { HostThread.yield() } else { usleep(arrivalPause) }
  }

  private func facts(at path: SystemPath) -> Result<FileFacts, SystemError> {
    Result { () throws(SystemError) in
      FileFacts(try files.status(of: path, at: .workingDirectory, links: .noFollow))
    }
  }

  private func look(_ order: LookOrder) -> LookOrder.Outcome {
    do throws(SystemError) {
      let descriptor = try files.openDirectory(order.path, flags: .pathOnly)
      defer { try? files.close(descriptor) }
      let facts = try reader.facts(of: descriptor)
      guard facts.kind == .directory, facts.identity.inode == order.inode,
        order.device == nil || order.device == facts.identity.device
      else { return .displaced }
      let found = order.names.keys.sorted().map { name in
        let status = Result { () throws(SystemError) in
          FileFacts(try files.status(of: name, at: descriptor, links: .noFollow))
        }
        return (name, status)
      }
      return .found(facts, found)
    } catch {
      return .failed(error)
    }
  }

  private func target(of path: SystemPath) -> Result<LinkTarget, SystemError> {
    Result { () throws(SystemError) in
      let text = try files.readLink(path, at: .workingDirectory)
      let target = try files.canonicalPath(of: path, resolvingLastComponent: true)
      let place = text.isAbsolute ? text : SystemPath(bytes: path.parent.bytes + [UInt8(ascii: "/")] + text.bytes)
      return LinkTarget(path: target, isIndirect: try place.lexicallyCanonical() != target)
    }
  }
}
