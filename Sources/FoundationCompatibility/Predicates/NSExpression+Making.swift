#if !canImport(ObjectiveC)
  public import Foundation
  internal import MetadataPredicates

  extension NSExpression {
    /// Reads an expression in the format language; a mistake ends the program with the place of the mistake, as on Apple platforms.
    ///
    /// - Parameters:
    ///   - expressionFormat: The text.
    ///   - args: One for each `%@`, `%K`, `%d` and the like outside quotes.
    public convenience init(format expressionFormat: String, _ args: any CVarArg...) {
      self.init(format: expressionFormat, argumentArray: args)
    }

    /// Reads an expression in the format language; see ``init(format:_:)``.
    ///
    /// - Parameters:
    ///   - expressionFormat: The text.
    ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
      do {
        let values = arguments.map { MetadataValue(foundation: $0) }
        self.init(try MetadataExpression(format: expressionFormat, arguments: values, functions: .foundation))
      } catch { fatalError("NSExpression(format:): \(error)") }
    }

    /// Reads an expression in the format language; see ``init(format:_:)``.
    ///
    /// - Parameters:
    ///   - expressionFormat: The text.
    ///   - argList: One for each `%@`, `%K`, `%d` and the like outside quotes, as `withVaList(_:_:)` makes it.
    public convenience init(format expressionFormat: String, arguments argList: CVaListPointer) {
      let arguments = unsafe ArgumentList.arguments(argList, for: expressionFormat)
      self.init(format: expressionFormat, argumentArray: arguments)
    }

    /// A value.
    public convenience init(forConstantValue object: Any?) { self.init(Parts.constant(object)) }

    /// The variable `$string`.
    public convenience init(forVariable string: String) { self.init(Parts.variable(string)) }

    /// The value of a key path, which may hold collection operators such as `items.@count`.
    public convenience init(forKeyPath keyPath: String) { self.init(Parts.keyPath(keyPath)) }

    /// `SELF`.
    public class func expressionForEvaluatedObject() -> NSExpression { NSExpression(Parts.itself) }

    /// `ANYKEY`.
    public class func expressionForAnyKey() -> NSExpression { NSExpression(Parts.anyKey) }

    /// Calls a predefined function, such as `add:to:`; one that there isn't ends the program, as on Apple platforms.
    ///
    /// - Parameters:
    ///   - name: The name; the first part of it is enough.
    ///   - parameters: An `NSExpression` for each operand; anything else is a constant.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
      self.init(Parts.function(name, parameters.map(Self.expression)))
    }

    /// Calls a function with a target as its first operand.
    ///
    /// No message is sent: there are the predefined functions, and `valueForKeyPath:`.
    ///
    /// - Parameters:
    ///   - target: The first operand.
    ///   - name: The name.
    ///   - parameters: The other operands.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
      self.init(Parts.function(name, [target] + (parameters ?? []).map(Self.expression)))
    }

    /// `{a, b}`.
    ///
    /// - Parameter subexpressions: An `NSExpression` for each member; anything else is a constant.
    public convenience init(forAggregate subexpressions: [Any]) {
      self.init(Parts.aggregate(subexpressions.map(Self.expression)))
    }

    /// The members of either of two collections.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
      self.init(Parts.set(.union, left, right))
    }

    /// The members of both of two collections.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
      self.init(Parts.set(.intersect, left, right))
    }

    /// The members of the first of two collections only.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
      self.init(Parts.set(.minus, left, right))
    }

    /// The members of a collection for which a predicate holds.
    ///
    /// - Parameters:
    ///   - expression: The collection.
    ///   - variable: The name of the member in the predicate, without `$`.
    ///   - predicate: An `NSPredicate`; anything else ends the program.
    public convenience init(
      forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
    ) {
      guard let predicate = predicate as? NSPredicate else {
        fatalError("NSExpression(forSubquery:): \(predicate) is no NSPredicate")
      }
      self.init(Parts.subquery(expression, variable, predicate))
    }

    /// One of two values.
    public convenience init(
      forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
      self.init(Parts.conditional(predicate, trueExpression, falseExpression))
    }

    /// The result of a block.
    ///
    /// - Parameters:
    ///   - block: It's given the evaluated object, the values of the arguments, and the variables. It runs on the thread of the evaluation.
    ///   - arguments: The arguments.
    public convenience init(
      block: @escaping (_ object: Any?, _ arguments: [Any], _ context: NSMutableDictionary?) -> Any,
      arguments: [NSExpression]?
    ) {
      self.init(Parts.block(block, arguments ?? []))
    }

    private static func expression(_ object: Any) -> NSExpression {
      object as? NSExpression ?? NSExpression(forConstantValue: object)
    }
  }

  // MARK: - Parts

  extension NSExpression {
    /// The kind of expression.
    public var expressionType: ExpressionType { parts.type }

    /// The value of a constant; of an aggregate of constants, which arrays in formats become, the values.
    public var constantValue: Any? {
      switch parts {
      case .constant(let value): value
      case .aggregate(let members): members.map { $0.constantValue ?? NSNull() }
      default: missing("constantValue")
      }
    }

    /// The path of a key path.
    public var keyPath: String {
      if case .keyPath(let path) = parts { return path }
      return missing("keyPath")
    }

    /// The name of a function.
    public var function: String {
      if case .function(let name, _) = parts { return name }
      return missing("function")
    }

    /// The operands of a function or the arguments of a block.
    public var arguments: [NSExpression]? {
      switch parts {
      case .function(_, let arguments), .block(_, let arguments): arguments
      default: missing("arguments")
      }
    }

    /// The object that a function is called on, which is its first operand; of a key path, the evaluated object.
    public var operand: NSExpression {
      switch parts {
      case .function(_, let arguments): arguments.first ?? NSExpression(Parts.itself)
      case .keyPath: NSExpression(Parts.itself)
      default: missing("operand")
      }
    }

    /// The name of a variable, also that of a subquery, without `$`.
    public var variable: String {
      switch parts {
      case .variable(let name), .subquery(_, let name, _): name
      default: missing("variable")
      }
    }

    /// The members of an aggregate as `[NSExpression]`, or the collection of a subquery.
    public var collection: Any {
      switch parts {
      case .aggregate(let members): members
      case .subquery(let collection, _, _): collection
      default: missing("collection")
      }
    }

    /// The predicate of a subquery or a condition.
    public var predicate: NSPredicate {
      switch parts {
      case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate
      default: missing("predicate")
      }
    }

    /// The first of two collections.
    public var left: NSExpression {
      if case .set(_, let left, _) = parts { return left }
      return missing("left")
    }

    /// The second of two collections.
    public var right: NSExpression {
      if case .set(_, _, let right) = parts { return right }
      return missing("right")
    }

    /// The value of a condition that holds.
    public var `true`: NSExpression {
      if case .conditional(_, let first, _) = parts { return first }
      return missing("true")
    }

    /// The value of a condition that doesn't hold.
    public var `false`: NSExpression {
      if case .conditional(_, _, let second) = parts { return second }
      return missing("false")
    }

    /// The code of a block.
    public var expressionBlock: Block {
      if case .block(let block, _) = parts { return block }
      return missing("expressionBlock")
    }

    /// Does nothing: no expression has to be allowed on Linux, where nothing in it can send messages.
    public func allowEvaluation() {}

    /// Ends the program, as Apple's class does.
    private func missing<Value>(_ name: String) -> Value {
      fatalError("NSExpression.\(name): '\(self)' has none, because its kind is \(expressionType)")
    }
  }
#endif
