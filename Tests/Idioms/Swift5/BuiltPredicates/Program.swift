// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// Predicates put together from expressions, as search fields with rules do.

struct Rule {
  let key: String
  let text: String

  var predicate: NSPredicate {
    NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: text),
      modifier: .direct, type: .like, options: [.caseInsensitive, .diacriticInsensitive])
  }
}

func runRules() {
  let items: [[String: Any]] = [
    ["name": "Étude.md", "tags": ["music"], "size": 10], ["name": "b.txt", "tags": ["work", "music"], "size": 20],
    ["name": "c.pdf", "tags": [String](), "size": 30],
  ]
  let rules = [Rule(key: "name", text: "etude.*"), Rule(key: "name", text: "*.TXT")]
  let anyRule = NSCompoundPredicate(orPredicateWithSubpredicates: rules.map { $0.predicate })
  Scene.check(NSArray(array: items).filtered(using: anyRule).count == 2, "rules")
  Scene.check(anyRule.description == #"name LIKE[cd] "etude.*" OR name LIKE[cd] "*.TXT""#, "\(anyRule)")
  Scene.check(anyRule != NSCompoundPredicate(orPredicateWithSubpredicates: [rules[0].predicate]), "told apart")

  let isMusic = NSComparisonPredicate(
    leftExpression: NSExpression(forKeyPath: "tags"), rightExpression: NSExpression(forConstantValue: "music"),
    modifier: .any, type: .equalTo, options: [])
  let range = NSComparisonPredicate(
    leftExpression: NSExpression(forKeyPath: #"size"#),
    rightExpression: NSExpression(forAggregate: [
      NSExpression(forConstantValue: 15), NSExpression(forConstantValue: 25),
    ]), modifier: .direct, type: .between)
  let both = NSCompoundPredicate(andPredicateWithSubpredicates: [isMusic, range])
  Scene.check(items.map { both.evaluate(with: $0) } == [false, true, false], "\(both)")
  Scene.check(both == NSPredicate(format: "ANY tags == 'music' AND size BETWEEN {15, 25}"), "as in a format")

  let total = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "size")])
  let sum = total.expressionValue(with: ["size": [1, 2, 3]], context: nil) as? Int
  Scene.check(sum == 6, "\(total)")
  let computed = NSExpression(format: "3 + 4 * %d", 5).expressionValue(with: nil, context: nil) as! NSNumber
  Scene.check(computed.intValue == 23, "computed")
}

@main
struct Program {
  static func main() {
    runRules()
    Scene.finish()
  }
}
