/// Computing with values.
///
/// Whole numbers stay whole while they fit; then they become numbers with a fraction.
enum Arithmetic {
  /// Applies an operator; `nil` when an operand is no number, or when a whole number is divided by zero.
  static func apply(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: MetadataValue, _ right: MetadataValue
  ) -> MetadataValue? {
    guard let first = left.quantity, let second = right.quantity else { return nil }
    // A moment plus seconds is a moment again; the time between two moments is a number.
    if case .date = left, sign == .add || sign == .subtract {
      if case .date = right { return sign == .subtract ? .real(first.real - second.real) : nil }
      return .date(MetadataDate(secondsSince2001: sign == .add ? first.real + second.real : first.real - second.real))
    }
    if case .integer(let whole) = first, case .integer(let other) = second { return apply(sign, whole, other) }
    return .real(apply(sign, first.real, second.real))
  }

  private static func apply(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: Int64, _ right: Int64
  ) -> MetadataValue? {
    let result: (partialValue: Int64, overflow: Bool)
    switch sign {
    case .add: result = left.addingReportingOverflow(right)
    case .subtract: result = left.subtractingReportingOverflow(right)
    case .multiply: result = left.multipliedReportingOverflow(by: right)
    case .divide:
      if right == 0 { return nil }
      result = left.dividedReportingOverflow(by: right)
    case .power:
      if let power = power(left, right) { return .integer(power) }
      return .real(RealMath.power(Double(left), Double(right)))
    }
    return result.overflow ? .real(apply(sign, Double(left), Double(right))) : .integer(result.partialValue)
  }

  private static func apply(
    _ sign: MetadataExpression.ArithmeticOperator, _ left: Double, _ right: Double
  ) -> Double {
    switch sign {
    case .add: left + right
    case .subtract: left - right
    case .multiply: left * right
    case .divide: left / right
    case .power: RealMath.power(left, right)
    }
  }

  /// A whole power, if it's a whole number that fits.
  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    if exponent < 0 { return nil }
    switch base {
    case 0, 1: return exponent == 0 ? 1 : base
    case -1: return exponent.isMultiple(of: 2) ? 1 : -1
    // Otherwise it overflows before the 64th step.
    default: break
    }
    var result: Int64 = 1
    for _ in 0..<min(exponent, 64) {
      let (product, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return nil }
      result = product
    }
    return result
  }

  static func negated(_ value: MetadataValue) -> MetadataValue? {
    switch value.quantity {
    case .integer(let number): number == .min ? .real(-Double(number)) : .integer(-number)
    case .real(let number): .real(-number)
    case nil: nil
    }
  }
}

/// Logarithms and powers, which the standard library doesn't have.
///
/// The last digits may differ from the C library's.
enum RealMath {
  private static let ln2High = 0x1.62e42feep-1
  private static let ln2Low = 0x1.a39ef35793c76p-33

  static func ln(_ x: Double) -> Double {
    if x.isNaN || x < 0 { return .nan }
    if x == 0 { return -.infinity }
    if x.isInfinite { return x }
    var significand = x.significand
    var exponent = Double(x.exponent)
    if significand > 1.414_213_562_373_095_1 {
      significand /= 2
      exponent += 1
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), whose series ends after 12 terms for |s| < 0.172.
    let s = (significand - 1) / (significand + 1)
    let square = s * s
    var sum = 0.0
    for term in stride(from: 25.0, through: 3, by: -2) { sum = (sum + 1 / term) * square }
    return exponent * ln2High + (exponent * ln2Low + 2 * s * (1 + sum))
  }

  static func exp(_ x: Double) -> Double {
    if x.isNaN { return x }
    if x > 710 { return .infinity }
    if x < -746 { return 0 }
    let exponent = (x / (ln2High + ln2Low)).rounded()
    let rest = x - exponent * ln2High - exponent * ln2Low
    var sum = 1.0
    for term in stride(from: 16.0, through: 1, by: -1) { sum = 1 + sum * rest / term }
    // In two steps: the power of two alone may be out of range while the result isn't.
    let half = Int(exponent) / 2
    return sum * Double(sign: .plus, exponent: half, significand: 1)
      * Double(sign: .plus, exponent: Int(exponent) - half, significand: 1)
  }

  /// The logarithm to base 10; exact for powers of ten.
  static func log10(_ x: Double) -> Double {
    let result = ln(x) / 2.302_585_092_994_045_7
    let whole = result.rounded()
    return result.isFinite && abs(result - whole) < 1e-12 && power(10, whole) == x ? whole : result
  }

  static func power(_ base: Double, _ exponent: Double) -> Double {
    if exponent == 0 { return 1 }
    if base.isNaN || exponent.isNaN { return .nan }
    let whole = exponent.rounded(.towardZero)
    if whole == exponent, abs(exponent) <= 1_024 { return wholePower(base, Int(exponent)) }
    if base < 0 {
      if whole != exponent { return .nan }
      let magnitude = exp(exponent * ln(-base))
      return (whole / 2).rounded(.towardZero) * 2 == whole ? magnitude : -magnitude
    }
    return exp(exponent * ln(base))
  }

  /// By squaring.
  private static func wholePower(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    var square = base
    var rest = exponent.magnitude
    while rest > 0 {
      if rest & 1 == 1 { result *= square }
      square *= square
      rest >>= 1
    }
    return exponent < 0 ? 1 / result : result
  }
}
