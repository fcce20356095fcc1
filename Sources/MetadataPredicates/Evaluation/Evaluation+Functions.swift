extension Evaluation {
  /// Calls a predefined function.
  ///
  /// An operand that it can't use gives `nil` and a problem; `nil` itself gives `nil`.
  mutating func call(_ function: PredefinedFunction, _ operands: [MetadataValue]) -> MetadataValue {
    switch function {
    case .sum, .count, .min, .max, .average, .median, .mode, .stddev: return aggregate(function, of: operands)
    case .add: return binary(.add, function, operands)
    case .subtract: return binary(.subtract, function, operands)
    case .multiply: return binary(.multiply, function, operands)
    case .divide: return binary(.divide, function, operands)
    case .raise: return binary(.power, function, operands)
    case .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftshift, .rightshift, .onesComplement:
      return whole(function, operands)
    case .sqrt, .log, .ln, .exp: return real(function, operands[0])
    case .floor, .ceiling, .trunc, .abs: return rounded(function, operands[0])
    case .uppercase, .lowercase, .length: return text(function, operands[0])
    case .random: return .real(Double(draw() >> 11) * 0x1p-53)
    case .randomn:
      guard case .integer(let bound) = operands[0], bound > 0 else { return refuse(function, operands) }
      return .integer(Int64(draw() % UInt64(bound)))
    case .now, .today, .yesterday, .thisWeek, .thisMonth, .thisYear: return moment(function, operands.first)
    case .noindex: return operands[0]
    case .castObject:
      guard case .string(let name) = operands[1], let type = CastType(name) else { return refuse(function, operands) }
      return type.apply(operands[0])
    case .objectFrom: return element(of: operands[0], at: operands[1])
    }
  }

  private mutating func refuse(_ function: PredefinedFunction, _ operands: [MetadataValue]) -> MetadataValue {
    if !operands.contains(.null), let value = operands.first(where: { $0.quantity == nil }) ?? operands.first {
      note(.operand(function: function.shortName, kind: value.kind))
    }
    return .null
  }

  // MARK: Numbers

  private mutating func binary(
    _ sign: MetadataExpression.ArithmeticOperator, _ function: PredefinedFunction, _ operands: [MetadataValue]
  ) -> MetadataValue {
    Arithmetic.apply(sign, operands[0], operands[1]) ?? refuse(function, operands)
  }

  /// Functions of whole numbers.
  private mutating func whole(_ function: PredefinedFunction, _ operands: [MetadataValue]) -> MetadataValue {
    let numbers = operands.compactMap { operand -> Int64? in
      switch operand.canonical {
      case .integer(let number): number
      default: nil
      }
    }
    if function == .modulus, numbers.count < 2, let first = operands[0].quantity, let second = operands[1].quantity {
      return .real(first.real.truncatingRemainder(dividingBy: second.real))
    }
    guard numbers.count == operands.count, let first = numbers.first, let second = numbers.last else {
      return refuse(function, operands)
    }
    switch function {
    case .modulus:
      if second == 0 { return refuse(function, operands) }
      return .integer(first.remainderReportingOverflow(dividingBy: second).partialValue)
    case .bitwiseAnd: return .integer(first & second)
    case .bitwiseOr: return .integer(first | second)
    case .bitwiseXor: return .integer(first ^ second)
    // Smart shifts: any distance is defined.
    case .leftshift: return .integer(first << second)
    case .rightshift: return .integer(first >> second)
    default: return .integer(~first)
    }
  }

  private mutating func real(_ function: PredefinedFunction, _ operand: MetadataValue) -> MetadataValue {
    guard let number = operand.quantity?.real else { return refuse(function, [operand]) }
    switch function {
    case .sqrt: return .real(number.squareRoot())
    case .log: return .real(RealMath.log10(number))
    case .ln: return .real(RealMath.ln(number))
    default: return .real(RealMath.exp(number))
    }
  }

  private mutating func rounded(_ function: PredefinedFunction, _ operand: MetadataValue) -> MetadataValue {
    switch operand.quantity {
    case nil: return refuse(function, [operand])
    case .integer(let number):
      if function != .abs || number >= 0 { return .integer(number) }
      return number == .min ? .real(-Double(number)) : .integer(-number)
    case .real(let number):
      switch function {
      case .floor: return .real(number.rounded(.down))
      case .ceiling: return .real(number.rounded(.up))
      case .trunc: return .real(number.rounded(.towardZero))
      default: return .real(abs(number))
      }
    }
  }

  private mutating func text(_ function: PredefinedFunction, _ operand: MetadataValue) -> MetadataValue {
    guard case .string(let text) = operand else { return refuse(function, [operand]) }
    switch function {
    case .uppercase: return .string(text.uppercased())
    case .lowercase: return .string(text.lowercased())
    // The count of NSString.
    default: return .integer(Int64(text.utf16.count))
    }
  }

  /// The next number of SplitMix64.
  private mutating func draw() -> UInt64 {
    drawCount += 1
    var bits = environment.randomSeed &+ drawCount &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }

  // MARK: Moments

  /// The beginning of a period of Spotlight's `$time`; the operand moves it, in units of the period's name or, as text, of another one.
  private mutating func moment(_ function: PredefinedFunction, _ operand: MetadataValue?) -> MetadataValue {
    guard let now = environment.now else {
      note(.noMoment)
      return .null
    }
    guard let offset = TimeOffset(operand) else { return refuse(function, operand.map { [$0] } ?? []) }
    let unit: PredicateCalendar.Unit
    switch function {
    case .now:
      if let named = offset.unit {
        let calendar = environment.calendar
        // As many days, weeks, months or years ago, at the same time of the day.
        guard let today = calendar.beginning(of: .day, around: now, movedBy: 0, .day),
          let day = calendar.beginning(of: .day, around: now, movedBy: offset.count, named)
        else { return .null }
        return .date(
          MetadataDate(secondsSince2001: now.secondsSince2001 - today.secondsSince2001 + day.secondsSince2001))
      }
      return .date(MetadataDate(secondsSince2001: now.secondsSince2001 + Double(offset.count)))
    case .thisWeek: unit = .week
    case .thisMonth: unit = .month
    case .thisYear: unit = .year
    default: unit = .day
    }
    var start: MetadataDate? = now
    if function == .yesterday { start = environment.calendar.beginning(of: .day, around: now, movedBy: -1, .day) }
    let moment = start.flatMap {
      environment.calendar.beginning(of: unit, around: $0, movedBy: offset.count, offset.unit ?? unit)
    }
    return moment.map(MetadataValue.date) ?? .null
  }
}

/// How far a moment is moved: `-2`, or `"-2w"` with a unit.
struct TimeOffset {
  let count: Int
  let unit: PredicateCalendar.Unit?

  /// Reads an operand; none at all means 0.
  init?(_ operand: MetadataValue?) {
    switch operand {
    case nil:
      count = 0
      unit = nil
    case .integer(let number):
      guard abs(number.clampedMagnitude) <= Self.countMax else { return nil }
      count = Int(number)
      unit = nil
    case .string(let text):
      guard let letter = text.last, let known = PredicateCalendar.Unit(rawValue: letter),
        let number = Int(text.dropLast()), abs(Int64(number).clampedMagnitude) <= Self.countMax
      else { return nil }
      count = number
      unit = known
    default: return nil
    }
  }

  /// Some 300,000 years in seconds.
  private static let countMax: Int64 = 10_000_000_000_000
}

extension Int64 {
  /// The magnitude, one too small for the least number.
  fileprivate var clampedMagnitude: Int64 { self == .min ? .max : abs(self) }
}
