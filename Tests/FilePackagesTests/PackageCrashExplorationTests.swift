import FilePackages
import SeededRandom
import SystemInterface
import Testing

@Suite("Exploration of crashes while packages are written")
struct PackageCrashExplorationTests {
  /// The forms of a save.
  enum Save: CaseIterable, Sendable {
    case overExisting, withoutLinks, asNew, overFile, ofOneMember

    func prepare(_ box: PackageSandbox) throws {
      try box.write("source/text", "old", mode: 0o640)
      try box.write("source/images/1", "image")
      try box.write("source/images/deep/2", "deep")
      try box.files.makeSymbolicLink(box.path("source/link"), at: .workingDirectory, target: SystemPath("text"))
      if self == .overFile { try box.write("place", "flat") }
    }

    var place: String {
      switch self {
      case .overExisting, .withoutLinks, .ofOneMember: "source"
      case .asNew, .overFile: "place"
      }
    }

    func run(_ box: PackageSandbox, _ door: any FileSystem) throws {
      var tree = try PackageTree(openingPackageAt: box.path("source"), files: door)
      if self == .ofOneMember { return try tree.replaceOnDisk(SystemPath("text"), Array("newer".utf8)) }
      try tree.update("text", "newer")
      try tree.update("images/3", "added")
      try tree.remove(SystemPath("images/1"))
      let linking: PackageTree.Linking = self == .withoutLinks ? .never : .whereNobodyCanWriteThroughIt
      _ = try tree.write(to: box.path(place), self == .overFile ? .anything : .openedPackage, linking: linking)
    }

    /// The packages at the place, and at the source.
    func state(_ box: PackageSandbox) throws -> String {
      let isThere = try box.files.statusIfPresent(of: box.path(place)) != nil
      let isFlat = try isThere && box.status(place).kind == .regular
      let there = try !isThere ? "nothing" : isFlat ? box.text(place) : "\(box.tree(place))"
      return try "\(there), \(place == "source" ? "" : "\(box.tree("source"))")"
    }
  }

  private func hurry(_ call: ScriptedCall) -> ScriptedAction { call.call == .synchronize ? .skip : .proceed }

  private struct Ends {
    let before: String
    let after: String
    let callCount: Int
    /// The last call whose failure is an error: closing never is.
    let lastNeeded: Int
  }

  private func ends(_ save: Save) throws -> Ends {
    try withSandbox { box in
      try save.prepare(box)
      let before = try save.state(box)
      let door = ScriptedFileSystem(script: hurry)
      try save.run(box, door)
      let lastNeeded = try #require(door.log.last { $0.call != .close }).number
      return Ends(before: before, after: try save.state(box), callCount: door.log.count, lastNeeded: lastNeeded)
    }
  }

