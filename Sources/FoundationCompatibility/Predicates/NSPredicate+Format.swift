#if !canImport(ObjectiveC)
  public import Foundation
  public import MetadataPredicates

  // Foundation declares these as unavailable on Linux; the declarations here win.

  /// Lets an initializer of a class return an object of a subclass.
  protocol MadeByFactory {}

  extension MadeByFactory {
    /// - Parameter make: Makes an object of the class or of a subclass.
    init(madeBy make: () throws -> Any) rethrows {
      guard let made = try make() as? Self else {
        fatalError("the format says something else than a \(Self.self): make an NSPredicate of it")
      }
      self = made
    }
  }

  extension NSPredicate: MadeByFactory {}

  extension NSPredicate {
    /// Reads a predicate in the format language.
    ///
    /// A mistake ends the program with the place of the mistake, as it does on Apple platforms; for text that isn't the
    /// program's own use ``parsing(_:arguments:limits:)``. A pattern of `MATCHES` is never such a mistake. Patterns
    /// beyond the abilities of an automaton are matched by `NSRegularExpression`, without a bound of time; an unusable
    /// pattern fits nothing and is reported as misuse. `evaluate(with:)` takes dictionaries, strings, numbers, dates,
    /// URLs and collections of these, and everything that conforms to `PredicateItem`; there's no key-value coding that
    /// could read other objects.
    ///
    /// - Parameters:
    ///   - predicateFormat: The text.
    ///   - args: One for each `%@`, `%K`, `%d` and the like outside quotes.
    /// - Note: Rule N-2.
    public convenience init(format predicateFormat: String, _ args: any CVarArg...) {
      self.init(madeBy: { Self.made(predicateFormat, args) })
    }

    /// Reads a predicate in the format language; see ``init(format:_:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: The text.
    ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
    public convenience init(format predicateFormat: String, argumentArray arguments: [Any]?) {
      self.init(madeBy: { Self.made(predicateFormat, arguments ?? []) })
    }

    /// Reads a predicate in the format language; see ``init(format:_:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: The text.
    ///   - argList: One for each `%@`, `%K`, `%d` and the like outside quotes, as `withVaList(_:_:)` makes it. Objects are read as such, so
    ///     it needs as many as the text names, and of the kinds that the text names.
    public convenience init(format predicateFormat: String, arguments argList: CVaListPointer) {
      let arguments = unsafe ArgumentList.arguments(argList, for: predicateFormat)
      self.init(madeBy: { Self.made(predicateFormat, arguments) })
    }

    /// Reads a query in Spotlight's language, such as `kMDItemFSName == "*.txt"c`.
    ///
    /// `nil` if it can't be read.
    ///
    /// - Parameter queryString: The text.
    public convenience init?(fromMetadataQueryString queryString: String) {
      guard let tree = try? MetadataPredicate(query: queryString) else { return nil }
      let program = TreeProgram(tree)
      do { try program.check() } catch { return nil }
      self.init(madeBy: { FormatPredicate(program) })
    }

    /// Reads a predicate in the format language, and throws its error instead of ending the program.
    ///
    /// For text from strangers as well, with `PredicateLimits.untrusted`. Take text from them, and no archives: a
    /// predicate that's unarchived gets `PredicateLimits.standard`, as the program's own do, and is `nil` beyond that.
    ///
    /// - Parameters:
    ///   - format: The text. From strangers only with `PredicateLimits.untrusted`.
    ///   - arguments: One for each `%@`, `%K`, `%d` and the like outside quotes.
    ///   - limits: The costs and features that are allowed to the text.
    /// - Returns: The predicate.
    /// - Throws: `MetadataPredicateError` with the place of the first token that can't stand there.
    public static func parsing(
      _ format: String, arguments: [Any] = [], limits: PredicateLimits = .standard
    ) throws(MetadataPredicateError) -> NSPredicate {
      try read(format, arguments, limits, .strictFoundation, .strictFoundation)
    }

    /// Replaces variables by values, also inside of compound predicates.
    ///
    /// A variable without a value ends the program, as on Apple platforms.
    ///
    /// - Parameter variables: A value for each variable, by its name without `$`.
    /// - Returns: The predicate without variables; itself if it isn't made from a format.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
      guard let result = substituted(variables) as? Self else { fatalError("\(self) isn't a \(Self.self) any more") }
      return result
    }

    private func substituted(_ variables: [String: Any]) -> NSPredicate {
      if let tree = metadataTree {
        do {
          return .made(of: try TreeProgram(tree).substituting(variables))
        } catch { fatalError("NSPredicate.withSubstitutionVariables: \(error)") }
      }
      guard let compound = self as? Foundation.NSCompoundPredicate, compound.isPlain else {
        return self
      }
      return NSCompoundPredicate(
        type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map { $0.substituted(variables) })
    }

    private static func read(
      _ format: String, _ arguments: [Any], _ limits: PredicateLimits, _ syntax: PredicateFunctions,
      _ functions: PredicateFunctions
    ) throws(MetadataPredicateError) -> NSPredicate {
      let values = arguments.map { MetadataValue(foundation: $0) }
      let tree = try MetadataPredicate(format: format, arguments: values, functions: syntax, limits: limits)
      let program = TreeProgram(tree, limits: limits, functions: functions)
      try program.check()
      return made(of: program)
    }

    private static func made(_ format: String, _ arguments: [Any]) -> NSPredicate {
      do { return try read(format, arguments, .standard, .foundationSyntax, .foundation) } catch {
        fatalError("NSPredicate(format:): \(error)")
      }
    }
  }
#endif
