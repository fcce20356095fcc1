internal import CoordinationService
internal import SystemInterface

/// The accesses that a process belongs to, one for each domain, as its environment names them.
///
/// The variable is a list of entries with spaces in between. An entry has five fields with colons in between: the
/// domain, the token, and for people the process, the mode and the first path of the access. All bytes are of ASCII:
///
/// ```
/// user.1000:0123456789abcdef0123456789abcdef:4711:writing:/home/ada/notes
/// ```
struct AccessEnvironment: Hashable, Sendable {
  static let variable = "FILE_COORDINATION_ACCESS"
  /// How many domains there may be.
  static let entryCountMax = 16
  /// How many bytes of a path it has.
  static let pathByteCountMax = 1024

  struct Entry: Hashable, Sendable, CustomStringConvertible {
    let domain: String
    let token: AccessToken
    let process: Int32
    let isWrite: Bool
    /// The beginning of the path, if it's too long.
    let path: [UInt8]

    var description: String {
      "the access for \(isWrite ? "writing" : "reading") '\(String(decoding: path, as: UTF8.self))' by pid \(process)"
    }
  }

  private(set) var entries: [Entry] = []

  init() {}

  func entry(for domain: String) -> Entry? { entries.first { $0.domain == domain } }

  /// The access in the domain of a meeting ground, which isn't asked for its name without need.
  func entry(for ground: MeetingGround) -> Entry? { entries.isEmpty ? nil : entry(for: ground.name) }

  /// Names another access of a domain.
  mutating func set(_ entry: Entry) throws(FileCoordinationError) {
    entries.removeAll { $0.domain == entry.domain }
    if entries.count >= Self.entryCountMax { throw .tooManyOuterAccesses(Self.entryCountMax) }
    entries.append(entry)
  }
}

// MARK: - As text

extension AccessEnvironment {
  struct Malformed: Error { let reason: String }

  init(_ value: String) throws(Malformed) {
    for text in value.split(separator: " ", omittingEmptySubsequences: false) {
      if entries.count >= Self.entryCountMax {
        throw Malformed(reason: "it has more than \(Self.entryCountMax) entries")
      }
      let entry = try Entry(text)
      if self.entry(for: entry.domain) != nil { throw Malformed(reason: "it names two accesses of one domain") }
      entries.append(entry)
    }
  }

  /// The variables for a child process: none if it belongs to nothing.
  var variables: [String: String] {
    entries.isEmpty ? [:] : [Self.variable: entries.map(\.text).joined(separator: " ")]
  }
}

extension AccessEnvironment.Entry {
  fileprivate init(_ text: Substring) throws(AccessEnvironment.Malformed) {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard fields.count == 5 else {
      throw AccessEnvironment.Malformed(reason: "an entry has five fields, not \(fields.count)")
    }
    guard let domain = PercentCoding.bytes(of: fields[0]), !domain.isEmpty,
      let path = PercentCoding.bytes(of: fields[4])
    else { throw AccessEnvironment.Malformed(reason: "a field has a byte that has to be encoded") }
    guard let token = AccessToken(hexadecimal: fields[1]) else {
      throw AccessEnvironment.Malformed(reason: "a token has 32 digits from 0 to f")
    }
    guard let process = Int32(fields[2]), process > 0 else {
      throw AccessEnvironment.Malformed(reason: "there's no such process")
    }
    guard ["reading", "writing"].contains(fields[3]) else {
      throw AccessEnvironment.Malformed(reason: "an access is for reading or for writing")
    }
    self.init(
      domain: String(decoding: domain, as: UTF8.self), token: token, process: process, isWrite: fields[3] == "writing",
      path: path)
  }

  fileprivate var text: String {
    [
      PercentCoding.text(of: domain.utf8), token.hexadecimal, "\(process)", isWrite ? "writing" : "reading",
      PercentCoding.text(of: path.prefix(AccessEnvironment.pathByteCountMax)),
    ].joined(separator: ":")
  }
}

extension AccessToken {
  /// 128 bits of getrandom(2), by the generator of the standard library.
  static func drawn() -> AccessToken { AccessToken(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) }

  fileprivate init?(hexadecimal digits: Substring) {
    guard digits.utf8.count == 32, digits.utf8.allSatisfy({ ($0 >= 48 && $0 < 58) || ($0 >= 97 && $0 < 103) }),
      let high = UInt64(digits.prefix(16), radix: 16), let low = UInt64(digits.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  fileprivate var hexadecimal: String {
    [high, low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// Bytes as a text of letters, digits, and percent signs before two hexadecimal digits; each has one spelling.
private enum PercentCoding {
  static func text(of bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if isPlain(byte) {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func bytes(of text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        guard byte == UInt8(ascii: "%"), let high = rest.popFirst().flatMap(digits.firstIndex),
          let low = rest.popFirst().flatMap(digits.firstIndex), !isPlain(UInt8(high << 4 | low))
        else { return nil }
        bytes.append(UInt8(high << 4 | low))
      }
    }
    return bytes
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

// MARK: - That of this process

extension AccessEnvironment {
  /// The accesses around this process, or what's wrong with its environment.
  enum Inherited: Sendable {
    case accesses(AccessEnvironment)
    case malformed(FileCoordinationError)

    /// Read once: the process belongs to them as long as it lives.
    static let ofProcess = Inherited(HostEnvironment.value(of: AccessEnvironment.variable))

    init(_ value: String?) {
      guard let value, !value.isEmpty else {
        self = .accesses(AccessEnvironment())
        return
      }
      do throws(Malformed) {
        self = .accesses(try AccessEnvironment(value))
      } catch {
        self = .malformed(.invalidAccessEnvironment(value, because: error.reason))
      }
    }

    var accesses: AccessEnvironment {
      switch self {
      case .accesses(let accesses): accesses
      case .malformed: AccessEnvironment()
      }
    }
  }
}
