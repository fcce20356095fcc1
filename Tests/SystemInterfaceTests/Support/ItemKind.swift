import SystemInterface

/// The kinds of item that a move or a copy has to cope with.
enum ItemKind: CaseIterable {
  case file
  case link
  case emptyDirectory
  case directory
}

extension Sandbox {
  /// Makes an item that differs from others of its kind by a marker.
  @discardableResult
  func make(_ kind: ItemKind, _ name: String, marker: String) throws -> SystemPath {
    switch kind {
    case .file:
      try write(name, marker)
    case .link:
      try link(name, to: marker)
    case .emptyDirectory:
      try makeDirectory(name)
      try mark(name, marker)
    case .directory:
      try makeDirectory(name)
      try mark(name, marker)
      try write("\(name)/file", marker)
      try makeDirectory("\(name)/inner")
      try link("\(name)/inner/link", to: marker)
    }
    return path(name)
  }

  /// Whether a name holds an item that ``make(_:_:marker:)`` made, whole.
  func holds(_ kind: ItemKind, _ name: String, marker: String) throws -> Bool {
    guard let status = try status(name) else { return false }
    switch kind {
    case .file:
      return try status.kind == .regular && text(name) == marker
    case .link:
      return try status.kind == .symbolicLink && target(name) == marker
    case .emptyDirectory:
      return try status.kind == .directory && mark(of: name) == marker && names(in: name).isEmpty
    case .directory:
      return try status.kind == .directory && mark(of: name) == marker && names(in: name).contains("file")
        && text("\(name)/file") == marker && target("\(name)/inner/link") == marker
    }
  }

  func target(_ name: String) throws -> String? {
    guard try status(name)?.kind == .symbolicLink else { return nil }
    return try files.readLink(path(name), at: .workingDirectory).description
  }

  /// Directories carry the marker as an extended attribute.
  private func mark(_ name: String, _ marker: String) throws {
    try withFile(name) { (directory) throws(SystemError) in
      try files.setExtendedAttribute(.marker, of: directory, to: Array(marker.utf8))
    }
  }

  private func mark(of name: String) throws -> String {
    try withFile(name) { (directory) throws(SystemError) in
      String(decoding: try files.extendedAttribute(.marker, of: directory), as: UTF8.self)
    }
  }
}

extension ExtendedAttributeName {
  fileprivate static let marker = ExtendedAttributeName("user.marker")
}
