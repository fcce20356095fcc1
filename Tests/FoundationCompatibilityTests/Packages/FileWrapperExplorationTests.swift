import Foundation
import FoundationCompatibility
import SeededRandom
import TestSupport
import Testing

@Suite("Exploration of FileWrapper", .blocking)
struct FileWrapperExplorationTests {
  /// A tree as dictionaries, by the keys of the wrappers.
  private indirect enum Model: Equatable {
    case file(String)
    case directory([String: Model])

    func listing(_ prefix: String = "") -> [String] {
      guard case .directory(let members) = self else { return [] }
      return members.sorted { $0.key < $1.key }.flatMap { key, member -> [String] in
        switch member {
        case .file(let text): ["\(prefix)\(key) \(text)"]
        case .directory: ["\(prefix)\(key)/"] + member.listing("\(prefix)\(key)/")
        }
      }
    }

    subscript(path: [String]) -> Model? {
      get {
        guard let first = path.first else { return self }
        guard case .directory(let members) = self else { return nil }
        return members[first]?[Array(path.dropFirst())]
      }
      set {
        guard let first = path.first, case .directory(var members) = self else { return }
        if path.count == 1 {
          members[first] = newValue
        } else {
          members[first]?[Array(path.dropFirst())] = newValue
        }
        self = .directory(members)
      }
    }

    /// The paths of all directories, the top included.
    func directories(_ path: [String] = []) -> [[String]] {
      guard case .directory(let members) = self else { return [] }
      return [path] + members.sorted { $0.key < $1.key }.flatMap { $0.value.directories(path + [$0.key]) }
    }

    var keys: [String] {
      guard case .directory(let members) = self else { return [] }
      return members.keys.sorted()
    }
  }

  private func wrapper(_ root: FileWrapper, _ path: [String]) -> FileWrapper? {
    path.reduce(root) { $0?.fileWrappers?[$1] }
  }

  private func edit(_ root: FileWrapper, _ model: inout Model, _ random: inout SplitMix, _ step: Int) throws {
    let path = random.pick(model.directories())
    let directory = try #require(wrapper(root, path))
    let keys = model[path]?.keys ?? []
    let name = random.pick(["a", "b.txt", "c", "a 2"])
    switch random.below(5) {
    case 0, 1:
      let key = directory.addRegularFile(withContents: Data("\(step)".utf8), preferredFilename: name)
      #expect(!keys.contains(key) && (key == name) == !keys.contains(name))
      model[path + [key]] = .file("\(step)")
    case 2 where path.count < 4:
      let child = FileWrapper(directoryWithFileWrappers: [:])
      child.preferredFilename = name
      model[path + [directory.addFileWrapper(child)]] = .directory([:])
    case 3 where !keys.isEmpty:
      let key = random.pick(keys)
      directory.removeFileWrapper(try #require(directory.fileWrappers?[key]))
      model[path + [key]] = nil
    case 4 where !keys.isEmpty:
      let key = random.pick(keys)
      let child = try #require(directory.fileWrappers?[key])
      let before = child.preferredFilename
      child.preferredFilename = name
      let newKey = try #require(directory.keyForChildFileWrapper(child))
      #expect(before == name ? newKey == key : newKey.hasPrefix(String(name.prefix(1))))
      let member = model[path + [key]]
      model[path + [key]] = nil
      model[path + [newKey]] = member
    default: break
    }
  }

  @Test(
    "FW-5, FW-9: After any edits and saves a package has what the wrappers have, read lazily, at once, or serialized",
    arguments: Budget.seeds(normal: 40, long: 400, complete: 2_000))
  func edits(seed: UInt64) throws {
    try withSandbox { box in
      var random = SplitMix(seed: seed)
      let url = box.url("p")
      var root = FileWrapper(directoryWithFileWrappers: [:])
      var model = Model.directory([:])
      var wasReadAtOnce = false
      for step in 0..<50 {
        switch random.below(8) {
        case 0, 1:
          var options: FileWrapper.WritingOptions = .atomic
          if random.chance(1, in: 2) { options.insert(.withNameUpdating) }
          try root.write(to: url, options: options, originalContentsURL: random.chance(2, in: 3) ? url : nil)
          #expect(try FileWrapper(url: url).listing() == model.listing(), "seed \(seed), step \(step)")
          // A file that was written in the tick in which it was read counts as newer.
          if options.contains(.withNameUpdating), !wasReadAtOnce {
            #expect(root.matchesContents(of: url), "seed \(seed), step \(step)")
          }
        case 2 where FileManager.default.fileExists(atPath: url.path):
          // A save, and everything read anew: with or without reading it.
          try root.write(to: url, options: .atomic, originalContentsURL: url)
          root = try FileWrapper(url: url, options: random.chance(1, in: 2) ? [] : .immediate)
          wasReadAtOnce = true
        case 3 where FileManager.default.fileExists(atPath: url.path):
          try root.write(to: url, options: [.atomic, .withNameUpdating], originalContentsURL: url)
          try root.read(from: url)
          wasReadAtOnce = true
        case 4 where random.chance(1, in: 3):
          let data = try #require(root.serializedRepresentation)
          root = try #require(FileWrapper(serializedRepresentation: data))
          #expect(root.serializedRepresentation == data)
        default: try edit(root, &model, &random, step)
        }
        if random.chance(1, in: 4) { #expect(root.listing() == model.listing(), "seed \(seed), step \(step)") }
      }
      try root.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try FileWrapper(url: url).listing() == model.listing(), "seed \(seed)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["p"])
    }
  }
}
