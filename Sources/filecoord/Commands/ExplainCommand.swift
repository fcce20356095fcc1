import FileCoordination
import FoundationEssentials

extension Command {
  static let explain = Command(
    name: "explain", operands: "FILE", operandCount: 1...1,
    summary: "Print the accesses and presenters in the way of reading and writing a file.",
    details: """
      Lists accesses to the file, to items inside it, and to directories around it if the access includes everything inside.
      A listed access that waits was requested earlier. Then lists presenters that are asked before an access, and presenters
      that are notified afterwards. The command asks no presenter. Ends with 0 if no access is in the way and no presenter is
      asked, and with 1 otherwise.
      """,
    examples: [
      Example(line: "filecoord explain notes.txt", explanation: "Explains why 'filecoord write notes.txt' waits."),
      Example(line: "filecoord explain build || sleep 1", explanation: "Waits a little if an access uses build."),
    ],
    run: { session in
      let path = try Session.canonicalPath(of: session.files[0])
      let explanation = Explanation(of: path, try await session.snapshot())
      Terminal.output.write(explanation.text)
      return explanation.isFree ? .success : .failure
    })
}

/// The parties that have to do with a file.
private struct Explanation {
  private let path: String
  /// By the accesses that they are in the way of.
  private var obstacles: [(what: String, who: [String])] = []
  private var listeners: [String] = []

  init(of path: String, _ snapshot: CoordinationSnapshot) {
    self.path = path
    for access in snapshot.accesses { note(access) }
    for presenter in snapshot.presenters { note(presenter) }
  }

  var isFree: Bool { obstacles.isEmpty }

  var text: String {
    var text = "\(path.onOneLine):\n"
    if isFree { text += "  nobody is in the way\n" }
    let sections = obstacles + (listeners.isEmpty ? [] : [("notified afterwards", listeners)])
    for section in sections {
      text += "  \(section.what):\n" + section.who.map { "    \($0.onOneLine)\n" }.joined()
    }
    return text
  }

  private mutating func add(_ who: String, to what: String) {
    if let index = obstacles.firstIndex(where: { $0.what == what }) {
      obstacles[index].who.append(who)
    } else {
      obstacles.append((what, [who]))
    }
  }

  private mutating func note(_ access: CoordinationSnapshot.Access) {
    for item in access.party.items {
      guard let what = obstruction(by: item) else { continue }
      let more = access.omittedBlockerCount > 0 ? ["and \(access.omittedBlockerCount) more"] : []
      let blockers = (access.blockers.map(\.description) + more).joined(separator: "; ")
      let inside = access.outer.map { ", inside the access of '\($0.label)' (\($0.process))" } ?? ""
      add(access.party.description + inside + (blockers.isEmpty ? "" : ": \(blockers)"), to: what)
      return
    }
  }

  private func obstruction(by item: CoordinationParty.Item) -> String? {
    let isCovered = item.path == path || (item.includesContents && Session.contains(item.path, path))
    if isCovered { return item.isWritten ? "in the way of reading and writing" : "in the way of writing" }
    return Session.contains(path, item.path) ? "in the way of deleting, moving and replacing" : nil
  }

  private mutating func note(_ presenter: CoordinationSnapshot.Presenter) {
    guard let place = presenter.path else { return }
    let description = "'\(presenter.label)' (\(presenter.process)) presents '\(place)'"
    let asked = questions(to: presenter, at: place)
    if !asked.isEmpty {
      let busy = presenter.running.map { "; runs \($0.callback ?? "") for \($0.duration.inTenths)" }.joined()
      add(description + ", is asked before \(asked.joined(separator: ", "))" + busy, to: "asked first")
    } else if place == path || Session.contains(place, path) {
      listeners.append(description)
    }
  }

  private func questions(to presenter: CoordinationSnapshot.Presenter, at place: String) -> [String] {
    let callbacks = presenter.callbacks
    let isInside = Session.contains(path, place)
    if place != path, !isInside { return [] }
    var questions: [String] = []
    if !isInside {
      if !callbacks.isDisjoint(with: [.relinquishToReader, .saveChanges]) { questions.append("reading") }
      if callbacks.contains(.relinquishToWriter) { questions.append("writing") }
    }
    if !callbacks.isDisjoint(with: [.relinquishToWriter, .accommodateDeletion]) { questions.append("deleting") }
    return questions
  }
}
