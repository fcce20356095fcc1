internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// Carries out the orders of a ``ChangeCore``, and decides nothing.
///
/// Each order is a few calls of the system.
struct ChangeHands: WatchingHands, Sendable {
  let files: any FileSystem
  let watcher: any FileWatcher
  let budget: HandleBudget
  /// The items that are held for presenters; each order of ``ChangeCore`` that ends the need for one releases it.
  var handles: [PresenterID: ItemHandle] = [:]

  mutating func carryOut(_ order: ChangeOrder) -> ChangeOutcome {
    switch order {
    case .takeEvents: return .events(watcher.takeEvents())
    case .watch(let path, let interest, let isDirectory):
      return .watched(
        Result { () throws(SystemError) in
          try watcher.watch(path.systemPath, interest, isDirectory: isDirectory)
        })
    case .unwatch(let watch):
      watcher.unwatch(watch)
      return .done
    case .look(let path): return .looked(isPresent: files.statusWithoutLinks(of: path) != nil)
    case .hold(let id, let path): return .held(hold(id, path))
    case .release(let id):
      handles.removeValue(forKey: id)?.close(in: files, budget)
      return .done
    case .find(let id, let place): return .found(handles[id]?.currentPath(orAt: place, in: files))
    case .list(let directory): return .listed(members(of: directory))
    }
  }

  mutating func releaseAll() {
    for handle in handles.values { handle.close(in: files, budget) }
    handles = [:]
  }

  private mutating func hold(_ id: PresenterID, _ path: ItemPath) -> HeldItem? {
    guard let handle = ItemHandle(path, in: files, budget, insteadOf: handles[id]) else { return nil }
    handles.updateValue(handle, forKey: id)?.close(in: files, budget)
    return HeldItem(identity: handle.identity, isDirectory: handle.kind == .directory, isFoundAnywhere: handle.isHeld)
  }

  private func status(of path: ItemPath) -> FileStatus? {
    (try? files.statusIfPresent(of: path.systemPath)) ?? nil
  }

  private func members(of directory: ItemPath) -> [ListedMember] {
    guard
      let opened = try? files.open(
        directory.systemPath, at: .workingDirectory, flags: [.directory, .noFollow], mode: 0)
    else { return [] }
    defer { try? files.close(opened) }
    var members: [ListedMember] = []
    while let batch = (try? files.readDirectory(opened)) ?? nil {
      for entry in batch {
        let kind = entry.kind ?? status(of: directory.appending(entry.name))?.kind
        members.append(ListedMember(name: entry.name, isDirectory: kind == .directory))
      }
    }
    return members
  }
}
