// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import FoundationCompatibility
import Scene

// Takes predicates apart, as programs do that translate them for a store of their own: the names stand in types.

extension NSPredicate {
  func sql() -> String {
    switch self {
    case let compound as NSCompoundPredicate:
      let members = compound.subpredicates.map { $0.sql() }
      switch compound.compoundPredicateType {
      case .and: return "(" + members.joined(separator: " AND ") + ")"
      case .or: return "(" + members.joined(separator: " OR ") + ")"
      case .not: return "NOT " + members[0]
      }
    case let comparison as NSComparisonPredicate:
      return "\(comparison.leftExpression.sql()) \(sign(comparison.predicateOperatorType)) "
        + comparison.rightExpression.sql()
    default: return "1"
    }
  }
}

func sign(_ type: NSComparisonPredicate.Operator) -> String {
  switch type {
  case .equalTo: return "="
  case .notEqualTo: return "<>"
  case .lessThan: return "<"
  case .greaterThan: return ">"
  case .like: return "LIKE"
  default: return "?"
  }
}

extension NSExpression {
  func sql() -> String {
    switch expressionType {
    case .keyPath: return keyPath
    case .constantValue:
      switch constantValue {
      case let text as String: return "'\(text)'"
      case let number as NSNumber: return "\(number)"
      default: return "NULL"
      }
    case .function: return "\(function)(\(arguments!.map { $0.sql() }.joined(separator: ", ")))"
    default: return "?"
    }
  }
}

func store(_ predicate: NSCompoundPredicate) throws -> NSCompoundPredicate? {
  let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
  return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSCompoundPredicate.self, from: data)
}

@main
struct Program {
  static func main() {
    let predicate = NSPredicate(format: "name LIKE %@ AND (NOT size < 3 OR size + 1 == 2)", "a*")
    Scene.check(
      predicate.sql() == "(name LIKE 'a*' AND (NOT size < 3 OR add:to:(size, 1) = 2))", predicate.sql())
    let compound = predicate as! NSCompoundPredicate
    Scene.check(try! store(compound) == compound, "archived")
    let left: NSExpression? = (compound.subpredicates.first as? NSComparisonPredicate)?.leftExpression
    Scene.check(left == NSExpression(forKeyPath: "name"), "left")
    let odd = NSExpression(
      block: { object, arguments, context in ((object as? Int) ?? 0) % (arguments[0] as! Int) },
      arguments: [NSExpression(forConstantValue: 2)])
    let isOdd = NSComparisonPredicate(
      leftExpression: odd, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .equalTo)
    Scene.check([1, 2, 3].filter { isOdd.evaluate(with: $0) } == [1, 3], "block")
    Scene.finish()
  }
}
