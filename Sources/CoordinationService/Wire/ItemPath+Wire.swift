internal import FileAccessArbiter

extension ItemPath: WireValue {
  package func encode(into writer: inout WireWriter) { writer.append(path: bytes) }

  package init(from reader: inout WireReader) throws(WireError) {
    let bytes = try reader.pathBytes()
    if let flaw = ItemPath.flaw(in: bytes) {
      let path = String(decoding: bytes.prefix(200), as: UTF8.self)
      throw reader.error(.invalidPath, "'\(path)' is no canonical path: \(flaw)", back: bytes.count)
    }
    self.init(canonical: bytes)
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  /// The reason why bytes aren't a canonical path; `nil` when they are one.
  private static func flaw(in bytes: [UInt8]) -> String? {
    guard bytes.first == slash else { return "it doesn't begin with a slash" }
    if bytes.count == 1 { return nil }
    var componentStart = 1
    for index in 1..<bytes.count {
      let byte = bytes[index]
      if byte == 0, index != 1 || !ItemPath.isAlias(bytes) { return "it contains a zero byte" }
      guard byte == slash else { continue }
      if let flaw = flaw(ofComponent: bytes[componentStart..<index]) { return flaw }
      componentStart = index + 1
    }
    return flaw(ofComponent: bytes[componentStart...])
  }

  @inline(__always)
  private static func flaw(ofComponent name: ArraySlice<UInt8>) -> String? {
    if name.count > 2 { return nil }
    if name.isEmpty { return "it has an empty component" }
    return name.allSatisfy { $0 == dot } ? "it has a component that stands for another item" : nil
  }
}
