internal import CoordinationService
internal import SystemInterface

/// All places where the processes of a domain may meet: one, unless another user has taken the usual name in `/tmp`.
///
/// There may be several at once, see ``RuntimeDirectory``. Three rules keep the domain in one piece:
///
/// * Whoever serves holds the locks of all places (``ServingRight``), and has looked for further ones after it got them. Places
///   are never removed. So of two that want to serve at the same time the one that looks later finds the places of the
///   other, one of whose locks it can't get.
/// * Whoever wants to be served tries all places, and makes a further one only if there is none.
/// * A process keeps its session at each place where it ever was served, and a service looks for sessions at all of them.
struct MeetingGround: Sendable {
  typealias Finder = @Sendable () throws(FileCoordinationError) -> [MeetingPlace]

  /// Finds the places, at least one, in an order that's the same for everybody.
  private let findAll: Finder
  /// Finds the place where processes meet as a rule, at little cost.
  let findUsual: @Sendable () -> MeetingPlace?

  init(_ findAll: @escaping Finder, usual findUsual: @escaping @Sendable () -> MeetingPlace? = { nil }) {
    self.findAll = findAll
    self.findUsual = findUsual
  }

  func places() throws(FileCoordinationError) -> [MeetingPlace] {
    let places = try findAll()
    precondition(!places.isEmpty, "there's no place to meet, and no error that says why")
    return places
  }
}

// MARK: - Where it is

extension MeetingGround {
  private static let socketName = "service.socket"

  /// Where all processes of the user meet, whatever their environment says.
  ///
  /// - Parameter base: The directory that all of them see, and where nobody removes what belongs to others.
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
    }
  }

  static func at(_ path: String) -> MeetingGround {
    MeetingGround { () throws(FileCoordinationError) in
      do throws(SystemError) {
        return [try MeetingPlace(socket: SystemPath(path))]
      } catch { throw .noMeetingPlace(error) }
    }
  }

  /// Nowhere, for a reason that everybody is told who wants to meet.
  static func nowhere(because error: FileCoordinationError) -> MeetingGround {
    MeetingGround { () throws(FileCoordinationError) in throw error }
  }
}

// MARK: - Finding who serves

extension MeetingGround {
  enum Encounter {
    case served(MeetingPlace, LocalStream)
    /// Nobody listens anywhere.
    case nobody(MeetingPlace, SystemError)
    case failed(MeetingPlace, SystemError)
  }

  /// Connects to whoever serves, wherever that is.
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
