#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  /// A predicate with a tree for which Apple's names have no class: a constant, an operator such as `UTI-CONFORMS-TO`, a query of Spotlight's.
  final class FormatPredicate: NSPredicate, NSSecureCoding {
    let program: TreeProgram

    init(_ program: TreeProgram) {
      self.program = program
      super.init(value: false)
    }

    // MARK: Archives

    static var supportsSecureCoding: Bool { true }

    convenience init?(coder: NSCoder) {
      guard let tree = TreeProgram.decoded(from: coder) else { return nil }
      self.init(TreeProgram(tree))
    }

    func encode(with coder: NSCoder) { TreeProgram.encode(program.tree, with: coder) }

    // MARK: Values

    override var predicateFormat: String { program.tree.formatString }

    override var description: String { predicateFormat }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool { (object as? FormatPredicate)?.program.tree == program.tree }

    override var hash: Int { program.tree.hashValue }

    override func evaluate(with object: Any?) -> Bool { program.evaluate(with: object) }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      program.evaluate(with: object, substitutionVariables: bindings)
    }
  }
#endif
