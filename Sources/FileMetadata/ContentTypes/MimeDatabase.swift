internal import FileWatching
internal import SystemInterface

/// Media types of files by their names: the desktops' shared database, without the parts that need the contents of
/// files.
///
/// A value that's read once. If several directories have a name, the first one counts.
///
/// - Note: The Shared MIME-info Database specification of freedesktop.org.
struct MimeDatabase: Sendable {
  /// The entry of a pattern.
  private struct Rule: Sendable {
    let weight: Int
    let type: String
    let isCaseSensitive: Bool
  }

  /// Patterns like `*.tar.gz`, by the part behind the asterisk; small letters unless they matter.
  private var suffixes: [String: [Rule]] = [:]
  /// Whole names.
  private var names: [String: [Rule]] = [:]
  private var others: [(glob: Glob, rule: Rule)] = []
  private var aliases: [String: String] = [:]
  private var supertypes: [String: [String]] = [:]
  private let directories: [SystemPath]
  private let languages: [String]

  /// Reads a database.
  ///
  /// - Parameters:
  ///   - directories: Directories with files like `globs2`, the most important one first. Unreadable ones are left out.
  ///   - languages: The languages of descriptions, such as `de_CH` and `de`.
  init(_ directories: [SystemPath], languages: [String] = []) {
    self.directories = directories
    self.languages = languages
    for directory in directories {
      for line in Self.lines(directory.appending("globs2")) { add(glob: line) }
      for line in Self.lines(directory.appending("aliases")) {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 2, aliases[words[0]] == nil { aliases[words[0]] = words[1] }
      }
      for line in Self.lines(directory.appending("subclasses")) {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 2 { supertypes[words[0], default: []].append(words[1]) }
      }
    }
  }

  /// That of this machine, in the language of this process.
  static let host = MimeDatabase(
    directories { HostEnvironment.value(of: $0) }, languages: languages { HostEnvironment.value(of: $0) })

  /// Whether it has no entries.
  var isEmpty: Bool { suffixes.isEmpty && names.isEmpty && others.isEmpty }

  /// - Note: The XDG Base Directory specification.
  static func directories(_ environment: (String) -> String?) -> [SystemPath] {
    func value(_ name: String, or other: String) -> String {
      environment(name).flatMap { $0.isEmpty ? nil : $0 } ?? other
    }
    let own = value("XDG_DATA_HOME", or: value("HOME", or: "/nonexistent") + "/.local/share")
    let shared = value("XDG_DATA_DIRS", or: "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    return ([own] + shared).filter { $0.hasPrefix("/") }.map { SystemPath($0).appending("mime") }
  }

  static func languages(_ environment: (String) -> String?) -> [String] {
    let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap(environment).filter { !$0.isEmpty }
    guard let locale = names.first?.split(whereSeparator: { $0 == "." || $0 == "@" }).first.map(String.init) else {
      return []
    }
    return [locale, String(locale.prefix { $0 != "_" })]
  }

  private static func lines(_ path: SystemPath) -> [Substring] {
    guard let bytes = try? HostFileSystem().contents(of: path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  private mutating func add(glob line: Substring) {
    let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard fields.count >= 3, let weight = Int(fields[0]), fields[2] != "__NOGLOBS__" else { return }
    let isCaseSensitive = fields.count > 3 && fields[3].split(separator: ",").contains("cs")
    let rule = Rule(weight: weight, type: fields[1], isCaseSensitive: isCaseSensitive)
    let pattern = isCaseSensitive ? fields[2] : fields[2].lowercased()
    if !pattern.contains(where: Glob.isSpecial) {
      names[pattern, default: []].append(rule)
    } else if pattern.hasPrefix("*."), !pattern.dropFirst().contains(where: Glob.isSpecial) {
      suffixes[String(pattern.dropFirst()), default: []].append(rule)
    } else {
      others.append((Glob(pattern), rule))
    }
  }
}

// MARK: - Looking up

extension MimeDatabase {
  /// The media type of a regular file with a name; `nil` if no pattern matches.
  ///
  /// Of several patterns the one with the greatest weight counts, then one that minds the case, then the longest.
  func type(named name: String) -> String? {
    let folded = name.lowercased()
    if let rule = best(names, name, folded) { return rule.type }
    var best: (rank: [Int], type: String)?
    func consider(_ rule: Rule, _ length: Int) {
      let rank = [rule.weight, rule.isCaseSensitive ? 1 : 0, length]
      if best.map({ $0.rank.lexicographicallyPrecedes(rank) }) ?? true { best = (rank, rule.type) }
    }
    for place in folded.indices where folded[place] == "." {
      let length = folded.distance(from: place, to: folded.endIndex)
      let suffix = folded[place...]
      if let rule = self.best(suffixes, String(name.suffix(length)), String(suffix)) { consider(rule, length) }
    }
    for (glob, rule) in others where glob.matches(rule.isCaseSensitive ? name : folded) { consider(rule, glob.length) }
    return best?.type
  }

  private func best(_ table: [String: [Rule]], _ name: String, _ folded: String) -> Rule? {
    let exact = (table[name] ?? []).filter(\.isCaseSensitive)
    let rules = exact + (table[folded] ?? []).filter { !$0.isCaseSensitive }
    return rules.enumerated().max { ($0.element.weight, -$0.offset) < ($1.element.weight, -$1.offset) }?.element
  }

  /// A type and the types it's a kind of, itself first, nearest first.
  func kinds(of type: String) -> [String] {
    var found: [String] = []
    var pending = [aliases[type] ?? type]
    while !pending.isEmpty {
      let next = pending.removeFirst()
      if found.contains(next) { continue }
      found.append(next)
      pending += (supertypes[next] ?? []).map { aliases[$0] ?? $0 }
      if next.hasPrefix("text/"), next != "text/plain" { pending.append("text/plain") }
    }
    return found
  }

  /// The description of a type, for people; `nil` if there's none.
  ///
  /// - Complexity: Reads a small file.
  func description(of type: String) -> String? {
    let type = aliases[type] ?? type
    for directory in directories {
      let path = directory.appending("\(type).xml")
      guard let bytes = try? HostFileSystem().contents(of: path) else { continue }
      let text = String(decoding: bytes, as: UTF8.self)
      for language in languages {
        if let found = Self.element("<comment xml:lang=\"\(language)\">", of: text) { return found }
      }
      if let found = Self.element("<comment>", of: text) { return found }
    }
    return nil
  }

  private static func element(_ start: String, of text: String) -> String? {
    guard let begin = text.firstRange(of: start), let end = text[begin.upperBound...].firstRange(of: "</comment>")
    else { return nil }
    var found = String(text[begin.upperBound..<end.lowerBound])
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
      found = found.replacing(entity, with: character)
    }
    return found.isEmpty ? nil : found
  }
}