  @Test("CD-12: A crash at any call leaves the old package or the new one, whole", arguments: Save.allCases)
  func death(save: Save) throws {
    let ends = try ends(save)
    #expect(ends.before != ends.after)
    var seen: [String: Int] = [:]
    for number in 1...ends.callCount {
      try withSandbox { box in
        try save.prepare(box)
        // As far as the disk can tell the process ends there: neither that call nor a later one is made.
        let door = ScriptedFileSystem { $0.number >= number && $0.call != .close ? .fail(5) : hurry($0) }
        #expect(throws: PackageError.self, "\(save), call \(number)") {
          try save.run(box, door)
          if number > ends.lastNeeded { throw PackageError(.notFound) }
        }
        let state = try save.state(box)
        #expect(state == ends.before || state == ends.after, "\(save), call \(number): \(state)")
        seen[state, default: 0] += 1
        try PackageTree.removeLeftovers(of: box.path(save.place), age: .zero)
        #expect(try box.names().allSatisfy { !$0.hasPrefix(".") }, "\(save), call \(number)")
      }
    }
    #expect(seen.count == 2, "\(seen)")
  }

  @Test(
    "CD-12: An error at any call is reported with whether the change is in place, and nothing is left over",
    arguments: Save.allCases)
  func errors(save: Save) throws {
    let ends = try ends(save)
    for number in 1...ends.callCount {
      try withSandbox { box in
        try save.prepare(box)
        let door = ScriptedFileSystem { $0.number == number ? .fail(28) : hurry($0) }
        var failure: PackageError?
        do { try save.run(box, door) } catch let error as PackageError { failure = error }
        let state = try save.state(box)
        if let failure {
          let isAfter = state == ends.after
          if save != .ofOneMember { #expect(failure.isInPlace == isAfter, "\(save), call \(number): \(failure)") }
          #expect(isAfter || state == ends.before, "\(save), call \(number): \(state)")
          // A leftover is named.
          let left = try box.names().filter { $0.hasPrefix(".") }.map { box.path($0) }
          let named = [failure.systemError?.leftover].compactMap { $0 }
          #expect(isAfter ? left == named : left == [], "\(save), call \(number): \(left) and \(failure)")
        } else {
          // Some calls may fail: there's another way, or nobody needs them.
          #expect(state == ends.after, "\(save), call \(number): \(state)")
        }
      }
    }
  }

  @Test(
    "CD-12: If names can't be exchanged, a crash between the two renames leaves both packages, and neither is removed")
  func twoSteps() throws {
    let save = Save.overExisting
    try withSandbox { box in
      try save.prepare(box)
      let renameCount = Guarded(0)
      // The second one would exchange, the third one sets the old package aside, and then the process ends.
      let door = ScriptedFileSystem { call in
        let count = renameCount.withLock { count in
          if call.call == .rename { count += 1 }
          return count
        }
        if call.call == .rename && count == 2 { return .fail(22) }
        return count > 3 && call.call != .close ? .fail(5) : hurry(call)
      }
      #expect(throws: PackageError.self) { try save.run(box, door) }
      #expect(try PackageTree.removeLeftovers(of: box.path(save.place), age: .zero) == 0)
      let names = try box.names()
      #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix(".source.") })
      #expect(try Set(names.map { try box.text("\($0)/text") }) == ["old", "newer"])
    }
  }

  @Test("CD-12: However few bytes a call writes, the package is complete", arguments: Save.allCases)
  func shortWrites(save: Save) throws {
    let ends = try ends(save)
    try withSandbox { box in
      try save.prepare(box)
      try save.run(
        box, ScriptedFileSystem { [.write, .read, .copyRange].contains($0.call) ? .shortWrite(1) : .proceed })
      #expect(try save.state(box) == ends.after)
    }
  }

  @Test("CD-12: A process that is killed at a call leaves the old package or the new one, whole, and hinders nobody")
  func killedProcess() async throws {
    let save = Save.overExisting
    let ends = try ends(save)
    var seen: Set<String> = []
    // The first calls, the last ones, those around the exchange, and some in between; all of them in a long run.
    let exchange = try exchangeNumber(save)
    let numbers = (1...ends.lastNeeded).filter {
      Budget.isLong || $0 % 12 == 1 || abs($0 - exchange) <= 2 || $0 == ends.lastNeeded
    }
    for number in numbers {
      let box = try PackageSandbox.make()
      defer { box.remove() }
      try save.prepare(box)
      let root = box.root.description
      await #expect(processExitsWith: .signal(9)) { [root = root as String, number = number as Int] in
        let box = PackageSandbox(root: SystemPath(root))
        let door = ScriptedFileSystem { $0.number == number ? .killProcess : .proceed }
        try Save.overExisting.run(box, door)
      }
      let state = try save.state(box)
      #expect(state == ends.before || state == ends.after, "call \(number): \(state)")
      seen.insert(state)
      try PackageTree.removeLeftovers(of: box.path(save.place), age: .zero)
      #expect(try box.names() == ["source"], "call \(number)")
      // The next save isn't hindered.
      var next = try PackageTree(openingPackageAt: box.path("source"))
      try next.update("next", "next")
      _ = try next.write(to: box.path("source"))
      #expect(try box.text("source/next") == "next")
    }
    #expect(seen.count == 2)
  }

  /// The number of the call that puts the new package in its place.
  private func exchangeNumber(_ save: Save) throws -> Int {
    try withSandbox { box in
      try save.prepare(box)
      let door = ScriptedFileSystem(script: hurry)
      try save.run(box, door)
      return try #require(door.log.first { $0.call == .rename }).number + 1
    }
  }

  @Test("CE-11: Everything new is brought to the disk before the package takes its place, and the place after it")
  func durability() throws {
    try withSandbox { box in
      try Save.withoutLinks.prepare(box)
      let door = ScriptedFileSystem { _ in .proceed }
      try Save.withoutLinks.run(box, door)
      let log = door.log
      let exchange = try #require(log.firstIndex { $0.call == .rename })
      // Two files are written, one is copied, and three directories are made.
      #expect(log[..<exchange].count { $0.call == .synchronize } == 6)
      #expect(log[exchange...].contains { $0.call == .synchronize })
    }
  }
}
