#if !canImport(ObjectiveC)
  public import Foundation

  /// A value of an attribute, and how many results have it.
  ///
  /// - Note: Rules R26 and R27.
  open class NSMetadataQueryAttributeValueTuple: NSObject {
    /// The name of the attribute.
    public let attribute: String
    /// The value; `nil` stands for results that haven't got the attribute.
    public let value: Any?
    /// How many results have it.
    public let count: Int

    init(attribute: String, value: Any?, count: Int) {
      self.attribute = attribute
      self.value = value
      self.count = count
      super.init()
    }
  }

  /// The results that have the same value of an attribute.
  ///
  /// A group stays as it is; after a change, ask the query for new ones.
  ///
  /// - Note: Rules R28, R29 and R42.
  open class NSMetadataQueryResultGroup: NSObject {
    /// The name of the attribute.
    public let attribute: String
    /// The value; `NSNull` for results that haven't got the attribute.
    public let value: Any
    /// Groups by the next attribute; `nil` if there's none.
    public let subgroups: [NSMetadataQueryResultGroup]?
    /// The results of the group and of all groups in it, in the order of the query.
    public let results: [Any]

    init(attribute: String, value: Any, subgroups: [NSMetadataQueryResultGroup]?, results: [Any]) {
      self.attribute = attribute
      self.value = value
      self.subgroups = subgroups
      self.results = results
      super.init()
    }

    /// How many results there are in the group, and in all groups in it.
    public var resultCount: Int { results.count }

    /// A result of the group, or of a group in it.
    ///
    /// - Parameter idx: Its position; one that isn't there ends the program.
    /// - Returns: The result, or the delegate's replacement.
    open func result(at idx: Int) -> Any { results[idx] }
  }
#endif
