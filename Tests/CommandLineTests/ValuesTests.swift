import Foundation
import TestSupport
import Testing

@Suite("filecoord values", .blocking)
struct ValuesTests {
  private let scratch: Scratch
  private let environment: [String: String]

  init() throws {
    scratch = try Scratch()
    environment = [
      "XDG_DATA_HOME": scratch.url.appending(path: "data").path,
      "XDG_CONFIG_HOME": scratch.url.appending(path: "config").path,
    ]
  }

  private func run(_ arguments: String...) throws -> Tool.Result { try run(arguments) }

  private func run(_ arguments: [String]) throws -> Tool.Result {
    try Tool.run(["values"] + arguments, environment: environment)
  }

  @Test("It sets, prints, lists and removes values of every kind")
  func values() throws {
    let data = #"{"$data":"AAH/"}"#
    let date = #"{"$date":"2026-01-02T03:04:05.000Z"}"#
    let set = try run(
      "set", "text", "hello world", "number", "5", "quoted", "\"5\"", "list", "[1,2.5,true]", "data", data, "date", date
    )
    #expect(set.status == 0, "\(set.errors)")
    #expect(try run("get", "text", "number", "quoted").output == "hello world\n5\n5\n")
    let list = """
      data  {"$data":"AAH/"}
      date  {"$date":"2026-01-02T03:04:05.000Z"}
      list  [1,2.5,true]
      number  5
      quoted  "5"
      text  "hello world"

      """
    #expect(try run("list").output == list)
    #expect(try run("get", "--json", "list").output == #"{"key":"list","value":[1,2.5,true]}"# + "\n")
    #expect(try run("remove", "text", "never").status == 0)
    let gone = try run("get", "text")
    #expect(gone.status == 66 && gone.errors.contains("has no value"))
    #expect(try run("list", "--store", "other").output.isEmpty)
  }

  @Test("Numbers keep all digits, and negative ones need no '--'")
  func numbers() throws {
    let text = #"{"a":[-1,"12345678901234567890123\\" 99999999999999999999"]}"#
    let limits = ["low", "-9223372036854775808", "high", "9223372036854775807"]
    let set = try run(["set"] + limits + ["real", "-2.5e3", "large", "1e300", "text", text])
    #expect(set.status == 0, "\(set.errors)")
    #expect(try run("get", "low", "high").output == "-9223372036854775808\n9223372036854775807\n")
    #expect(try run("get", "real", "large", "text").output == "-2500\n1e+300\n\(text)\n")
    let option = try run("set", "low", "-x")
    #expect(option.status == 64 && option.errors.contains("'--'"), "\(option.errors)")
    #expect(try run("set", "--", "low", "-x").status == 0)
    #expect(try run("get", "low").output == "-x\n")
  }

  @Test("Words that make no sense end with a code and what to do")
  func mistakes() throws {
    #expect(try run("drop").status == 64)
    #expect(try run("set", "key").status == 64)
    #expect(try run("get").status == 64)
    #expect(try run("set", "k", "null").status == 65)
    for digits in ["9223372036854775808", "-9223372036854775809", #"[1,{"a":123456789012345678901234}]"#] {
      let long = try run("set", "k", digits)
      #expect(long.status == 65 && long.errors.contains("would lose some"), "\(long.errors)")
    }
    let many = try run(["set"] + (0...100).flatMap { ["k\($0)", "1"] })
    #expect(many.status == 64 && many.errors.contains("at most 201 words at once, and got 203"), "\(many.errors)")
    #expect(try run("set", String(repeating: "k", count: 129), "1").status == 64)
    #expect(try run("list", "--store", "a/b").status == 64)
    let alone = try run("flush")
    #expect(alone.status == 69 && alone.errors.contains("isn't shared"), "\(alone.errors)")
    try FileManager.default.createDirectory(
      at: scratch.url.appending(path: "config"), withIntermediateDirectories: true)
    try "folder".write(to: scratch.url.appending(path: "config/key-values.conf"), atomically: true, encoding: .utf8)
    let wrong = try run("list")
    #expect(wrong.status == 78 && wrong.errors.contains("line 1"), "\(wrong.errors)")
  }

  @Test("Status says what's pending")
  func status() throws {
    #expect(try run("set", "b", "1", "a", "2").status == 0)
    let status = try run("status", "--json")
    #expect(status.output.contains(#""keys":2"#) && status.output.contains(#""pending":["a","b"]"#), "\(status.output)")
  }

  @Test("Watching prints the changes of other processes, those of a transaction together")
  func watching() throws {
    let tool = try #require(Tool.location)
    let watcher = try RunningTool(tool, ["values", "watch"], environment)
    defer { watcher.kill() }
    _ = try watcher.errors.line(containing: "watching 0 keys")
    #expect(try run("set", "b", "1", "a", "x").status == 0)
    _ = try watcher.output.line(containing: "b  1")
    watcher.signal(SIGTERM)
    #expect(try watcher.end() == 0)
    #expect(watcher.output.text == "otherProcess  a  \"x\"\notherProcess  b  1\n")
  }

  @Test("Two devices that share a folder have the same values")
  func sharing() throws {
    let folder = scratch.url.appending(path: "shared").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let devices = try ["a", "b"].map { name in
      let home = scratch.url.appending(path: name)
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: false)
      try "account = ann\nfolder = \(folder)\n".write(
        to: home.appending(path: "key-values.conf"), atomically: true, encoding: .utf8)
      return ["XDG_DATA_HOME": home.path, "XDG_CONFIG_HOME": home.path]
    }
    #expect(try Tool.run(["values", "set", "theme", "dark"], environment: devices[0]).status == 0)
    for device in devices {
      let flushed = try Tool.run(["values", "flush"], environment: device)
      #expect(flushed.status == 0, "\(flushed.errors)")
      #expect(try Tool.run(["values", "get", "theme"], environment: device).output == "dark\n")
    }
  }
}
