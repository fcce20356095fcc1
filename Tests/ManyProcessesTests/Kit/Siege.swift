import CoordinationService
import CoordinationWorker
import FileAccessArbiter
import FileCoordination
import Foundation

/// A service in a process of its own, and an honest process that shares files through it.
struct Siege {
  let service: HelperProcess
  private(set) var field: Field
  /// How many descriptors the service has for the honest alone.
  private let descriptorCount: Int

  var socket: String { field.socket }

  init() throws {
    field = try Field(workerCount: 0, seed: 1)
    service = try HelperProcess(["serve", field.socket])
    guard try service.line() == "serving" else { throw CocoaError(.fileReadUnknown) }
    try field.start()
    try field.waitForProgress(of: 50)
    descriptorCount = try service.descriptorCount()
  }

  func client() throws -> RawClient { try RawClient(connectingTo: socket) }

  /// A client that's accepted.
  func acceptedClient() throws -> RawClient {
    let client = try client()
    try client.tell(.hello(RawClient.hello()))
    guard case .welcome = try client.next() else { throw CocoaError(.fileReadUnknown) }
    return client
  }

  /// Whether the honest go on.
  func goesOn() throws { try field.waitForProgress(of: 50) }

  /// Waits until the service has dropped everybody but the honest.
  func waitUntilAlone() throws {
    try field.wait(for: "\(descriptorCount) descriptors of the service") {
      try service.descriptorCount() <= descriptorCount
    }
  }

  /// - Returns: The problems of the honest clients.
  mutating func end() throws -> [String] {
    try goesOn()
    try waitUntilAlone()
    let (problems, _) = field.finish()
    service.finish()
    return problems + (service.status == 0 ? [] : ["the service ended with \(service.status)"])
  }
}

/// Runs a test with a service and an honest process, which must not notice.
func withSiege(_ body: (inout Siege) throws -> Void) throws -> [String] {
  var siege = try Siege()
  defer { siege.field.remove() }
  try body(&siege)
  return try siege.end()
}

extension ClientFrame {
  static func write(_ id: UInt64, _ path: ItemPath, inside outer: UInt64? = nil) -> Self {
    var request = AccessRequest(
      client: ClientID(1), purpose: PurposeID(id), label: "raw client",
      items: [AccessRequest.Item(path, .write(.update))])
    request.context = outer.map { .access(AccessID($0)) }
    return .event(.accessRequested(AccessID(id), request))
  }

  static func present(_ id: UInt64, _ path: ItemPath, label: String = "raw presenter") -> Self {
    let registration = PresenterRegistration(
      client: ClientID(1), purpose: PurposeID(id), label: label, callbacks: [.itemDidChange], path: path)
    return .presenterEvent(RequestNumber(id), .presenterAdded(PresenterID(id), registration))
  }
}
