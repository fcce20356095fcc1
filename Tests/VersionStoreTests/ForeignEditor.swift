import Foundation
import SystemInterface
import Testing

/// Programs that save a file in their own ways.
enum ForeignEditor: CaseIterable, Sendable {
  /// `echo … >f`
  case inPlace
  /// `sed -i`, `git checkout`: a new file takes the name.
  case renamingOver
  /// `vim`: the old file gets a name of its own, a new one is made, the old one is removed.
  case backingUp
  /// `Data.write(options: .atomic)`
  case foundation

  func save(_ sandbox: StoreSandbox, _ name: String, _ text: String) throws {
    let path = sandbox.path(name).description
    switch self {
    case .inPlace: try sandbox.write(name, text)
    case .renamingOver:
      let other = try sandbox.write(name + ".new", text).description
      #expect(Foundation.rename(other, path) == 0)
    case .backingUp:
      #expect(Foundation.rename(path, path + "~") == 0)
      try sandbox.write(name, text)
      try FileManager.default.removeItem(atPath: path + "~")
    case .foundation: try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }
  }
}
