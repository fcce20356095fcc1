import EtcdClient
import HTTPTransport

/// Compiled and not run: the servers are outside of the tests.
enum ServerSnippets {
  static func keys() async throws {
    // snippet: etcd-keys
    let client = try EtcdClient(.init(endpoints: [EtcdEndpoint("http://127.0.0.1:2379")]))
    try await client.put("greeting", "hello")
    print(try await client.get("greeting")?.value ?? "nothing")
    // end
  }

  static func lock(client: EtcdClient) async throws {
    // snippet: etcd-lock
    try await client.withLock("locks/report", .writing) { lock in
      let report = try await client.get("report")?.value ?? ""
      let longer = EtcdTransaction(then: [.put("report", report + "one more line\n")])
      _ = try await client.transact(longer, guardedBy: lock.token)
    }
    // end
  }

  static func request() async throws {
    // snippet: http-request
    let transport = try CurlTransport()
    let response = try await transport.send(HTTPRequest("GET", "https://example.com/"))
    for try await piece in response.body { print(piece.count) }
    // end
  }
}
