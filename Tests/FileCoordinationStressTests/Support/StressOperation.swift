import FileCoordination
import FoundationEssentials
import SystemInterface

/// The work of an actor in one turn: an access, the steps inside it, and perhaps an access inside that.
struct StressOperation: Sendable {
  enum Form: Sendable {
    /// One item, or two in one call.
    case single
    /// Any number of items.
    case intents
  }

  struct Item: Sendable {
    let url: URL
    /// `nil` reads.
    let writing: FileCoordinator.WritingOptions?
    var reading: FileCoordinator.ReadingOptions = []

    var mode: AccessRecord.Mode {
      guard let writing else { return .read }
      let deep: [FileCoordinator.WritingOptions] = [.forDeleting, .forMoving, .forReplacing]
      return deep.contains(writing) ? .deepWrite : .write
    }

    var intent: FileAccessIntent {
      writing.map { .writing(url, options: $0) } ?? .reading(url, options: reading)
    }
  }

  enum Work: Hashable, Sendable {
    /// Reads the items of a read, rewrites the items of a write.
    case contents
    case increment
    case delete
    /// The first item to the second.
    case move
  }

  let form: Form
  let items: [Item]
  let work: Work
  /// Made inside the accessor.
  var inner: [StressOperation] = []
  /// Whether the inner accesses are made by the outer coordinator.
  var isInnerSamePurpose = true
  /// Cancels itself from elsewhere at some time.
  var isCancelled = false
  /// Resolves its item first, instead of passing the URL.
  var isByHandle = false
}

extension StressOperation {
  static func read(_ url: URL, _ options: FileCoordinator.ReadingOptions = []) -> Self {
    Self(form: .single, items: [Item(url: url, writing: nil, reading: options)], work: .contents)
  }

  static func write(_ url: URL, _ options: FileCoordinator.WritingOptions = []) -> Self {
    Self(form: .single, items: [Item(url: url, writing: options)], work: .contents)
  }

  static func increment(_ url: URL) -> Self {
    Self(form: .single, items: [Item(url: url, writing: .forMerging)], work: .increment)
  }

  static func delete(_ url: URL) -> Self {
    Self(form: .single, items: [Item(url: url, writing: .forDeleting)], work: .delete)
  }

  static func move(_ source: URL, _ destination: URL) -> Self {
    Self(
      form: .single,
      items: [Item(url: source, writing: .forMoving), Item(url: destination, writing: .forReplacing)], work: .move)
  }
}

/// The steps of one accessor, with the record of the time at which it ran.
///
/// The runner of the accessor runs the steps, and lets others run between two of them.
final class StressAccessor: Sendable {
  let steps: [@Sendable () throws -> Void]
  /// Set by a step that moved the first item.
  let hasMoved = Guarded(false)
  private let record: @Sendable (Int64) -> AccessRecord

  init(_ operation: StressOperation, at urls: [URL], value: Int, identity: StressIdentity) {
    let paths = urls.map(\.plainPath)
    let granted = AccessLog.now
    record = { released in
      AccessRecord(
        actor: identity.actor, items: zip(operation.items, paths).map { AccessRecord.Item($1, $0.mode) },
        purpose: identity.purpose, lineage: identity.lineage, order: identity.order, requested: identity.requested,
        granted: granted, released: released)
    }
    let hasMoved = hasMoved
    switch operation.work {
    case .contents:
      steps = zip(operation.items, paths).flatMap { item, path -> [@Sendable () throws -> Void] in
        if item.writing == nil { return [{ _ = try SelfCheckingFile.read(path) }] }
        return Self.rewriting(path, value)
      }
    case .increment:
      steps = Self.incrementing(paths[0])
    case .delete:
      steps = [{ try Self.removeFile(paths[0]) }]
    case .move:
      steps = [
        {
          let moved = try Self.rename(paths[0], paths[1]); hasMoved.withLock { $0 = moved }
        }, {},
      ]
    }
  }

  /// To be called as the last thing in the accessor.
  func ended() -> AccessRecord { record(AccessLog.now) }

  private static func rewriting(_ path: String, _ value: Int) -> [@Sendable () throws -> Void] {
    // The directory around it may have been renamed for good; then there's nothing to write.
    let check: @Sendable () throws -> Void = { _ = try SelfCheckingFile.read(path) }
    return [check] + SelfCheckingFile.stepsToWrite(value, to: path).map(ignoringAbsence) + [check]
  }

  private static func ignoringAbsence(_ step: @escaping @Sendable () throws -> Void) -> @Sendable () throws -> Void {
    {
      do { try step() } catch let error as SystemError where error.errno == 2 { return }
    }
  }

  private static func incrementing(_ path: String) -> [@Sendable () throws -> Void] {
    let value = Guarded(0)
    return [
      {
        let old = try SelfCheckingFile.read(path)
        value.withLock { $0 = (old ?? 0) + 1 }
      },
      { try SelfCheckingFile.stepsToWrite(value.withLock { $0 }, to: path)[0]() },
      { try SelfCheckingFile.stepsToWrite(value.withLock { $0 }, to: path)[1]() },
    ]
  }

  private static func removeFile(_ path: String) throws {
    do {
      try HostFileSystem().unlink(SystemPath(path), at: .workingDirectory, .file)
    } catch {
      if error.errno != 2 { throw error }
    }
  }

  private static func rename(_ source: String, _ destination: String) throws -> Bool {
    do {
      try HostFileSystem().rename(
        SystemPath(source), at: .workingDirectory, to: SystemPath(destination), at: .workingDirectory, .exclusive)
      return true
    } catch {
      // Nothing to move (ENOENT), or something there (EEXIST): others moved first.
      if error.errno == 2 || error.errno == 17 { return false }
      throw error
    }
  }
}

/// The maker of an access, for the record of it.
struct StressIdentity: Sendable {
  let actor: String
  let purpose: String
  let lineage: Int
  var order = 0
  let requested: Int64
}
