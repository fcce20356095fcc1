import EtcdKeyValues
import FoundationEssentials
import KeyValueReplicas
import KeyValueStore

extension Option {
  static let storeName = Option(
    name: "--store", kind: .text("NAME"), help: "The name of the store; the default is 'default'.")
}

extension Command {
  static let values = Command(
    name: "values", operands: "list|get|set|remove|watch|status|flush [KEY [VALUE]]…", operandCount: 1...201,
    takesFiles: false, takesOptionsAnywhere: true, options: [.json, .storeName],
    summary: "List, read, set and watch values that programs and devices of a user share.",
    details: """
      'list' prints a line for each key of the store, in their order: the key, two spaces and its value as JSON. 'get KEY…' prints
      values; a text is printed as it is. 'set KEY VALUE…' sets keys, at most a hundred of them in one transaction. A VALUE that's JSON
      is that value, any other word is a text: 5 is a number, '"5"' and five are texts. An integer beyond 64 bits is refused, because it would lose digits. Bytes are {"$data": "BASE64"}, and dates are
      {"$date": "2026-01-02T03:04:05Z"}. 'remove KEY…' removes keys, which needn't be there.

      'watch' prints a line for each change by others until SIGINT, SIGTERM or SIGHUP: the reason (server, initialSync,
      quotaViolation, accountChange or otherProcess), the key and the new value. It says so on standard error when it begins. Keys that were written together follow each other.

      'status' prints what's known of the store, and 'flush' waits until the place that devices share has confirmed all writes, and on a new device until its values are here, or until
      --timeout has passed.

      The account and the place are those of ~/.config/key-values.conf, with lines such as 'account = ann' and 'folder = /srv/values'.
      Without that file a store is of this device alone.

      With --json each line is an object: 'list' and 'get' print key and value, 'watch' prints reason and changes, which have key,
      old and new, 'status' prints one object.
      """,
    examples: [
      Example(line: "filecoord values set theme dark width 80", explanation: "Sets two keys together."),
      Example(line: "filecoord values get theme", explanation: "Prints the value of a key."),
      Example(line: "filecoord values watch --store org.example.App", explanation: "Prints changes by others."),
    ],
    run: { session in try await ValuesRunner(session).run() })
}

/// Carries out the action that the first operand names.
private struct ValuesRunner {
  private let session: Session
  private let store: KeyValueStore
  private let action: String
  private let words: [String]

  private static let actions = ["list", "get", "set", "remove", "watch", "status", "flush"]

  init(_ session: Session) throws {
    self.session = session
    let words = session.invocation.operands.map(\.text)
    if let foreign = session.invocation.operands.first(where: { Array($0.text.utf8) != $0.bytes }) {
      throw Failure(
        .dataError, "'\(foreign.text)' isn't UTF-8, which keys and values are; bytes are {\"$data\": \"BASE64\"}")
    }
    action = words.first ?? ""
    self.words = Array(words.dropFirst())
    guard Self.actions.contains(action) else {
      throw Failure.usage("'\(action)' is none of \(Self.actions.joined(separator: ", "))").about(.values)
    }
    let fits =
      switch action {
      case "get", "remove": !self.words.isEmpty
      case "set": !self.words.isEmpty && self.words.count.isMultiple(of: 2)
      default: self.words.isEmpty
      }
    if !fits { throw Failure.usage("'\(action)' has too few or too many words behind it").about(.values) }
    store = try KeyValueStore(session.invocation.text(.storeName) ?? "default", StoreSettings.userConfiguration())
  }

  func run() async throws -> ExitCode {
    switch action {
    case "list":
      for (key, value) in store.dictionary.sorted(by: { $0.key < $1.key }) { if !write(key, value) { break } }
    case "get": return get()
    case "set": try set()
    case "remove":
      try store.transaction { (transaction) throws(KeyValueStoreError) in
        for key in words where transaction[key] != nil { transaction[key] = nil }
      }
    case "watch": await watch()
    case "status": writeStatus()
    default: try await flush()
    }
    return .success
  }

  private func flush() async throws {
    if !store.status.isShared {
      throw Failure(
        .unavailable,
        "the store '\(store.name)' isn't shared, so there's nothing to wait for. ~/.config/key-values.conf names the account and the place: see 'filecoord help values'"
      )
    }
    try await store.flush(within: session.invocation.duration(.timeout) ?? .seconds(60))
  }

  private var isJSON: Bool { session.invocation.has(.json) }

  private func write(_ key: String, _ value: StoredValue) -> Bool {
    let json = ValueText.json(value)
    let line = isJSON ? JSON.object([("key", .string(key)), ("value", json)]).text : "\(key.onOneLine)  \(json.text)"
    return Terminal.output.write(line + "\n")
  }

  private func get() -> ExitCode {
    var code = ExitCode.success
    for key in words {
      guard let value = store[key] else {
        Terminal.error.write("filecoord: the key '\(key.onOneLine)' has no value\n")
        code = .noInput
        continue
      }
      if isJSON {
        _ = write(key, value)
      } else if case .string(let text) = value {
        Terminal.output.write(text + "\n")
      } else {
        Terminal.output.write(ValueText.json(value).text + "\n")
      }
    }
    return code
  }

  private func set() throws {
    var values: [(key: String, value: StoredValue)] = []
    for index in stride(from: 0, to: words.count, by: 2) {
      values.append((words[index], try ValueText.value(of: words[index + 1])))
    }
    let chosen = values
    try store.transaction { (transaction) throws(KeyValueStoreError) in
      for (key, value) in chosen { transaction[key] = value }
    }
  }

  private func watch() async {
    let changes = store.changes
    Terminal.error.write("watching \(store.dictionary.count) keys\n")
    let task = Task {
      for await change in changes {
        if !write(change) { break }
      }
    }
    await session.signals.handling({ _ in task.cancel() }) { await task.value }
  }

  private func write(_ change: StoreChange) -> Bool {
    if isJSON {
      let items = change.items.map { item in
        JSON.object([
          ("key", .string(item.key)), ("old", ValueText.json(item.old)), ("new", ValueText.json(item.new)),
        ])
      }
      return Terminal.output.write(
        JSON.object([("reason", .string(change.reason.text)), ("changes", .array(items))]).text + "\n")
    }
    return Terminal.output.write(
      change.items.map { item in
        let value = item.new.map { ValueText.json($0).text } ?? "removed"
        return "\(change.reason.text)  \(item.key.onOneLine)  \(value)\n"
      }
      .joined())
  }

  private func writeStatus() {
    let status = store.status
    let next = status.nextUpload.map { Date(timeIntervalSince1970: Double($0) / 1e9).formatted(.iso8601) }
    let members: [(String, JSON)] = [
      ("store", .string(store.name)), ("account", JSON(store.account)), ("keys", .integer(store.dictionary.count)),
      ("shared", .bool(status.isShared)), ("initialValues", .bool(status.hasInitialValues)),
      ("pending", .array(status.pendingKeys.sorted().map(JSON.string))),
      ("held", .array(status.heldKeys.sorted().map(JSON.string))), ("nextUpload", JSON(next)),
      ("failure", JSON(status.failure?.description)),
    ]
    if isJSON {
      Terminal.output.write(JSON.object(members).text + "\n")
    } else {
      for (name, value) in members { Terminal.output.write("\(name): \(value.text)\n") }
    }
  }
}
