#if !canImport(ObjectiveC)
  public import Foundation

  // Not `open` in extensions: Swift doesn't let subclasses override their declarations.
  extension NSMetadataQuery {
    /// How many results there are.
    ///
    /// - Complexity: O(1).
    public var resultCount: Int { core.results.count }

    /// The result at a position.
    ///
    /// The same object as long as the file is a result. While updates are posted on another thread, positions may change between two calls:
    /// ``disableUpdates()`` keeps them.
    ///
    /// - Parameter idx: The position; one that isn't there ends the program, as on Apple platforms.
    /// - Returns: An ``NSMetadataItem``, or the delegate's replacement.
    /// - Complexity: O(log *n*).
    public func result(at idx: Int) -> Any {
      guard let object = core.object(at: idx) else {
        fatalError(
          "NSMetadataQuery.result(at: \(idx)) of \(resultCount) results: call disableUpdates() while you count")
      }
      return object
    }

    /// All results.
    ///
    /// Makes an object for each, which takes a few hundred bytes as long as the file is a result.
    ///
    /// - Complexity: O(*n*).
    /// - Note: Rule R8.
    public var results: [Any] { core.objects(of: core.results) }

    /// The position of a result.
    ///
    /// - Parameter result: The item, or the delegate's replacement.
    /// - Returns: The position; `NSNotFound` for anything that isn't a result now.
    /// - Complexity: O(*n*) once after each change, then O(1) for items.
    /// - Note: Rules R6 and R7.
    public func index(ofResult result: Any) -> Int { core.position(of: result) ?? NSNotFound }

    /// Calls a block for each result, while updates are disabled.
    ///
    /// - Parameter block: Gets the result, its position, and where to say that it's enough.
    /// - Note: Rules R4 and R5.
    public func enumerateResults(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
      unsafe enumerateResults(options: [], using: block)
    }

    /// Calls a block for each result, while updates are disabled.
    ///
    /// - Parameters:
    ///   - opts: `.reverse` begins at the end; one is visited after the other in any case.
    ///   - block: Gets the result, its position, and where to say that it's enough.
    /// - Note: Rules R4 and R5.
    public func enumerateResults(
      options opts: NSEnumerationOptions = [], using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
    ) {
      disableUpdates()
      defer { enableUpdates() }
      let results = core.results
      var isEnough: ObjCBool = false
      for count in results.indices {
        let position = opts.contains(.reverse) ? results.count - 1 - count : count
        unsafe block(core.object(for: results[position]), position, &isEnough)
        if isEnough.boolValue { return }
      }
    }

    /// The value of an attribute that belongs to the sort descriptors, value lists or groups.
    ///
    /// - Parameters:
    ///   - attrName: The name of the attribute.
    ///   - idx: The position of the result; one that isn't there ends the program.
    /// - Returns: The value; `nil` if the file hasn't got it, or it's another attribute.
    /// - Note: Rule R23.
    public func value(ofAttribute attrName: String, forResultAt idx: Int) -> Any? {
      let results = core.results
      guard results.indices.contains(idx) else {
        fatalError("NSMetadataQuery.value(ofAttribute:forResultAt: \(idx)) of \(results.count) results")
      }
      guard core.configuration.gatheredAttributes.contains(attrName) else { return nil }
      return NSMetadataItem(results[idx]).value(forAttribute: attrName)
    }

    /// How many results have each value of the ``valueListAttributes``.
    ///
    /// In the order in which results have them first. A result with a list of values is counted for each.
    ///
    /// - Complexity: O(*n*) once after each change.
    /// - Note: Rules R25 to R27 and R29.
    public var valueLists: [String: [NSMetadataQueryAttributeValueTuple]] { core.valueLists }

    /// The results by their values of the first of the ``groupingAttributes``.
    ///
    /// In the order in which results have them first. A result with a list of values is in the group of each.
    ///
    /// - Complexity: O(*n*) once after each change.
    /// - Note: Rules R25, R28 and R29.
    public var groupedResults: [NSMetadataQueryResultGroup] { core.groupedResults }
  }
#endif
