package import EtcdClient
import Foundation
import HTTPTestSupport
import HTTPTransport
import SystemInterface
import TestSupport

/// Servers on loopback in a directory of their own, which ends with the last reference.
package final class EtcdCluster: @unchecked Sendable {
  /// Whether the program is there; it's in Debian's package `etcd-server`.
  package static let isInstalled = isProgram("etcd")

  /// Whether a program is there.
  package static func isProgram(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }

  package struct Failure: Error {}

  package let endpoints: [EtcdEndpoint]
  private let directory: String
  private let arguments: [[String]]
  // Only the test's task starts and ends servers: the class isn't shared while it does.
  private var processes: [ChildProcess?]

  /// Starts servers that, if asked, have certificates and want them from clients.
  package init(count: Int = 1, hasCertificates: Bool = false) throws {
    directory = NSTemporaryDirectory() + "etcd-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let ports = try (0..<count * 2).map { _ in
      guard let port = LoopbackServer.freePort() else { throw Failure() }
      return port
    }
    let scheme = hasCertificates ? "https" : "http"
    let clients = (0..<count).map { "\(scheme)://127.0.0.1:\(ports[$0])" }
    let peers = (0..<count).map { "http://127.0.0.1:\(ports[count + $0])" }
    endpoints = clients.map { EtcdEndpoint($0) }
    let directory = directory
    arguments = (0..<count).map { index in
      [
        "--name", "n\(index)", "--data-dir", "\(directory)/\(index)", "--listen-client-urls", clients[index],
        "--advertise-client-urls", clients[index], "--listen-peer-urls", peers[index],
        "--initial-advertise-peer-urls", peers[index], "--initial-cluster",
        peers.enumerated().map { "n\($0)=\($1)" }.joined(separator: ","), "--heartbeat-interval", "100",
        "--election-timeout", "1000", "--experimental-watch-progress-notify-interval", "1s",
      ] + (hasCertificates ? Self.certificateArguments(directory) : [])
    }
    processes = arguments.map { _ in nil }
    if hasCertificates { try makeCertificates() }
    for index in 0..<count { try start(index) }
  }

  /// A file in the directory.
  package func path(_ name: String) -> String { "\(directory)/\(name)" }

  private static func certificateArguments(_ directory: String) -> [String] {
    [
      "--cert-file", "\(directory)/server.pem", "--key-file", "\(directory)/server.key", "--client-cert-auth",
      "--trusted-ca-file", "\(directory)/ca.pem",
    ]
  }

  /// An authority, and certificates of a server and a client without common names, which the gateway refuses (E-4).
  private func makeCertificates() throws {
    let script = """
      set -e
      cd "$1"
      new() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "$@"; }
      new -keyout ca.key -out ca.pem -subj /O=ca
      for name in server client; do
        new -CA ca.pem -CAkey ca.key -keyout $name.key -out $name.pem -subj /O=$name -addext basicConstraints=critical,CA:false \
          -addext subjectAltName=IP:127.0.0.1 -addext extendedKeyUsage=serverAuth,clientAuth
      done
      openssl pkcs8 -topk8 -passout pass:secret -in client.key -out locked.key
      """
    let shell = try ChildProcess(
      "sh", ["-c", script, "sh", directory], input: .nothing, output: .nothing, errors: .nothing)
    if shell.waitUntilExit() != .exit(0) { throw Failure() }
  }

  deinit {
    for process in processes { process?.kill() }
    try? FileManager.default.removeItem(atPath: directory)
  }

  package func start(_ index: Int = 0) throws {
    processes[index] = try ChildProcess(
      "etcd", arguments[index], environment: ["ETCD_UNSUPPORTED_ARCH": "arm64"], input: .nothing, output: .nothing,
      errors: .nothing)
  }

  package func kill(_ index: Int = 0) { processes[index]?.kill() }

  /// Sends a signal; after SIGSTOP, none of the server's threads runs any more on return.
  package func send(_ signal: Int32, to index: Int = 0) {
    processes[index]?.send(signal)
    if signal == SIGSTOP { processes[index]?.awaitState(WSTOPPED) }
  }

  /// A client that waits for the servers to be ready.
  package func client(
    user: String? = nil, password: String = "", _ alter: (inout EtcdClient.Configuration) -> Void = { _ in }
  )
    throws
    -> EtcdClient
  {
    var configuration = EtcdClient.Configuration(endpoints: endpoints, user: user, password: password)
    configuration.callLimit = .seconds(40)
    configuration.attemptCountMax = 1000
    configuration.watchSilenceMax = .seconds(4)
    alter(&configuration)
    return try EtcdClient(configuration)
  }

  /// A call that the client doesn't have.
  package func post(_ path: String, _ text: String, token: String? = nil) async throws -> String {
    let headers = token.map { [HTTPHeader("Authorization", $0)] } ?? []
    let request = HTTPRequest("POST", endpoints[0].url + path, headers: headers, body: Array(text.utf8))
    let response = try await CurlTransport().send(request)
    return String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }
}
