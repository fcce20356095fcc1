public import FoundationEssentials

/// How the contents of documents are written as the bytes of a file.
///
/// ```swift
/// struct Lines: DocumentFormat {
///   func contents(of bytes: Data) throws -> [String] { … }
///   func bytes(of contents: [String]) throws -> Data { … }
/// }
/// ```
///
/// ``text``, ``data`` and ``json(_:)`` are ready to use. Both functions run away from the document's actor and may take their time;
/// they're called for several documents at the same time, and with a crash journal also for one: while it's saved.
///
/// - Note: Rule CD-44.
public protocol DocumentFormat<Contents>: Sendable {
  /// The contents of a document: a value, so that contents which are being written don't change meanwhile.
  associatedtype Contents: Sendable

  /// Reads the bytes of a file.
  ///
  /// - Parameter bytes: All bytes of the file.
  /// - Returns: The contents.
  /// - Throws: Any error, if they aren't in this format.
  func contents(of bytes: Data) throws -> Contents

  /// Writes contents as bytes, which ``contents(of:)`` reads again.
  ///
  /// - Parameter contents: The contents.
  /// - Returns: All bytes of the file.
  /// - Throws: Any error, if this format has no way to write them.
  func bytes(of contents: Contents) throws -> Data
}

/// Texts in UTF-8.
public struct TextFormat: DocumentFormat {
  /// The bytes aren't UTF-8.
  public struct NotUTF8: Error, Sendable, CustomStringConvertible {
    /// The remedy, for a person.
    public var description: String { "The file isn't a text in UTF-8. Read it as data, or with a format of your own." }
  }

  /// Creates the format.
  public init() {}

  /// Reads a text.
  ///
  /// - Parameter bytes: UTF-8.
  /// - Returns: The text.
  /// - Throws: ``NotUTF8``: nothing is replaced, since a save would write the replacement.
  public func contents(of bytes: Data) throws -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw NotUTF8() }
    return text
  }

  /// Writes a text.
  ///
  /// - Parameter contents: The text.
  /// - Returns: UTF-8.
  public func bytes(of contents: String) -> Data { Data(contents.utf8) }
}

/// Bytes as they are.
public struct DataFormat: DocumentFormat {
  /// Creates the format.
  public init() {}

  /// Returns the bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: The same.
  public func contents(of bytes: Data) -> Data { bytes }

  /// Returns the bytes.
  ///
  /// - Parameter contents: The bytes.
  /// - Returns: The same.
  public func bytes(of contents: Data) -> Data { contents }
}

/// Values of a `Codable` type in JSON, with sorted keys, so that equal values have equal bytes.
public struct JSONFormat<Value: Codable & Sendable>: DocumentFormat {
  /// Creates the format.
  public init() {}

  /// Reads a value.
  ///
  /// - Parameter bytes: JSON.
  /// - Returns: The value.
  /// - Throws: A `DecodingError`.
  public func contents(of bytes: Data) throws -> Value { try JSONDecoder().decode(Value.self, from: bytes) }

  /// Writes a value.
  ///
  /// - Parameter contents: The value.
  /// - Returns: JSON.
  /// - Throws: An `EncodingError`.
  public func bytes(of contents: Value) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    return try encoder.encode(contents)
  }
}

/// A format whose functions surely end, soon, so that nobody needs to watch over them.
protocol PromptFormat {}

extension TextFormat: PromptFormat {}
extension DataFormat: PromptFormat {}

/// The properties of a format that matter to a document: found out once, since a cast of a format of unknown type takes long.
struct FormatTraits: Sendable {
  let isPackage: Bool
  let isPrompt: Bool

  init(_ format: some DocumentFormat) {
    isPackage = format is PackageFormat
    isPrompt = format is any PromptFormat
  }
}

extension DocumentFormat where Self == TextFormat {
  /// Texts in UTF-8.
  public static var text: TextFormat { TextFormat() }
}

extension DocumentFormat where Self == DataFormat {
  /// Bytes as they are.
  public static var data: DataFormat { DataFormat() }
}

extension DocumentFormat {
  /// Values of a `Codable` type in JSON.
  ///
  /// - Parameter type: The type.
  /// - Returns: The format.
  public static func json<Value>(_ type: Value.Type) -> JSONFormat<Value> where Self == JSONFormat<Value> {
    JSONFormat()
  }
}
