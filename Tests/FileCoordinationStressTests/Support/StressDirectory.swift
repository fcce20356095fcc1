import FoundationEssentials
import Glibc
import SystemInterface
import Testing

/// Makes a temporary directory for the duration of `body`, and removes it in every case.
func withStressDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  var template = Array("/tmp/FileCoordinationStressTests.XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  defer { try? HostFileSystem().removeItem(at: SystemPath(path)) }
  return try await body(URL(filePath: path, directoryHint: .isDirectory))
}

extension URL {
  /// The path, without a slash at the end.
  var plainPath: String {
    let path = path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
