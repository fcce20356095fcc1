#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  extension MetadataValue {
    /// How deep collections are read; deeper values count as missing.
    private static let depthMax = 64

    /// The value that an object of a program has in a predicate.
    ///
    /// `nil`, `NSNull` and objects of other kinds are `null`; a URL is its path, or its text if it names no file.
    ///
    /// - Parameter object: The object.
    init(foundation object: Any?) { self.init(foundation: object, depth: 0) }

    private init(foundation object: Any?, depth: Int) {
      guard let object = object.flatMap(Self.unwrapped), depth < Self.depthMax else {
        self = .null
        return
      }
      self = Self.single(object) ?? Self.collection(object, depth: depth + 1) ?? .null
    }

    /// The value inside of optionals that were put into `Any`.
    private static func unwrapped(_ object: Any) -> Any? {
      (object as? any AnyOptional).map(\.wrapped) ?? object
    }

    private static func single(_ object: Any) -> MetadataValue? {
      switch object {
      case let value as MetadataValue: value
      case let text as String: .string(text)
      case let text as Substring: .string(String(text))
      case let flag as Bool: .bool(flag)
      case let number as any BinaryInteger:
        Int64(exactly: number).map(MetadataValue.integer) ?? .real(Double(clamping: number))
      case let number as Double: .real(number)
      case let number as Float: .real(Double(number))
      case let number as NSNumber: .number(number)
      case let date as Date: .date(MetadataDate(secondsSince2001: date.timeIntervalSinceReferenceDate))
      case let data as Data: .data(Array(data))
      case let url as URL: .string(url.isFileURL ? url.path : url.absoluteString)
      case let identifier as UUID: .string(identifier.uuidString)
      case let text as NSString: .string(text as String)
      case let date as NSDate: .date(MetadataDate(secondsSince2001: date.timeIntervalSinceReferenceDate))
      case let data as NSData: .data(Array(data as Data))
      case let url as NSURL: MetadataValue(foundation: url as URL)
      case let identifier as NSUUID: .string(identifier.uuidString)
      default: nil
      }
    }

    private static func number(_ number: NSNumber) -> MetadataValue {
      let real = number.doubleValue
      if real != real.rounded() || abs(real) >= 0x1p63 { return .real(real) }
      return .integer(number.int64Value)
    }

    private static func collection(_ object: Any, depth: Int) -> MetadataValue? {
      func value(_ member: Any) -> MetadataValue { MetadataValue(foundation: member, depth: depth) }
      switch object {
      case let entries as [String: Any]: return .dictionary(entries.mapValues(value))
      case let entries as NSDictionary:
        var result: [String: MetadataValue] = [:]
        for case (let key as NSString, let member) in entries { result[key as String] = value(member) }
        return .dictionary(result)
      case let members as [Any]: return .array(members.map(value))
      case let members as NSArray: return .array(members.map(value))
      case let members as Set<AnyHashable>: return .set(Set(members.map { value($0.base) }))
      case let members as NSSet: return .set(Set(members.map(value)))
      default: return nil
      }
    }
  }

  /// An optional in an `Any`.
  private protocol AnyOptional {
    var wrapped: Any? { get }
  }

  extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { map { $0 as Any } }
  }

  extension Double {
    fileprivate init(clamping number: some BinaryInteger) { self = Double(number) }
  }

  /// An object as a predicate sees it.
  struct FoundationItem: PredicateItem {
    let object: Any?

    func value(forAttribute name: String, index: Int) -> MetadataValue {
      switch object {
      case let item as NSMetadataItem: item.metadataValue(name)
      case let item as any PredicateItem: item.value(forAttribute: name, index: index)
      // Only the entry that's read is converted.
      case let entries as [String: Any]: MetadataValue(foundation: entries[name])
      case let entries as NSDictionary: MetadataValue(foundation: entries.object(forKey: name as NSString))
      default: wholeValue.value(forAttribute: name, index: index)
      }
    }

    var wholeValue: MetadataValue {
      (object as? NSMetadataItem)?.wholeValue ?? (object as? any PredicateItem)?.wholeValue
        ?? MetadataValue(foundation: object)
    }
  }

  extension PredicateEnvironment {
    /// This moment, in the time zone and with the weeks of the user.
    static var present: PredicateEnvironment {
      let (zone, day) = (TimeZone.current, Calendar.current.firstWeekday)
      let calendar = PredicateCalendar(
        firstWeekday: PredicateCalendar.Weekday(rawValue: (day + 5) % 7) ?? .monday,
        secondsFromUTC: { moment in
          zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: moment.secondsSince2001))
        })
      let now = MetadataDate(secondsSince2001: Date().timeIntervalSinceReferenceDate)
      return PredicateEnvironment(now: now, calendar: calendar)
    }
  }
#endif
