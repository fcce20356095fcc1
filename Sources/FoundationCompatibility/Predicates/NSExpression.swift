#if !canImport(ObjectiveC)
  public import Foundation
  internal import MetadataPredicates

  /// An operand of a comparison: a value, or where to get one.
  ///
  /// Foundation's class of this name can't be made on Linux. This one takes its place in expressions everywhere, and in types in files that
  /// import this module and not Foundation. An object never changes, and may be evaluated by any number of threads, unless a block in it
  /// forbids that.
  open class NSExpression: NSObject, NSSecureCoding, NSCopying {
    /// The kinds of expressions; the raw values are Apple's.
    public enum ExpressionType: UInt, Sendable {
      /// A value.
      case constantValue = 0
      /// `SELF`.
      case evaluatedObject = 1
      /// `$name`.
      case variable = 2
      case keyPath = 3
      /// A function, also one that's written as a sign or a cast.
      case function = 4
      case unionSet = 5
      case intersectSet = 6
      case minusSet = 7
      case subquery = 13
      /// `{a, b}`.
      case aggregate = 14
      case anyKey = 15
      /// Code of the program.
      case block = 19
      /// `TERNARY(predicate, a, b)`.
      case conditional = 20
    }

    /// Code of the program: it's given the evaluated object, the values of the arguments, and the variables.
    public typealias Block = (_ object: Any?, _ arguments: [Any], _ context: NSMutableDictionary?) -> Any

    /// The parts that it was made of; `nil` if it was a tree.
    private let given: Parts?
    /// The expression without its objects; `nil` if a block is part of it.
    let tree: MetadataExpression?

    init(_ tree: MetadataExpression) {
      given = nil
      self.tree = tree
      super.init()
    }

    init(_ parts: Parts) {
      given = parts
      tree = parts.tree
      super.init()
    }

    var parts: Parts { given ?? tree.map(Parts.init(of:)) ?? .constant(nil) }

    /// The object that's evaluated, or any key; of every other kind an empty constant, because its parts are missing.
    ///
    /// For subclasses.
    public init(expressionType type: ExpressionType) {
      switch type {
      case .evaluatedObject: given = .itself
      case .anyKey: given = .anyKey
      default: given = .constant(nil)
      }
      tree = given?.tree
      super.init()
    }

    // MARK: Archives

    /// Archives may be required to be secure.
    open class var supportsSecureCoding: Bool { true }

    private static let formatKey = "FoundationCompatibility.format"

    /// Reads the format from a keyed archive; objects in constants come back as values.
    public required convenience init?(coder: NSCoder) {
      guard let format = coder.decodeObject(of: NSString.self, forKey: Self.formatKey) else { return nil }
      do { self.init(try MetadataExpression(format: format as String, functions: .foundation)) } catch { return nil }
    }

    /// Writes the format into a keyed archive; an expression with a block in it can't be archived.
    open func encode(with coder: NSCoder) {
      guard let tree else { return Misuse.report("an expression with a block in it can't be archived") }
      coder.encode(tree.formatString as NSString, forKey: Self.formatKey)
    }

    // MARK: Values

    /// The same object: it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The expression in the format language.
    open override var description: String { tree?.formatString ?? parts.text }

    /// Whether both say the same; with a block in it an expression equals only itself.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSExpression, let tree else { return self === object as AnyObject? }
      return other.tree == tree
    }

    /// Equal for equal expressions.
    open override var hash: Int { tree?.hashValue ?? ObjectIdentifier(self).hashValue }

    // MARK: Evaluation

    /// The value for an object.
    ///
    /// Numbers come as `NSNumber`, texts as `String`, moments as `Date`, several values as arrays.
    ///
    /// - Parameters:
    ///   - object: A dictionary, a value, or an object that conforms to `PredicateItem`.
    ///   - context: The values of variables, by their names without `$`.
    /// - Returns: `nil` if there's no value; a computation that fails is reported as misuse.
    open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
      switch parts {
      case .constant(let value): return value
      case .itself: return object
      case .block(let block, let arguments):
        return block(object, arguments.map { $0.expressionValue(with: object, context: context) ?? NSNull() }, context)
      default: return value(of: resolved(for: object, context), for: object, context).foundationObject
      }
    }

    private func value(
      of tree: MetadataExpression, for object: Any?, _ context: NSMutableDictionary?
    ) -> MetadataValue {
      do {
        let values = (context?.namedValues ?? [:]).mapValues { MetadataValue(foundation: $0) }
        let program = try CompiledMetadataExpression(tree.substituting(values), functions: .foundation)
        let (value, problems) = program.value(for: FoundationItem(object: object), in: .present)
        if let problem = problems.first { Misuse.report("'\(self)' has no value: \(problem)") }
        return value
      } catch {
        Misuse.report("'\(self)' has no value: \(error)")
        return .null
      }
    }

    /// The tree, with values in the places of the blocks.
    func resolved(for object: Any?, _ context: NSMutableDictionary?) -> MetadataExpression {
      if let tree { return tree }
      func resolve(_ part: NSExpression) -> MetadataExpression { part.resolved(for: object, context) }
      switch parts {
      case .constant, .itself, .anyKey, .variable, .keyPath: return parts.tree ?? .constant(.null)
      case .block: return .bound(MetadataValue(foundation: expressionValue(with: object, context: context)))
      case .function(let name, let arguments): return Parts.function(name, arguments).call(arguments.map(resolve))
      case .set(let word, let left, let right): return .setOperation(word, resolve(left), resolve(right))
      case .aggregate(let members): return .aggregate(members.map(resolve))
      case .conditional(let condition, let first, let second):
        return resolve(condition.evaluate(with: object, substitutionVariables: context?.namedValues) ? first : second)
      case .subquery(let collection, let variable, let condition):
        let members = value(of: resolve(collection), for: object, context).foundationObject as? [Any] ?? []
        let found = members.filter { member in
          var values = context?.namedValues ?? [:]
          values[variable] = member
          return condition.evaluate(with: object, substitutionVariables: values)
        }
        return .bound(MetadataValue(foundation: found))
      }
    }
  }
#endif
