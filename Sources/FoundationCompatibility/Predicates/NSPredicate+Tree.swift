#if !canImport(ObjectiveC)
  internal import Foundation
  internal import MetadataPredicates

  extension NSPredicate {
    /// The object that a tree is on Apple platforms: a comparison, a compound, or a predicate of neither kind.
    ///
    /// - Parameter program: The tree.
    /// - Returns: The object.
    static func made(of program: TreeProgram) -> NSPredicate {
      switch program.tree {
      case .comparison(let comparison):
        NSComparisonPredicate(comparison, program) ?? FormatPredicate(program)
      case .and, .or, .not: NSCompoundPredicate(program) ?? FormatPredicate(program)
      case .constant: FormatPredicate(program)
      }
    }

    static func made(of tree: MetadataPredicate) -> NSPredicate { made(of: TreeProgram(tree)) }

    /// The tree of the predicate, if nothing in it is code of the program.
    ///
    /// `nil` for a block, for an object of a class of the program, which may answer otherwise, and for a predicate that
    /// contains one of these.
    var metadataTree: MetadataPredicate? {
      switch self {
      case let predicate as FormatPredicate: predicate.program.tree
      case let predicate as NSComparisonPredicate:
        type(of: predicate) == NSComparisonPredicate.self ? predicate.program?.tree : nil
      case let predicate as Foundation.NSCompoundPredicate: predicate.isPlain ? predicate.compoundTree : nil
      default: constantTree
      }
    }

    private var constantTree: MetadataPredicate? {
      guard type(of: self) == NSPredicate.self else { return nil }
      switch (self as any Printed).predicateFormat {
      case "TRUEPREDICATE": return .constant(true)
      case "FALSEPREDICATE": return .constant(false)
      default: return nil
      }
    }
  }

  extension Foundation.NSCompoundPredicate {
    /// Whether it's no object of a class of the program.
    var isPlain: Bool {
      type(of: self) == NSCompoundPredicate.self || type(of: self) == Foundation.NSCompoundPredicate.self
    }

    fileprivate var compoundTree: MetadataPredicate? {
      if let ours = self as? NSCompoundPredicate { return ours.program?.tree }
      // Foundation's own come from code that imports both modules, or only that one.
      let members = subpredicates.compactMap(\.metadataTree)
      guard members.count == subpredicates.count else { return nil }
      switch compoundPredicateType {
      case .and: return .and(members)
      case .or: return .or(members)
      case .not: return members.first.map(MetadataPredicate.not)
      }
    }
  }

  /// Foundation's text of a predicate, which it marks as deprecated.
  private protocol Printed {
    var predicateFormat: String { get }
  }

  extension NSPredicate: Printed {}
#endif
