#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  /// The search of a query on behalf of a predicate of Foundation's.
  struct PredicateTranslation {
    /// Holds for everything for which the predicate does.
    let tree: MetadataPredicate
    /// Whether it holds for nothing else.
    ///
    /// Blocks, and subclasses of the program, have to be asked for each item.
    let isExact: Bool

    init(_ predicate: NSPredicate) {
      if let tree = predicate.metadataTree {
        let tree = tree.readingURLsAsPaths
        // Files are tested one by one if Foundation has to match a text.
        let isNative = !tree.needsForeignExpressions
        self.init(tree: isNative ? tree : .constant(true), isExact: isNative)
      } else if let compound = predicate as? Foundation.NSCompoundPredicate, compound.isPlain {
        self.init(compound: compound)
      } else {
        self.init(tree: .constant(true), isExact: false)
      }
    }

    private init(tree: MetadataPredicate, isExact: Bool) {
      self.tree = tree
      self.isExact = isExact
    }

    /// At least one member is code of the program.
    private init(compound: Foundation.NSCompoundPredicate) {
      let members = compound.subpredicates.map { PredicateTranslation($0).tree }
      switch compound.compoundPredicateType {
      case .and: self.init(tree: .and(members), isExact: false)
      case .or: self.init(tree: .or(members), isExact: false)
      case .not: self.init(tree: .constant(true), isExact: false)
      }
    }
  }

  extension MetadataPredicate {
    /// Whether a regular expression in it is one that a native query refuses.
    fileprivate var needsForeignExpressions: Bool {
      do throws(MetadataPredicateError) {
        _ = try compiled()
        return false
      } catch {
        guard error.code == .regularExpression || error.code == .limit else { return false }
        return (try? compiled(functions: .foundation)) != nil
      }
    }
  }

  // MARK: - URLs

  extension MetadataPredicate {
    /// The same, where the attribute `kMDItemURL` is the path, as the URLs that it's compared with are.
    var readingURLsAsPaths: MetadataPredicate {
      switch self {
      case .constant: return self
      case .and(let members): return .and(members.map(\.readingURLsAsPaths))
      case .or(let members): return .or(members.map(\.readingURLsAsPaths))
      case .not(let member): return .not(member.readingURLsAsPaths)
      case .comparison(var comparison):
        comparison.left = comparison.left.readingURLsAsPaths
        comparison.right = comparison.right.readingURLsAsPaths
        return .comparison(comparison)
      }
    }
  }

  extension MetadataExpression {
    fileprivate var readingURLsAsPaths: MetadataExpression {
      switch self {
      case .constant, .itself, .anyKey, .variable: self
      case .path(.itself, let steps) where steps.first == .key(NSMetadataItemURLKey):
        .path(.itself, [.key(NSMetadataItemPathKey)] + steps.dropFirst())
      case .path(let base, let steps): .path(base.readingURLsAsPaths, steps)
      case .element(let base, .at(let place)): .element(base.readingURLsAsPaths, .at(place.readingURLsAsPaths))
      case .element(let base, let index): .element(base.readingURLsAsPaths, index)
      case .aggregate(let members): .aggregate(members.map(\.readingURLsAsPaths))
      case .negation(let operand): .negation(operand.readingURLsAsPaths)
      case .arithmetic(let sign, let left, let right):
        .arithmetic(sign, left.readingURLsAsPaths, right.readingURLsAsPaths)
      case .setOperation(let word, let left, let right):
        .setOperation(word, left.readingURLsAsPaths, right.readingURLsAsPaths)
      case .function(let name, let operands): .function(name, operands.map(\.readingURLsAsPaths))
      case .subquery(let collection, let name, let condition):
        // Inside, attributes are those of the collection's members.
        .subquery(collection.readingURLsAsPaths, variable: name, condition)
      case .ternary(let condition, let first, let second):
        .ternary(condition.readingURLsAsPaths, first.readingURLsAsPaths, second.readingURLsAsPaths)
      case .cast(let operand, let type): .cast(operand.readingURLsAsPaths, type: type)
      case .assignment(let name, let value): .assignment(variable: name, value.readingURLsAsPaths)
      }
    }
  }
#endif
