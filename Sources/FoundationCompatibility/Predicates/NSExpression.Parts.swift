#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  extension NSExpression {
    /// The parts of an expression, as Apple's names divide it.
    enum Parts {
      case constant(Any?)
      case itself
      case anyKey
      case variable(String)
      case keyPath(String)
      case function(String, [NSExpression])
      case set(MetadataExpression.SetOperator, NSExpression, NSExpression)
      case aggregate([NSExpression])
      case subquery(NSExpression, String, NSPredicate)
      case conditional(NSPredicate, NSExpression, NSExpression)
      case block(Block, [NSExpression])
    }
  }

  extension NSExpression.Parts {
    /// The function that a path on something else than the evaluated object is.
    private static let keyPathFunction = "valueForKeyPath:"
    private static let castFunction = "castObject:toType:"
    private static let memberFunction = "objectFrom:withIndex:"

    // MARK: To trees

    /// `nil` if a block is part of it.
    var tree: MetadataExpression? {
      switch self {
      case .constant(let value): return .bound(MetadataValue(foundation: value))
      case .itself: return .itself
      case .anyKey: return .anyKey
      case .variable(let name): return .variable(name)
      case .keyPath(let path): return Self.attribute(path)
      case .function(_, let arguments): return Self.trees(arguments).map(call)
      case .set(let word, let left, let right):
        guard let left = left.tree, let right = right.tree else { return nil }
        return .setOperation(word, left, right)
      case .aggregate(let members): return Self.trees(members).map(MetadataExpression.aggregate)
      case .subquery(let collection, let variable, let condition):
        guard let collection = collection.tree, let condition = condition.metadataTree else { return nil }
        return .subquery(collection, variable: variable, condition)
      case .conditional(let condition, let first, let second):
        guard let condition = condition.metadataTree, let first = first.tree, let second = second.tree else {
          return nil
        }
        return .ternary(condition, first, second)
      case .block: return nil
      }
    }

    private static func trees(_ expressions: [NSExpression]) -> [MetadataExpression]? {
      let trees = expressions.compactMap(\.tree)
      return trees.count == expressions.count ? trees : nil
    }

    private static func attribute(_ path: String) -> MetadataExpression {
      var keys = path.split(separator: ".", omittingEmptySubsequences: false)
      if keys.first?.lowercased() == "self" { keys.removeFirst() }
      return keys.isEmpty ? .itself : .attribute(keys.joined(separator: "."))
    }

    /// The call of the function that this is; a function that there isn't ends the program, as on Apple platforms.
    ///
    /// - Parameter operands: The operands.
    /// - Returns: The tree.
    func call(_ operands: [MetadataExpression]) -> MetadataExpression {
      guard case .function(let name, _) = self else { return .constant(.null) }
      if name == Self.keyPathFunction, operands.count == 2, case .constant(.string(let path)) = operands[1],
        case .path(_, let steps) = MetadataExpression.attribute(path)
      {
        return .path(operands[0], steps)
      }
      do { return try .call(name, operands) } catch { fatalError("NSExpression(forFunction:): \(error)") }
    }

    // MARK: From trees

    init(of tree: MetadataExpression) {
      func part(_ tree: MetadataExpression) -> NSExpression { NSExpression(tree) }
      func constant(_ text: String) -> NSExpression { NSExpression(.constant(.string(text))) }
      switch tree {
      case .constant(let value): self = .constant(value.foundationObject)
      case .itself: self = .itself
      case .anyKey: self = .anyKey
      case .variable(let name), .assignment(let name, _): self = .variable(name)
      case .path(.itself, let steps): self = .keyPath(Self.text(of: steps))
      case .path(let base, let steps):
        self = .function(Self.keyPathFunction, [part(base), constant(Self.text(of: steps))])
      case .element(let base, let index):
        let place =
          switch index {
          case .first: constant("FIRST")
          case .last: constant("LAST")
          case .size: constant("SIZE")
          case .at(let place): part(place)
          }
        self = .function(Self.memberFunction, [part(base), place])
      case .aggregate(let members): self = .aggregate(members.map(part))
      case .negation(let operand):
        self = .function("from:subtract:", [NSExpression(.constant(.integer(0))), part(operand)])
      case .arithmetic(let sign, let left, let right): self = .function(sign.functionName, [part(left), part(right)])
      case .setOperation(let word, let left, let right): self = .set(word, part(left), part(right))
      case .function(let name, let operands): self = .function(name, operands.map(part))
      case .subquery(let collection, let variable, let condition):
        self = .subquery(part(collection), variable, .made(of: condition))
      case .ternary(let condition, let first, let second):
        self = .conditional(.made(of: condition), part(first), part(second))
      case .cast(let operand, let type): self = .function(Self.castFunction, [part(operand), constant(type)])
      }
    }

    private static func text(of steps: [MetadataExpression.PathStep]) -> String {
      steps.map { step in
        switch step {
        case .key(let key): key
        case .collection(let known): "@" + known.rawValue
        }
      }.joined(separator: ".")
    }

    // MARK: For people

    var type: NSExpression.ExpressionType {
      switch self {
      case .constant: .constantValue
      case .itself: .evaluatedObject
      case .anyKey: .anyKey
      case .variable: .variable
      case .keyPath: .keyPath
      case .function: .function
      case .set(.union, _, _): .unionSet
      case .set(.intersect, _, _): .intersectSet
      case .set(.minus, _, _): .minusSet
      case .aggregate: .aggregate
      case .subquery: .subquery
      case .conditional: .conditional
      case .block: .block
      }
    }

    /// The text of an expression with a block in it, which can't be parsed.
    var text: String {
      func list(_ expressions: [NSExpression]) -> String { expressions.map(\.description).joined(separator: ", ") }
      switch self {
      case .constant, .itself, .anyKey, .variable, .keyPath: return tree?.formatString ?? ""
      case .block(_, let arguments): return "BLOCK(\(list(arguments)))"
      case .function(let name, let arguments): return "\(name)(\(list(arguments)))"
      case .set(let word, let left, let right): return "\(left) \(word.rawValue) \(right)"
      case .aggregate(let members): return "{\(list(members))}"
      case .subquery(let collection, let variable, let condition):
        return "SUBQUERY(\(collection), $\(variable), \(condition.description))"
      case .conditional(let condition, let first, let second):
        return "TERNARY(\(condition.description), \(first), \(second))"
      }
    }
  }
#endif
