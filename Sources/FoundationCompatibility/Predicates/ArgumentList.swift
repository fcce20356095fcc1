#if !canImport(ObjectiveC)
  internal import Foundation
  internal import Glibc
  internal import MetadataPredicates

  /// The arguments in a list of C's, which only a format can separate.
  enum ArgumentList {
    /// The most characters of an argument in text, with the sign behind it.
    private static let lengthMax = 40

    /// Takes arguments out of a list.
    ///
    /// printf(3) reads the list, because only C has its layout on each machine: objects come as addresses, numbers
    /// without loss.
    ///
    /// - Parameters:
    ///   - list: The list, with an argument for each conversion in the format. A shorter one is undefined behaviour, as in C.
    ///   - format: A format of a predicate.
    /// - Returns: The arguments.
    static func arguments(_ list: CVaListPointer, for format: String) -> [Any] {
      let conversions = MetadataPredicate.conversions(in: format)
      let text = conversions.map { spelling($0) + "\n" }.joined()
      var buffer = [CChar](repeating: 0, count: conversions.count * lengthMax + 1)
      let length = unsafe Int(vsnprintf(&buffer, buffer.count, text, list))
      let printed = String(decoding: buffer.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return zip(conversions, printed.split(separator: "\n")).map(argument)
    }

    /// How an argument is printed so that nothing is lost.
    private static func spelling(_ conversion: String) -> String {
      guard let last = conversion.last else { return "" }
      let length = conversion.dropFirst().dropLast()
      switch last {
      case "@", "K": return "%p"
      case "d", "i", "D": return "%\(length)d"
      case "u", "U", "o", "O", "x", "X": return "%\(length)u"
      case "c", "C": return "%d"
      default: return "%a"
      }
    }

    private static func argument(_ conversion: String, _ text: Substring) -> Any {
      switch conversion.last {
      case "@", "K": object(text) ?? NSNull()
      case "e", "E", "f", "g", "G": Double(text) ?? 0
      default: Int64(text) ?? UInt64(text).map { $0 as Any } ?? 0
      }
    }

    private static func object(_ text: Substring) -> Any? {
      guard let address = UInt(text.dropFirst("0x".count), radix: 16) else { return nil }
      return unsafe UnsafeRawPointer(bitPattern: address).map {
        unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
      }
    }
  }
#endif
