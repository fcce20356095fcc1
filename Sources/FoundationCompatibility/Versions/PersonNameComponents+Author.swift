#if !canImport(ObjectiveC)
  internal import Foundation

  extension PersonNameComponents {
    /// The parts of the name of a version's author; `nil` if that's this user, or nobody.
    ///
    /// The last word is the family name, with the words in small letters before it, or that's what comes before a comma. A single word is a
    /// given name. This is how most names are written that programs record, and formatters put them together again as they were.
    init?(author: String) {
      let user = [NSUserName(), NSFullUserName(), String(NSFullUserName().prefix { $0 != "," })]
      let name = author.trimmingCharacters(in: .whitespacesAndNewlines)
      if name.isEmpty || user.contains(name) { return nil }
      self.init()
      let parts = name.split(separator: ",", maxSplits: 1).map { $0.split(whereSeparator: \.isWhitespace) }
      if parts.count == 2, let given = parts[1].first, !parts[0].isEmpty {
        (familyName, givenName) = (Self.text(parts[0]), String(given))
        middleName = Self.text(parts[1].dropFirst())
        return
      }
      let words = name.split(whereSeparator: \.isWhitespace)
      givenName = words.first.map(String.init)
      if words.count < 2 { return }
      let particle = words.indices.dropFirst().first { words[$0].first?.isLowercase == true }
      let family = min(particle ?? words.count - 1, words.count - 1)
      middleName = Self.text(words[1..<family])
      familyName = Self.text(words[family...])
    }

    private static func text(_ words: some Collection<Substring>) -> String? {
      words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
#endif
