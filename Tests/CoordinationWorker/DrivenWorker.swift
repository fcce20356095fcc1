import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import SystemInterface

/// A process with a document that does what its standard input says, line by line, and reports the end of each line.
///
/// `.ci/document-kills` kills it at each call to the system of one line, and looks at what the next process finds.
enum DrivenWorker {
  /// Called as `drive DIRECTORY FILE text|package`; the socket, the versions and the journals are in the directory.
  static func main(_ arguments: [String]) throws {
    guard arguments.count == 3 else { throw CocoaError(.coderInvalidValue) }
    let (directory, file) = (URL(filePath: arguments[0]), URL(filePath: arguments[1]))
    let isText = arguments[2] == "text"
    let ended = DispatchSemaphore(value: 0)
    Task {
      if isText {
        await DrivenDocument(file, as: .text, in: directory).followLines()
      } else {
        await DrivenDocument(file, as: .package, in: directory).followLines()
      }
      ended.signal()
    }
    ended.wait()
  }
}

/// Contents that lines can alter and print.
private protocol DrivenContents: Sendable {
  init(drivenText: String)
  mutating func apply(_ words: [String]) throws
  var line: String { get }
}

extension String: DrivenContents {
  fileprivate init(drivenText: String) { self = drivenText }
  fileprivate mutating func apply(_ words: [String]) { self += words.joined(separator: " ") }
  fileprivate var line: String { replacingOccurrences(of: "\n", with: " ") }
}

extension PackageTree: DrivenContents {
  fileprivate init(drivenText: String) {
    self.init()
    for number in 0..<6 { try? update(SystemPath("\(number)"), Array(drivenText.utf8)) }
  }

  /// `MEMBER TEXT`, `remove MEMBER` or `move MEMBER MEMBER`.
  fileprivate mutating func apply(_ words: [String]) throws {
    switch words.first {
    case "remove": try remove(SystemPath(words[1]))
    case "move": try move(SystemPath(words[1]), to: SystemPath(words[2]))
    default: try update(SystemPath(words[0]), Array(words[1].utf8))
    }
  }

  fileprivate var line: String {
    let names = (try? names()) ?? []
    let members = names.map { name in
      "\(name)=" + String(decoding: (try? contents(of: name)) ?? Array("unreadable".utf8), as: UTF8.self)
    }
    return members.sorted().joined(separator: " ")
  }
}

private struct DrivenDocument<Format: DocumentFormat>: Sendable where Format.Contents: DrivenContents {
  let document: FileDocument<Format.Contents>
  let versions: FileVersions

  init(_ file: URL, as format: Format, in directory: URL) {
    let domain = CoordinationDomain.socket(directory.appending(path: "socket").path)
    versions = FileVersions(domain: domain, storage: .directory(directory.appending(path: "versions")))
    var options = DocumentOptions<Format.Contents>(domain: domain, versions: versions)
    options.autosave = .never
    options.crashJournal = .directory(directory.appending(path: "journals"))
    document = FileDocument(file, as: format, options: options, in: nil)
  }

  func followLines() async {
    while let line = readLine() {
      do {
        try await follow(line.split(separator: " ").map(String.init))
        Worker.report("done")
      } catch { Worker.report("failed: \("\(error)".replacingOccurrences(of: "\n", with: " "))") }
    }
  }

  private func follow(_ words: [String]) async throws {
    let rest = Array(words.dropFirst())
    switch words.first {
    case "open": try await document.open(creatingWith: rest.first.map { Format.Contents(drivenText: $0) })
    case "edit":
      let error: (any Error)? = try await document.edit { contents in
        do { try contents.apply(rest) } catch { return error }
        return nil
      }
      if let error { throw error }
    case "journal": try await document.writeJournal()
    case "save": try await document.save()
    case "rename": try await document.rename(to: rest[0])
    case "duplicate": try await document.duplicate(to: URL(filePath: rest[0]))
    case "save-as": try await document.save(as: URL(filePath: rest[0]))
    case "revert": try await document.revert()
    case "close": try await document.close()
    case "restore": for recovery in await document.recoveries { try await document.resolve(recovery, by: .restoring) }
    case "look": try await look()
    default: throw CocoaError(.coderInvalidValue)
    }
  }

  /// Reports all texts that a person finds: in the document, the crash journals and the versions.
  private func look() async throws {
    Worker.report("contents \(await document.contents?.line ?? "")")
    Worker.report("conditions \(document.state.conditions.rawValue)")
    for recovery in await document.recoveries { Worker.report("recovery \(recovery.contents?.line ?? "")") }
    for version in try await versions.versions(of: document.url) ?? [] {
      let kind = version.isConflict ? "conflict" : "version"
      var isDirectory: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: version.url.path, isDirectory: &isDirectory)
      let line =
        isDirectory.boolValue
        ? try PackageTree(openingPackageAt: SystemPath(version.url.path)).line
        : String(decoding: try await versions.contents(of: version), as: UTF8.self).line
      Worker.report("\(kind) \(line)")
    }
  }
}
