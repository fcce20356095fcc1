// Each attribute is a member of two types: of the attribute, where an operator follows, `.fileSize > .kilobytes(10)`,
// and of the predicate, where a method does, `.fileName.hasSuffix(".md")`. That is how Swift resolves expressions that
// begin with a dot.

extension MetadataPredicate {
  /// The name of the file, with its extension.
  public static var fileName: MetadataAttribute<String> { MetadataAttribute("kMDItemFSName") }
  /// The name that people see.
  public static var displayName: MetadataAttribute<String> { MetadataAttribute("kMDItemDisplayName") }
  /// The absolute path.
  public static var path: MetadataAttribute<String> { MetadataAttribute("kMDItemPath") }
  /// The uniform type identifier.
  public static var contentType: MetadataAttribute<String> { MetadataAttribute("kMDItemContentType") }
  /// The uniform type identifier and all that it's a kind of.
  public static var contentTypeTree: MetadataAttribute<[String]> { MetadataAttribute("kMDItemContentTypeTree") }
  /// The size in bytes.
  public static var fileSize: MetadataAttribute<ByteCount> { MetadataAttribute("kMDItemFSSize") }
  /// When the contents changed last.
  public static var contentChangeDate: MetadataAttribute<MetadataDate> {
    MetadataAttribute("kMDItemFSContentChangeDate")
  }
  /// When the file was made.
  public static var creationDate: MetadataAttribute<MetadataDate> { MetadataAttribute("kMDItemFSCreationDate") }

  /// Any attribute, by its name.
  ///
  /// - Parameters:
  ///   - name: The name; dots divide the steps of a key path.
  ///   - type: The type of its values.
  /// - Returns: The attribute.
  public static func attribute<Value>(_ name: String, as type: Value.Type) -> MetadataAttribute<Value> {
    MetadataAttribute(name)
  }
}

extension MetadataAttribute where Value == String {
  /// The name of the file, with its extension.
  public static var fileName: MetadataAttribute<String> { MetadataPredicate.fileName }
  /// The name that people see.
  public static var displayName: MetadataAttribute<String> { MetadataPredicate.displayName }
  /// The absolute path.
  public static var path: MetadataAttribute<String> { MetadataPredicate.path }
  /// The uniform type identifier.
  public static var contentType: MetadataAttribute<String> { MetadataPredicate.contentType }
}

extension MetadataAttribute where Value == [String] {
  /// The uniform type identifier and all that it's a kind of.
  public static var contentTypeTree: MetadataAttribute<[String]> { MetadataPredicate.contentTypeTree }
}

extension MetadataAttribute where Value == ByteCount {
  /// The size in bytes.
  public static var fileSize: MetadataAttribute<ByteCount> { MetadataPredicate.fileSize }
}

extension MetadataAttribute where Value == MetadataDate {
  /// When the contents changed last.
  public static var contentChangeDate: MetadataAttribute<MetadataDate> { MetadataPredicate.contentChangeDate }
  /// When the file was made.
  public static var creationDate: MetadataAttribute<MetadataDate> { MetadataPredicate.creationDate }
}
