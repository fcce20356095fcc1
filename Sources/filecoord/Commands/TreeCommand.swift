import FileCoordination
import FoundationEssentials

extension Command {
  static let tree = Command(
    name: "tree", operands: "[PATH]", operandCount: 0...1, options: [.json],
    summary: "Print presenters, holders and waiting accesses, with their places and times.",
    details: """
      Prints the whole domain, or the part at PATH and inside. With --json it prints one object:

        accesses    objects with label, pid, process, state (holding, asking or waiting), seconds
                    (the time in this state), items, inside, waitsFor, and waitsForMore (the
                    number of parties that waitsFor leaves out)
          items     objects with path, mode (reading or writing) and contents (whether the access
                    includes everything inside as well)
          inside    the access that it's nested in, or null: an object like those of waitsFor
          waitsFor  objects with label, pid, process, callback (or null) and seconds
        presenters  objects with label, pid, process, path (or null), running (callbacks in progress:
                    callback and seconds) and waiting (the number of waiting messages)
      """,
    examples: [
      Example(line: "filecoord tree", explanation: "Prints the whole domain."),
      Example(line: "filecoord tree --json | jq '.accesses[].label'", explanation: "Prints the labels of accesses."),
    ],
    run: { session in
      let scope = try Scope(session.files.first)
      let snapshot = try await session.snapshot()
      if session.invocation.has(.json) {
        Terminal.output.write(json(snapshot, scope).text + "\n")
      } else {
        Terminal.output.write(text(snapshot, scope) + "\n")
      }
      return .success
    })

  private static func text(_ snapshot: CoordinationSnapshot, _ scope: Scope) -> String {
    let nodes = snapshot.nodes.filter { scope.contains($0.path) }
    if nodes.isEmpty { return "nobody accesses or presents anything" }
    return nodes.map { node in
      ([node.path.onOneLine] + node.notes.map { "    " + $0.onOneLine }).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func json(_ snapshot: CoordinationSnapshot, _ scope: Scope) -> JSON {
    let accesses = snapshot.accesses.filter { $0.party.items.contains { scope.contains($0.path) } }
    let presenters = snapshot.presenters.filter { scope.contains($0.path) }
    return .object([("accesses", .array(accesses.map(\.json))), ("presenters", .array(presenters.map(\.json)))])
  }
}

/// The part of the tree that's asked for.
private struct Scope {
  private let path: String?

  init(_ file: URL?) throws { path = try file.map(Session.canonicalPath) }

  func contains(_ other: String?) -> Bool {
    guard let path else { return true }
    return other.map { $0 == path || Session.contains(path, $0) } ?? false
  }
}

extension Session {
  /// Whether a canonical path is that of a directory around another.
  static func contains(_ directory: String, _ path: String) -> Bool {
    path != directory && path.hasPrefix(directory == "/" ? "/" : directory + "/")
  }
}

extension CoordinationSnapshot.Access {
  fileprivate var json: JSON {
    let items = party.items.map { item in
      JSON.object([
        ("path", .string(item.path)), ("mode", .string(item.isWritten ? "writing" : "reading")),
        ("contents", .bool(item.includesContents)),
      ])
    }
    return .object(
      [("label", .string(party.label))] + ProcessName(party.process).members + [
        ("state", .string(state)), ("seconds", .seconds(party.duration)), ("items", .array(items)),
        ("inside", outer?.json ?? .null),
        ("waitsFor", .array(blockers.map(\.json))), ("waitsForMore", .integer(omittedBlockerCount)),
      ])
  }

  private var state: String {
    switch party.kind {
    case .holdingAccess: "holding"
    case .askingAccess: "asking"
    case .waitingAccess, .runningCallback, .queuedMessage: "waiting"
    }
  }
}

extension CoordinationParty {
  fileprivate var json: JSON {
    .object(
      [("label", .string(label))] + ProcessName(process).members + [
        ("callback", JSON(callback)), ("seconds", .seconds(duration)),
      ])
  }
}

extension CoordinationSnapshot.Presenter {
  fileprivate var json: JSON {
    let callbacks = running.map { JSON.object([("callback", JSON($0.callback)), ("seconds", .seconds($0.duration))]) }
    return .object(
      [("label", .string(label))] + ProcessName(process).members + [
        ("path", JSON(path)), ("running", .array(callbacks)), ("waiting", .integer(pendingMessageCount)),
      ])
  }
}
