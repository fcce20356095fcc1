#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates
  internal import SystemInterface

  /// The predicate behind `NSPredicate(format:)`: Foundation's class with a tree of our own.
  ///
  /// Compiled once. Predicates with variables aren't compiled before these have values.
  final class FormatPredicate: NSPredicate, NSSecureCoding {
    let tree: MetadataPredicate
    private let compiled: CompiledPredicate?

    init(_ tree: MetadataPredicate) throws(MetadataPredicateError) {
      self.tree = tree
      do {
        compiled = try tree.compiled()
      } catch {
        if error.code != .unboundVariable { throw error }
        compiled = nil
      }
      super.init(value: false)
    }

    // MARK: Archives

    private static let formatKey = "FoundationCompatibility.format"

    static var supportsSecureCoding: Bool { true }

    /// Reads what ``encode(with:)`` wrote.
    ///
    /// `nil` if it's no format, or more than `PredicateLimits.standard` allow. Stricter limits would lose the program's own predicates,
    /// such as those with subqueries; `NSPredicate.parsing(_:arguments:limits:)` says that archives from strangers aren't for this.
    convenience init?(coder: NSCoder) {
      guard let format = coder.decodeObject(of: NSString.self, forKey: Self.formatKey),
        let tree = try? MetadataPredicate(format: format as String)
      else { return nil }
      do { try self.init(tree) } catch { return nil }
    }

    /// Writes the format, for keyed archives.
    func encode(with coder: NSCoder) { coder.encode(tree.formatString as NSString, forKey: Self.formatKey) }

    // MARK: Values

    override var predicateFormat: String { tree.formatString }

    override var description: String { predicateFormat }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool { (object as? FormatPredicate)?.tree == tree }

    override var hash: Int { tree.hashValue }

    override func evaluate(with object: Any?) -> Bool {
      guard let compiled else {
        Misuse.report("'\(predicateFormat)' has variables without values, so it holds for nothing")
        return false
      }
      return compiled.matches(
        FoundationItem(object: object), in: compiled.isTimeDependent ? .present : .standard)
    }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      guard let bindings, !bindings.isEmpty else { return evaluate(with: object) }
      do {
        return try substituting(bindings).evaluate(with: object)
      } catch {
        Misuse.report("'\(predicateFormat)' holds for nothing: \(error)")
        return false
      }
    }

    func substituting(_ variables: [String: Any]) throws(MetadataPredicateError) -> FormatPredicate {
      try FormatPredicate(tree.substituting(variables.mapValues { MetadataValue(foundation: $0) }))
    }
  }
#endif
