/// The values that the steps of a key path lead to.
enum AttributePath {
  /// The value of one key.
  ///
  /// Of an array it's that of each member, `nil` where there's none; texts have the parts of a path.
  static func value(_ value: MetadataValue, forKey key: String) -> MetadataValue {
    switch value {
    case .dictionary(let entries): entries[key] ?? .null
    case .array(let elements): .array(elements.map { self.value($0, forKey: key) })
    case .set(let elements): .set(Set(elements.map { self.value($0, forKey: key) }))
    case .string(let text): part(of: text, key)
    case .null, .bool, .integer, .real, .date, .data: .null
    }
  }

  private static func part(of text: String, _ key: String) -> MetadataValue {
    switch key {
    case "length": return .integer(Int64(text.utf16.count))
    case "pathComponents":
      let components = text.split(separator: "/").map { MetadataValue.string(String($0)) }
      return .array((text.utf8.first == UInt8(ascii: "/") ? [.string("/")] : []) + components)
    case "lastPathComponent": return .string(text.split(separator: "/").last.map(String.init) ?? text)
    case "pathExtension":
      let name = text.split(separator: "/").last ?? ""
      guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return .string("") }
      return .string(String(name[name.index(after: dot)...]))
    // Properties of URLs; here they're texts.
    case "path": return .string(FileURLText.path(of: text) ?? text)
    case "URLByDeletingLastPathComponent", "stringByDeletingLastPathComponent":
      return .string(directory(of: FileURLText.path(of: text) ?? text))
    default: return .null
    }
  }

  private static func directory(of path: String) -> String {
    let path = path.utf8.count > 1 && path.hasSuffix("/") ? path.dropLast() : path[...]
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// The text of a file URL.
private enum FileURLText {
  /// The path; `nil` for a text that isn't a file URL.
  static func path(of text: String) -> String? {
    guard text.hasPrefix("file:///") else { return nil }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8.dropFirst("file://".utf8.count))[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    if bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Evaluation {
  mutating func follow(
    _ steps: ArraySlice<MetadataExpression.PathStep>, from start: MetadataValue
  ) -> MetadataValue {
    var value = start
    var rest = steps
    while let step = rest.popFirst() {
      switch step {
      case .key(let key):
        if let count = value.members?.count, !visit(count) { return .null }
        value = AttributePath.value(value, forKey: key)
      // The key path behind an operator is the operand of that operator.
      case .collection(let known): return apply(known, to: value, rest)
      }
    }
    return value
  }

  private mutating func apply(
    _ known: MetadataExpression.CollectionOperator, to collection: MetadataValue,
    _ rest: ArraySlice<MetadataExpression.PathStep>
  ) -> MetadataValue {
    if case .null = collection { return .null }
    guard let members = collection.members else {
      note(.operand(function: "@\(known.rawValue)", kind: collection.kind))
      return .null
    }
    if !visit(members.count) { return .null }
    if known == .count { return .integer(Int64(members.count)) }
    let values = members.map { follow(rest, from: $0) }.filter { $0 != .null }
    switch known {
    case .count: return .integer(Int64(values.count))
    case .sum: return aggregate(.sum, values)
    case .avg: return aggregate(.average, values)
    case .min: return aggregate(.min, values)
    case .max: return aggregate(.max, values)
    case .unionOfObjects: return .array(values)
    case .distinctUnionOfObjects: return .array(distinct(values))
    case .unionOfArrays, .unionOfSets: return .array(values.flatMap { $0.members ?? [$0] })
    case .distinctUnionOfArrays: return .array(distinct(values.flatMap { $0.members ?? [$0] }))
    case .distinctUnionOfSets: return .set(Set(distinct(values.flatMap { $0.members ?? [$0] })))
    }
  }

  /// The first of each group of equal values.
  func distinct(_ values: [MetadataValue]) -> [MetadataValue] {
    var seen: Set<MetadataValue> = []
    return values.filter { seen.insert($0.canonical).inserted }
  }
}
