#if !canImport(ObjectiveC)
  public import Foundation
  internal import MetadataPredicates

  /// A predicate that joins others by AND, OR or NOT.
  ///
  /// Foundation's class of this name prints `FALSEPREDICATE` on Linux and takes all its objects for equal. This one takes its place in types in
  /// files that import this module and not Foundation. Where both are imported, the forms with one word, such as
  /// ``init(andPredicateWithSubpredicates:)``, make this one, and `init(type:subpredicates:)` makes Foundation's: of two designated
  /// initializers that look alike the compiler takes neither, so this one's is a convenience. Objects may be evaluated by any number of
  /// threads, unless a block in them mustn't.
  ///
  /// - Note: Rule P58: AND of nothing holds, OR of nothing doesn't.
  open class NSCompoundPredicate: Foundation.NSCompoundPredicate, NSSecureCoding {
    /// The tree; `nil` if code of the program is part of it.
    private(set) var program: TreeProgram?

    /// Joins predicates, as ``init(type:subpredicates:)`` does; the one that initializers of subclasses call.
    ///
    /// - Parameters:
    ///   - subpredicates: The predicates.
    ///   - type: How. NOT of nothing ends the program, as on Apple platforms.
    public init(joining subpredicates: [NSPredicate], by type: LogicalType) {
      if type == .not, subpredicates.isEmpty { fatalError("NSCompoundPredicate: NOT needs a predicate") }
      let trees = subpredicates.compactMap(\.metadataTree)
      program = trees.count == subpredicates.count ? TreeProgram(Self.tree(type, trees)) : nil
      super.init(type: type, subpredicates: subpredicates)
    }

    /// Joins predicates.
    ///
    /// - Parameters:
    ///   - type: How. NOT of nothing ends the program, as on Apple platforms.
    ///   - subpredicates: The predicates.
    @_nonoverride public convenience init(type: LogicalType, subpredicates: [NSPredicate]) {
      self.init(joining: subpredicates, by: type)
    }

    /// - Returns: `nil` for a tree that's no compound.
    convenience init?(_ program: TreeProgram) {
      switch program.tree {
      case .and(let members): self.init(joining: members.map(NSPredicate.made(of:)), by: .and)
      case .or(let members): self.init(joining: members.map(NSPredicate.made(of:)), by: .or)
      case .not(let member): self.init(joining: [.made(of: member)], by: .not)
      case .constant, .comparison: return nil
      }
      self.program = program
    }

    /// Joins predicates by AND.
    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
      self.init(joining: subpredicates, by: .and)
    }

    /// Joins predicates by OR.
    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
      self.init(joining: subpredicates, by: .or)
    }

    /// Holds where another predicate doesn't.
    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
      self.init(joining: [predicate], by: .not)
    }

    /// Reads a predicate that has to be a compound; see `NSPredicate.init(format:_:)`.
    ///
    /// - Parameters:
    ///   - predicateFormat: The text.
    ///   - args: One for each `%@`, `%K`, `%d` and the like outside quotes.
    public convenience init(format predicateFormat: String, _ args: any CVarArg...) {
      self.init(madeBy: { NSPredicate(format: predicateFormat, argumentArray: args) })
    }

    /// Reads a predicate that has to be a compound; see `NSPredicate.init(format:_:)`.
    ///
    /// - Parameters:
    ///   - predicateFormat: The text.
    ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
      self.init(madeBy: { NSPredicate(format: predicateFormat, argumentArray: arguments) })
    }

    private static func tree(_ type: LogicalType, _ members: [MetadataPredicate]) -> MetadataPredicate {
      switch type {
      case .and: .and(members)
      case .or: .or(members)
      case .not: .not(members[0])
      }
    }

    // MARK: Archives

    /// Archives may be required to be secure.
    open class var supportsSecureCoding: Bool { true }

    /// Reads the format from a keyed archive.
    public required convenience init?(coder: NSCoder) {
      guard let tree = TreeProgram.decoded(from: coder) else { return nil }
      self.init(TreeProgram(tree))
    }

    /// Writes the format into a keyed archive; a predicate with a block in it can't be archived.
    open func encode(with coder: NSCoder) { TreeProgram.encode(program?.tree, with: coder) }

    // MARK: Values

    /// The predicate in the format language.
    open override var predicateFormat: String {
      if let program { return program.tree.formatString }
      let texts = subpredicates.map { $0 is NSCompoundPredicate ? "(\($0.description))" : $0.description }
      switch compoundPredicateType {
      case .not: return "NOT \(texts[0])"
      case .and: return texts.joined(separator: " AND ")
      case .or: return texts.joined(separator: " OR ")
      }
    }

    /// The predicate in the format language.
    open override var description: String { predicateFormat }

    /// The same object: it never changes.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both join equal predicates in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSCompoundPredicate, other.compoundPredicateType == compoundPredicateType else {
        return false
      }
      if let program { return other.program?.tree == program.tree }
      return other.subpredicates == subpredicates
    }

    /// Equal for equal predicates.
    open override var hash: Int { program?.tree.hashValue ?? subpredicates.count }

    // MARK: Evaluation

    /// Whether the predicate holds for an object: a dictionary, a value, or an object that conforms to `PredicateItem`.
    open override func evaluate(with object: Any?) -> Bool {
      // Compounds of compounds of… may be deeper than a tree is compiled.
      if let program, !program.isTooLarge { return program.evaluate(with: object) }
      return joins { $0.evaluate(with: object) }
    }

    /// Whether the predicate holds for an object if variables have values.
    open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      if let program, !program.isTooLarge {
        return program.evaluate(with: object, substitutionVariables: bindings)
      }
      return joins { $0.evaluate(with: object, substitutionVariables: bindings) }
    }

    private func joins(_ holds: (NSPredicate) -> Bool) -> Bool {
      switch compoundPredicateType {
      case .and: subpredicates.allSatisfy(holds)
      case .or: subpredicates.contains(where: holds)
      case .not: !holds(subpredicates[0])
      }
    }
  }
#endif
