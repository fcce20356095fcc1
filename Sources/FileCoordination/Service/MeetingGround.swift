internal import CoordinationService
internal import SystemInterface

/// All places where the processes of a domain may meet: one, unless another user has taken the usual name in `/tmp`.
///
/// There may be several at once, see ``RuntimeDirectory``. Three rules keep the domain in one piece:
///
/// * The serving process holds the locks of all places (``ServingRight``), and has searched for further ones after it
///   got them. Places are never removed. So if two want to serve at the same time, the later searcher finds the places
///   of the other, and can't get one of their locks.
/// * A process that has to be served tries all places, and makes a further one only if there is none.
/// * A process keeps its session at each place where it ever was served, and a service searches for sessions at all of
///   them.
struct MeetingGround: Sendable {
  typealias Finder = @Sendable () throws(FileCoordinationError) -> [MeetingPlace]

  /// Finds the places, at least one, in an order that's the same for all processes.
  private let findAll: Finder
  /// Finds the place where processes meet as a rule, at little cost.
  let findUsual: @Sendable () -> MeetingPlace?
  private let findName: @Sendable () -> String?
  private let provisionalName: String

  init(
    _ findAll: @escaping Finder, usual findUsual: @escaping @Sendable () -> MeetingPlace? = { nil },
    named findName: @escaping @Sendable () -> String?, orElse provisionalName: String = "nowhere"
  ) {
    self.findAll = findAll
    self.findUsual = findUsual
    self.findName = findName
    self.provisionalName = provisionalName
  }

  /// The name of the domain, the same for all of its processes.
  ///
  /// - Complexity: O(length of the path), in system calls.
  var name: String { foundName ?? provisionalName }

  /// The same; `nil` as long as no process can meet another one there.
  var foundName: String? { findName() }

  func places() throws(FileCoordinationError) -> [MeetingPlace] {
    let places = try findAll()
    precondition(!places.isEmpty, "there's no place to meet, and no error that says why")
    return places
  }
}

// MARK: - Where it is

extension MeetingGround {
  private static let socketName = "service.socket"

  /// The ground of all processes of the user, whatever their environment says.
  ///
  /// - Parameter base: The directory that all of them see, and where no user removes the files of others.
  /// - Returns: The ground.
  static func ofUser(in base: SystemPath = RuntimeDirectory.commonBase) -> MeetingGround {
    MeetingGround { () throws(FileCoordinationError) in
      do throws(SystemError) {
        var places: [MeetingPlace] = []
        for directory in try RuntimeDirectory.all(in: base) {
          places.append(try MeetingPlace(socket: directory.path.appending(socketName)))
        }
        return places
      } catch { throw .noMeetingPlace(error) }
    } usual: {
      RuntimeDirectory.usual(in: base).flatMap { try? MeetingPlace(socket: $0.path.appending(socketName)) }
    } named: {
      "user.\(HostUser.effectiveUserID)" + (base == RuntimeDirectory.commonBase ? "" : ".\(base)")
    }
  }

  static func at(_ path: String) -> MeetingGround {
    let socket = SystemPath(path)
    return MeetingGround(
      { () throws(FileCoordinationError) in
        do throws(SystemError) {
          return [try MeetingPlace(socket: socket)]
        } catch { throw .noMeetingPlace(error) }
      },
      named: {
        // Processes may spell the way to the socket differently.
        let place = try? HostFileSystem().canonicalPath(of: socket, resolvingLastComponent: false)
        return place.map { "socket.\($0)" }
      }, orElse: "socket.\(socket)")
  }

  /// Nowhere: every attempt to meet fails with this error.
  static func nowhere(because error: FileCoordinationError) -> MeetingGround {
    MeetingGround { () throws(FileCoordinationError) in
      throw error
    } named: {
      nil
    }
  }
}

// MARK: - Finding the serving process

extension MeetingGround {
  enum Encounter {
    case served(MeetingPlace, LocalStream)
    /// No process listens anywhere.
    case nobody(MeetingPlace, SystemError)
    case failed(MeetingPlace, SystemError)
  }

  /// Connects to the serving process, at whatever place.
  func connect() throws(FileCoordinationError) -> Encounter {
    if let usual = findUsual() {
      let encounter = Self.connect(to: usual)
      guard case .nobody = encounter else { return encounter }
    }
    var nobody: Encounter?
    for place in try places() {
      let encounter = Self.connect(to: place)
      guard case .nobody = encounter else { return encounter }
      if nobody == nil { nobody = encounter }
    }
    guard let nobody else { preconditionFailure("there's no place to meet") }
    return nobody
  }

  private static func connect(to place: MeetingPlace) -> Encounter {
    do throws(SystemError) {
      return .served(place, try place.connect())
    } catch {
      switch error.number {
      case .noSuchFileOrDirectory, .connectionRefused: return .nobody(place, error)
      default: return .failed(place, error)
      }
    }
  }
}
