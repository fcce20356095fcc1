#if !canImport(ObjectiveC)
  internal import FileMetadata
  public import Foundation
  internal import MetadataPredicates
  internal import SystemInterface

  /// A file as a query found it.
  ///
  /// A result of a query is the same object as long as it is a result, also when the file is renamed, and always has
  /// the values that were posted last; when it isn't a result any more, it stays as it was. An item that's made from a
  /// URL stays as it was then. Comments, tags and the like are read from the file when they're asked for.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `source` | its lock | queries change it while any thread reads |
  ///
  /// - Note: Rules R19, R22 and R34 to R38.
  open class NSMetadataItem: NSObject {
    private let source: Guarded<MetadataItem?>

    init(_ file: MetadataItem) {
      source = Guarded(file)
      super.init()
    }

    /// Makes an item that has no attributes.
    public override init() {
      source = Guarded(nil)
      super.init()
    }

    /// Inspects a file.
    ///
    /// `nil` if there's none, or the URL isn't a file's. A symbolic link's item is its target. Blocks for a few system
    /// calls.
    ///
    /// - Parameter url: Where the file is.
    /// - Note: Rule R35.
    public convenience init?(url: URL) {
      guard let file = MetadataItem(url: url) else { return nil }
      self.init(file)
    }

    /// The value of an attribute.
    ///
    /// - Parameter key: The name of the attribute, such as ``NSMetadataItemFSNameKey``.
    /// - Returns: A `String`, `NSNumber`, `Date`, `URL` or array; `nil` if the file hasn't got the attribute.
    open func value(forAttribute key: String) -> Any? {
      if key == NSMetadataItemURLKey { return file?.url }
      return metadataValue(key).foundationObject
    }

    /// The values of some attributes.
    ///
    /// - Parameter keys: The names of the attributes.
    /// - Returns: The values by name, without those that the file hasn't got.
    /// - Note: Rule R34.
    open func values(forAttributes keys: [String]) -> [String: Any]? {
      var values: [String: Any] = [:]
      for key in keys { values[key] = value(forAttribute: key) }
      return values
    }

    /// The names of all attributes that the file has.
    ///
    /// - Note: Rule R36.
    open var attributes: [String] { file?.attributeNames ?? [] }

    /// The path, if there's a file.
    open override var description: String {
      "<NSMetadataItem: \(value(forAttribute: NSMetadataItemPathKey) as? String ?? "nothing")>"
    }

    // MARK: For queries

    var file: MetadataItem? { source.withLock { $0 } }

    func update(_ file: MetadataItem) { source.withLock { $0 = file } }

    /// The value of an attribute as predicates see it; a URL is its path.
    func metadataValue(_ key: String) -> MetadataValue {
      let key = key == NSMetadataItemURLKey ? NSMetadataItemPathKey : key
      return file?.value(forAttribute: key) ?? .null
    }

    var wholeValue: MetadataValue {
      .dictionary(Dictionary(uniqueKeysWithValues: attributes.map { ($0, metadataValue($0)) }))
    }
  }

  extension MetadataValue {
    /// The object that Apple's programs expect; `nil` for a missing value.
    var foundationObject: Any? {
      switch self {
      case .null: nil
      case .bool(let flag): NSNumber(value: flag)
      case .integer(let number): NSNumber(value: number)
      case .real(let number): NSNumber(value: number)
      case .string(let text): text
      case .date(let date): Date(timeIntervalSinceReferenceDate: date.secondsSince2001)
      case .data(let bytes): Data(bytes)
      case .array(let members): members.compactMap(\.foundationObject)
      case .set(let members): members.compactMap(\.foundationObject)
      case .dictionary(let entries): entries.compactMapValues(\.foundationObject)
      }
    }
  }
#endif
