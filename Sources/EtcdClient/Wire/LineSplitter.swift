/// Cuts the pieces of a stream into lines, as a value.
package struct LineSplitter: Sendable {
  /// How many bytes a line may have: a message of a watch holds at most some thousand revisions of at most 1.5 MB each, and mostly far less.
  package static let lineLengthMax = 256 << 20

  private var partial: [UInt8] = []

  /// Creates a splitter that begins with a line.
  package init() {}

  /// Takes a piece.
  ///
  /// - Parameter piece: The piece.
  /// - Returns: The lines that it ends, without their ends, but for empty ones; `nil` if one is too long.
  /// - Complexity: O(*n*) in the number of bytes of the piece and of the lines that it ends.
  package mutating func take(_ piece: [UInt8]) -> [ArraySlice<UInt8>]? {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    while let end = piece[start...].firstIndex(of: 0x0A) {
      if partial.isEmpty {
        lines.append(piece[start..<end])
      } else {
        lines.append((partial + piece[start..<end])[...])
        partial = []
      }
      start = end + 1
    }
    partial += piece[start...]
    if partial.count > Self.lineLengthMax { return nil }
    return lines.filter { !$0.isEmpty }
  }
}
