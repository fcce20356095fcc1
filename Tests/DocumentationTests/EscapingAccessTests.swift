import Foundation
import Testing

/// The compiler's answer to code that takes an access out of its accessor.
///
/// Without the word `borrowing` Swift 6.3 crashes where it ought to explain: that's why the guide asks for it.
@Suite("An access that's captured by work which may outlive it", .timeLimit(.minutes(5)))
struct EscapingAccessTests {
  private static let closures = [
    "async { try await coordinator.read(url) { (access: borrowing FileAccess) in _ = Task { print(access.url) } } }",
    "async { try await coordinator.read(url) { (access: borrowing FileAccess) in async let url = access.url; _ = await url } }",
    """
    async { try await coordinator.read(url) { (access: borrowing FileAccess) in await withTaskGroup(of: Void.self) { \
    $0.addTask { print(access.url) } } } }
    """,
    """
    { try coordinator.blocking.read(url) { (access: borrowing FileAccess) in DispatchQueue.global().async { \
    print(access.url) } } }
    """,
    """
    async { try await coordinator.write(url, and: url) { (_: borrowing FileAccess, access: borrowing FileAccess) in \
    _ = Task { print(access.url) } } }
    """,
    "async { try await coordinator.coordinate([]) { (access: borrowing FileAccessSet) in _ = Task { print(access.count) } } }",
  ]

  @Test("A Task, a child task, a group and a queue: each is an error on its line")
  func errors() throws {
    let lines = Self.closures.enumerated().map { index, closure -> String in
      let effects = closure.hasPrefix("async") ? "async throws \(closure.dropFirst(6))" : "throws \(closure)"
      return "func misuse\(index)(_ coordinator: FileCoordinator, _ url: URL) \(effects)"
    }
    let output = try compile(["import Dispatch", "import FileCoordination", "import Foundation"] + lines)
    for line in lines.indices {
      #expect(
        output.contains(":\(line + 4):") && !output.contains("Stack dump"),
        "nothing about '\(lines[line])': \(output)")
    }
    #expect(
      output.components(separatedBy: "error: 'access' cannot be captured by an escaping closure").count > lines.count)
  }

  @Test("The properties of an access may outlive it")
  func values() throws {
    let output = try compile([
      "import FileCoordination", "import Foundation",
      "func use(_ coordinator: FileCoordinator, _ url: URL) async throws {",
      "  try await coordinator.read(url) { (access: borrowing FileAccess) in",
      "    let url = access.url", "    await Task.detached { print(url) }.value", "  }", "}",
    ])
    #expect(!output.contains("error:"), "\(output)")
  }

  /// - Returns: The output of the compiler when it compiles these lines beside the modules of this very build.
  private func compile(_ lines: [String]) throws -> String {
    let directory = URL.temporaryDirectory.appending(path: "escaping-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    let source = directory.appending(path: "misuse.swift")
    try lines.joined(separator: "\n").write(to: source, atomically: false, encoding: .utf8)
    let products = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let modules = [
      products.appending(path: "Modules"), Package.root.appending(path: "Sources/CSystemShims"),
      Package.root.appending(path: "Sources/CRuntimeShims"),
    ]
    process.arguments =
      ["swiftc", "-swift-version", "6", "-parse-as-library", "-emit-sil", "-o", "/dev/null", source.path]
      + modules.flatMap { ["-I", $0.path] }
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
