internal import SystemInterface

/// An order to read a directory, with all the data needed: any thread can carry it out.
struct ReadOrder: Sendable {
  /// Whether to watch the directory.
  enum Watching: Sendable {
    case wanted
    /// It's watched already, or it mustn't be.
    case unwanted
  }

  let directory: FileNumber
  let path: SystemPath
  let inode: UInt64
  /// The device that the directory must be on, if that's known.
  let device: UInt64?
  /// The device outside of which it isn't read, if there's one.
  let boundary: UInt64?
  let watching: Watching
  let depth: DirectoryListing.Depth
  /// Its facts in a former run: if they're still the same, it needn't be read.
  let kept: KeptDirectory?
}

/// The result of reading a directory.
struct DirectoryReading: Sendable {
  enum Outcome: Sendable {
    case failed(SystemError)
    /// Another file is at its place.
    case displaced
    /// It's beyond the boundary.
    case excluded(FileFacts)
    case read(Contents)
    /// Nothing has changed in it since a former run, and it's watched.
    case unaltered(FileFacts, WatchID)
  }

  struct Contents: Sendable {
    /// Its facts when it was being watched.
    let facts: FileFacts
    /// `nil` if it wasn't to be watched.
    let watch: Result<WatchID, SystemError>?
    /// When reading began, as files get it for their times.
    let moment: Int64
    var listings: [DirectoryListing]
    /// Why the rest of it couldn't be read.
    var error: SystemError?
    /// Whether there's more to read, which is reported part by part.
    var hasMore = false
  }

  let directory: FileNumber
  /// The watching that was ordered, whatever the outcome.
  let watching: ReadOrder.Watching
  let outcome: Outcome
}

/// A directory of which only a part has been taken yet.
struct UnfinishedReading: Sendable {
  let directory: FileNumber
  /// Its facts, without its members.
  var contents: DirectoryReading.Contents
  /// Members that haven't been seen yet.
  var missing: Set<FileNumber>
}

/// Reads directories, on any thread.
///
/// A directory is watched before it's read, so that nothing is missed that is made meanwhile.
struct DirectoryReader: Sendable {
  let files: any FileSystem
  let watcher: any FileWatcher

  /// How many parts of a directory are kept in memory; the receiver reads the rest part by part.
  private static let listingCountMax = 8

  /// - Returns: The reading, and the descriptor to read on with if there's more, which the receiver has to close.
  func read(_ order: ReadOrder) -> (DirectoryReading, rest: FileDescriptor?) {
    var rest: FileDescriptor?
    var outcome: DirectoryReading.Outcome
    do throws(SystemError) { outcome = try self.outcome(order, &rest) } catch { outcome = .failed(error) }
    return (DirectoryReading(directory: order.directory, watching: order.watching, outcome: outcome), rest)
  }

  private func outcome(
    _ order: ReadOrder, _ rest: inout FileDescriptor?
  ) throws(SystemError) -> DirectoryReading.Outcome {
    let descriptor = try files.openDirectory(order.path)
    var isKept = false
    defer { if !isKept { try? files.close(descriptor) } }
    let found = try facts(of: descriptor)
    guard found.kind == .directory, found.identity.inode == order.inode,
      order.device == nil || order.device == found.identity.device
    else { return .displaced }
    if let boundary = order.boundary, boundary != found.identity.device { return .excluded(found) }
    let watch = order.watching == .wanted ? watch(descriptor) : nil
    // Only now: changes before it was watched may have changed its times.
    let facts = watch == nil ? found : try facts(of: descriptor)
    // Where all changes are reported, they set the time too.
    if let kept = order.kept, case .success(let watch)? = watch, kept.holds(for: facts) {
      return .unaltered(facts, watch)
    }
    var contents = DirectoryReading.Contents(
      facts: facts, watch: watch, moment: CoarseClock.fileTime, listings: [])
    do throws(SystemError) {
      while contents.listings.count < Self.listingCountMax {
        guard let listing = try files.list(descriptor, order.depth) else { return .read(contents) }
        contents.listings.append(listing)
      }
      isKept = true
      contents.hasMore = true
      rest = descriptor
    } catch {
      contents.error = error
    }
    return .read(contents)
  }

  func facts(of directory: FileDescriptor) throws(SystemError) -> FileFacts {
    FileFacts(try files.status(of: SystemPath("."), at: directory, links: .noFollow))
  }

  /// By way of the descriptor: the path may lead elsewhere by now.
  private func watch(_ directory: FileDescriptor) -> Result<WatchID, SystemError> {
    do throws(SystemError) {
      let path = SystemPath(openDirectory: directory)
      return .success(try watcher.watch(path, [.names, .contents, .itself], isDirectory: true))
    } catch {
      return .failure(error)
    }
  }
}
