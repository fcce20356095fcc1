#if !canImport(ObjectiveC)
  public import Foundation

  /// A version of a file, as messages to presenters name it.
  ///
  /// This library stores no versions; programs that do announce them through the native
  /// `FileAccess.didChangeVersion(_:version:)`, with a name of their own: it's the ``persistentIdentifier``.
  open class NSFileVersion: NSObject, @unchecked Sendable {
    /// Where the item is whose version it is.
    public let url: URL
    private let name: String

    init(_ url: URL, name: String) {
      self.url = url
      self.name = name
    }

    /// The name of the version, a `String`.
    open var persistentIdentifier: Any { name }

    /// Whether another object stands for the same version of the same item.
    ///
    /// - Parameter object: The other object.
    /// - Returns: Whether it does.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? NSFileVersion else { return false }
      return other.name == name && other.url == url
    }

    /// A number that's equal for equal versions.
    open override var hash: Int {
      var hasher = Hasher()
      hasher.combine(url)
      hasher.combine(name)
      return hasher.finalize()
    }
  }
#endif
