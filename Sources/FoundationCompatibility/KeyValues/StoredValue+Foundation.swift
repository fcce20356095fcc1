#if !canImport(ObjectiveC)
  internal import Foundation
  internal import KeyValueReplicas

  extension StoredValue {
    /// A property-list value of Foundation's types; `nil` for anything else.
    init?(foundation value: Any) {
      switch value {
      // Before numbers, as which Foundation also takes them.
      case let value as Bool where type(of: value) == Bool.self: self = .boolean(value)
      case let value as String: self = .string(value)
      case let value as Data: self = .data(Array(value))
      case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
      case let value as NSNumber: self.init(value)
      case let value as any FixedWidthInteger:
        guard let number = Int64(exactly: value) else { return nil }
        self = .integer(number)
      case let value as Double: self = .real(value)
      case let value as Float: self = .real(Double(value))
      case let value as [Any]:
        var elements: [StoredValue] = []
        for element in value {
          guard let element = StoredValue(foundation: element) else { return nil }
          elements.append(element)
        }
        self = .array(elements)
      case let value as [String: Any]:
        var members: [String: StoredValue] = [:]
        for (name, member) in value {
          guard let member = StoredValue(foundation: member) else { return nil }
          members[name] = member
        }
        self = .dictionary(members)
      default: return nil
      }
    }

    /// A number; `nil` if it's larger than signed numbers can be.
    private init?(_ number: NSNumber) {
      switch CFNumberKind(number) {
      case .boolean: self = .boolean(number.boolValue)
      case .real: self = .real(number.doubleValue)
      case .integer:
        if number.compare(NSNumber(value: Int64.max)) == .orderedDescending { return nil }
        self = .integer(number.int64Value)
      }
    }

    private enum CFNumberKind {
      case boolean, integer, real

      init(_ number: NSNumber) {
        // The type of its value, as a letter of Objective-C's type encodings.
        switch unsafe UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "B"): self = .boolean
        case UInt8(ascii: "f"), UInt8(ascii: "d"): self = .real
        default: self = .integer
        }
      }
    }

    /// The same value of Foundation's types.
    var foundation: Any {
      switch self {
      case .boolean(let value): value
      case .integer(let value): Int(value)
      case .real(let value): value
      case .string(let value): value
      case .data(let value): Data(value)
      case .date(let value): Date(timeIntervalSinceReferenceDate: value)
      case .array(let elements): elements.map(\.foundation)
      case .dictionary(let members): members.mapValues(\.foundation)
      }
    }
  }
#endif
