/// Reads the lines of heads, as a value: each is delivered whole, with the end of the line.
///
/// Heads of preliminary responses (1xx) are skipped, and lines after the head are trailers, which nobody asks for.
package struct HeadParser: Sendable {
  private enum Phase: Sendable {
    /// The first line of a head comes next.
    case status
    /// Lines come until an empty one.
    case lines(HTTPHead)
    /// The final head was there.
    case ended
  }

  /// The news that a line has brought.
  package enum Result: Hashable, Sendable {
    /// More lines are needed.
    case more
    /// The final head is whole.
    case head(HTTPHead)
    /// It isn't HTTP.
    case malformed
  }

  private var phase = Phase.status
  private var byteCount = 0

  /// How many bytes all heads of a response may have.
  package static let byteCountMax = 256 << 10

  /// Creates a parser.
  package init() {}

  /// Takes the next line.
  ///
  /// - Parameter bytes: The line.
  /// - Returns: The news that it has brought.
  package mutating func take(_ bytes: [UInt8]) -> Result {
    byteCount += bytes.count
    if byteCount > Self.byteCountMax { return .malformed }
    let line = String(decoding: bytes, as: UTF8.self).trimmingLineEnd()
    switch phase {
    case .status:
      guard let status = Self.status(line) else { return .malformed }
      phase = .lines(HTTPHead(status: status))
    case .lines(var head):
      if line.isEmpty { return headEnded(head) }
      if let header = Self.header(line) { head.headers.append(header) }
      phase = .lines(head)
    case .ended: break
    }
    return .more
  }

  private mutating func headEnded(_ head: HTTPHead) -> Result {
    if (100..<200).contains(head.status), head.status != 101 {
      phase = .status
      return .more
    }
    phase = .ended
    return .head(head)
  }

  private static func status(_ line: Substring) -> Int? {
    guard line.hasPrefix("HTTP/") else { return nil }
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count > 1, let status = Int(words[1]), (100..<1000).contains(status) else { return nil }
    return status
  }

  private static func header(_ line: Substring) -> HTTPHeader? {
    guard let colon = line.firstIndex(of: ":") else { return nil }
    return HTTPHeader(String(line[..<colon]), String(line[colon...].dropFirst().trimmingSpaces()))
  }
}

extension StringProtocol where SubSequence == Substring {
  fileprivate func trimmingLineEnd() -> Substring {
    // "\r\n" is one character.
    var text = self[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    return text
  }

  fileprivate func trimmingSpaces() -> Substring {
    var text = self[...]
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text.drop { $0 == " " || $0 == "\t" }
  }
}
