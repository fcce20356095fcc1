internal import ContentHashing
internal import SystemInterface

/// The members of a version: a line for each, in the order of their names.
struct MemberList {
  private(set) var size: Int64 = 0
  /// The hash of the first file.
  private(set) var hashOfOnly: ContentHash?
  private var text = ""

  var bytes: [UInt8] { Array(text.utf8) }

  mutating func add(_ path: SystemPath, _ status: FileStatus, _ hash: ContentHash?, target: SystemPath? = nil) {
    let kind =
      switch status.kind {
      case .directory: "directory"
      case .symbolicLink: "link"
      default: "file"
      }
    let mode = String(status.mode, radix: 8)
    let contents = hash.map { " \(status.size) \(status.modificationTime) \($0)" } ?? ""
    let link = target.map { " \(PercentEncoding.encode($0.bytes))" } ?? ""
    text += "\(kind) \(mode) \(PercentEncoding.encode(path.bytes))\(contents)\(link)\n"
    if let hash {
      size += status.size
      hashOfOnly = hashOfOnly ?? hash
    }
  }
}
