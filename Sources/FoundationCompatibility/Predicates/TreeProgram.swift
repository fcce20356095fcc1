#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import MetadataPredicates
  internal import SystemInterface

  /// A tree with its compiled form: the core of all predicates that aren't code of the program.
  ///
  /// Compiled once, before its first evaluation at the latest.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state`, `stateForFiles` | their locks | predicates are evaluated by any number of threads |
  final class TreeProgram: Sendable {
    typealias Compiled = Result<CompiledPredicate, MetadataPredicateError>

    let tree: MetadataPredicate
    private let limits: PredicateLimits
    private let functions: PredicateFunctions
    private let state = Guarded<Compiled?>(nil)
    private let stateForFiles = Guarded<Compiled?>(nil)

    init(
      _ tree: MetadataPredicate, limits: PredicateLimits = .standard, functions: PredicateFunctions = .foundation
    ) {
      self.tree = tree
      self.limits = limits
      self.functions = functions
    }

    /// Compiles the tree, unless it has variables without values.
    ///
    /// - Throws: `MetadataPredicateError` for a tree that can't be evaluated.
    func check() throws(MetadataPredicateError) {
      if case .failure(let error) = compiled, error.code != .unboundVariable { throw error }
    }

    /// Whether only the limits keep it from being evaluated.
    var isTooLarge: Bool {
      if case .failure(let error) = compiled { return error.code == .limit }
      return false
    }

    private var compiled: Compiled { compiled(tree, in: state) }

    private func compiled(_ tree: @autoclosure () -> MetadataPredicate, in state: Guarded<Compiled?>) -> Compiled {
      if let known = state.withLock({ $0 }) { return known }
      let tree = tree()
      let made = Compiled { () throws(MetadataPredicateError) in
        try tree.compiled(functions: functions, limits: limits)
      }
      state.withLock { $0 = made }
      return made
    }

    // Files have attributes with several values, which are compared as queries do it.
    func evaluate(with object: Any?) -> Bool {
      let compiled = object is NSMetadataItem ? compiled(tree.comparingFiles, in: stateForFiles) : self.compiled
      switch compiled {
      case .success(let compiled):
        return compiled.matches(FoundationItem(object: object), in: compiled.isTimeDependent ? .present : .standard)
      case .failure(let error) where error.code == .unboundVariable:
        Misuse.report("'\(tree)' has variables without values, so it holds for nothing")
      case .failure(let error): Misuse.report("'\(tree)' holds for nothing: \(error)")
      }
      return false
    }

    func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      guard let bindings, !bindings.isEmpty else { return evaluate(with: object) }
      do {
        return try substituting(bindings).evaluate(with: object)
      } catch {
        Misuse.report("'\(tree)' holds for nothing: \(error)")
        return false
      }
    }

    func substituting(_ variables: [String: Any]) throws(MetadataPredicateError) -> TreeProgram {
      let values = variables.mapValues { MetadataValue(foundation: $0) }
      return TreeProgram(try tree.substituting(values), limits: limits, functions: functions)
    }
  }

  // MARK: - Archives

  extension TreeProgram {
    private static let formatKey = "FoundationCompatibility.format"

    /// Reads the archive of ``encode(_:with:)``.
    ///
    /// `nil` if it's no format, or more than `PredicateLimits.standard` allow. Stricter limits would lose the program's own predicates,
    /// such as those with subqueries; `NSPredicate.parsing(_:arguments:limits:)` says that archives from strangers aren't for this.
    ///
    /// - Parameter coder: The archive.
    /// - Returns: The tree, which can be evaluated once its variables have values.
    static func decoded(from coder: NSCoder) -> MetadataPredicate? {
      guard let format = coder.decodeObject(of: NSString.self, forKey: formatKey) else { return nil }
      do {
        let tree = try MetadataPredicate(format: format as String, functions: .foundationSyntax)
        try TreeProgram(tree).check()
        return tree
      } catch { return nil }
    }

    /// Writes the format, for keyed archives.
    ///
    /// - Parameters:
    ///   - tree: The tree. `nil` for a predicate with code of the program in it, which no archive can hold: that's
    ///     reported as misuse, and gives nothing when it's read.
    ///   - coder: The archive.
    static func encode(_ tree: MetadataPredicate?, with coder: NSCoder) {
      guard let tree else { return Misuse.report("a predicate with a block in it can't be archived") }
      coder.encode(tree.formatString as NSString, forKey: formatKey)
    }
  }
#endif
