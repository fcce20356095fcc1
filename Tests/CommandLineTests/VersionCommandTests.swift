import Foundation
import TestSupport
import Testing

@Suite("Versions from the command line", .blocking)
struct VersionCommandTests {
  private let bench: Workbench
  private let file: String

  init() throws {
    bench = try Workbench()
    file = try bench.makeFile("notes.txt", "one\ntwo\n")
  }

  private func output(_ arguments: String...) throws -> String {
    let result = try Tool.run(arguments, environment: bench.environment)
    #expect(result.status == 0, "\(result.errors)")
    return result.output
  }

  @Test("ND-11: A version is kept, listed, shown, compared, restored and removed")
  func all() throws {
    #expect(try output("versions", file) == "")
    #expect(try output("keep", file).hasPrefix("1  "))
    try bench.makeFile("notes.txt", "one\n2\n")
    #expect(try output("show", file, "1") == "one\ntwo\n")
    let difference = try bench.run("diff", file, "1")
    #expect(difference.status == 1 && difference.output.contains("-two\n+2\n"))
    #expect(try output("restore", file).contains("notes.txt"))
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    // The contents that it has overwritten were kept first.
    #expect(try output("show", file, "1") == "one\n2\n")
    #expect(try output("diff", file, "2") == "")
    let lines = try output("versions", "--json", file).split(separator: "\n")
    let objects = try lines.map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(
      objects.map { $0["number"] as? Int } == [1, 2] && objects.allSatisfy { $0["name"] as? String == "notes.txt" })
    let id = try #require(objects[1]["id"] as? String)
    #expect(try output("restore", file, id, "--to", bench.path("old.txt")) == bench.path("old.txt") + "\n")
    #expect(bench.text("old.txt") == "one\ntwo\n")
    #expect(try output("remove", file, "1") == "")
    #expect(try output("versions", file).split(separator: "\n").count == 1)
    #expect(try output("versions", "--removed", file).hasPrefix("1  "))
    #expect(try output("recover", file, "1") == "")
    #expect(try output("versions", file).split(separator: "\n").count == 2)
    #expect(try output("versions", "--removed", file) == "")
  }

  @Test("A missing file or version is reported, with 66, and nothing is changed")
  func missing() throws {
    let none = try bench.run("versions", bench.path("none"))
    #expect(none.status == 66 && none.errors.contains("--deleted"))
    _ = try output("keep", file)
    let surplus = try bench.run("show", file, "2")
    #expect(surplus.status == 66 && surplus.errors.contains("1 (the newest) to 1"))
    #expect(try bench.run("remove", file, "1", "2").status == 66)
    #expect(try bench.run("recover", file, "1").status == 66)
    #expect(try output("versions", file).split(separator: "\n").count == 1)
    #expect(try bench.run("keep", bench.path("none"), file).status == 66)
    #expect(try output("versions", file).split(separator: "\n").count == 2)
  }

  @Test("Commands about versions wait no longer than they are told to, and work inside of an access")
  func waiting() throws {
    _ = try output("keep", file)
    let script =
      "for command in keep restore 'remove --'; do \"$FILECOORD\" --timeout 0.05 $command \"$ROOT/notes.txt\" 1; echo $?; done"
    let inner = try bench.run("write", file, "--", "env", "-u", "FILE_COORDINATION_ACCESS", "sh", "-c", script)
    #expect(inner.output.split(separator: "\n") == ["75", "75", "75"], "\(inner.output) \(inner.errors)")
    let others =
      "\"$FILECOORD\" --timeout 0 keep \"$ROOT/notes.txt\"; echo $?;"
      + "\"$FILECOORD\" --timeout 0.05 purge --larger-than 1 \"$ROOT/notes.txt\"; echo $?"
    let unheld = try bench.run("write", file, "--", "env", "-u", "FILE_COORDINATION_ACCESS", "sh", "-c", others)
    #expect(unheld.output.split(separator: "\n") == ["75", "75"], "\(unheld.output) \(unheld.errors)")
    let nested = try bench.run("write", file, "--", "sh", "-c", "\"$FILECOORD\" keep \"$ROOT/notes.txt\"")
    #expect(nested.status == 0, "\(nested.errors)")
  }

  @Test("A version with a changed byte isn't shown: 74")
  func damaged() throws {
    _ = try output("keep", file)
    let line = try output("versions", "--json", file)
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let path = try #require(object["path"] as? String)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.write(contentsOf: Data("0".utf8))
    try handle.close()
    let shown = try bench.run("show", file, "1")
    #expect(shown.status == 74 && shown.output == "" && shown.errors.contains(path))
    #expect(try bench.run("restore", file, "1").status == 74)
    #expect(bench.text("notes.txt") == "one\ntwo\n")
  }

  @Test("A failure to write, show or restore is reported, and every command has its help")
  func refusals() throws {
    _ = try output("keep", file)
    for name in ["versions", "keep", "show", "diff", "restore", "remove", "recover", "purge", "conflicts", "resolve"] {
      #expect(try output("help", name).contains("filecoord \(name)"))
    }
    for command in [
      "show \"$ROOT/notes.txt\" 1", "versions \"$ROOT/notes.txt\"", "tree",
      "query --in \"$ROOT\" \"kMDItemFSName LIKE '*'\"",
    ] {
      let script = try bench.startScript("\"$FILECOORD\" \(command) > /dev/full")
      #expect(try script.end() == 74, "\(command)")
      #expect(script.errors.text.contains("couldn't write all of the output"), "\(script.errors.text)")
    }
    let live = try bench.run("keep", "--live", file)
    #expect(live.status == 66 && live.errors.contains("below a directory") && live.errors.contains("'filecoord keep'"))
    let gone = try bench.run("keep", bench.path("none"))
    #expect(gone.errors.contains("'filecoord versions --deleted' finds its versions"))
    // Another file has the name that a version would give to this one.
    try FileManager.default.moveItem(atPath: file, toPath: bench.path("notes.md"))
    #expect(try output("versions", bench.path("notes.md")).split(separator: "\n").count == 1)
    try bench.makeFile("notes.txt", "another")
    let occupied = try bench.run("restore", bench.path("notes.md"))
    #expect(occupied.status == 73 && occupied.errors.contains("Move that away"))
    #expect(bench.text("notes.txt") == "another" && bench.text("notes.md") == "one\ntwo\n")
    try FileManager.default.createSymbolicLink(atPath: bench.path("link"), withDestinationPath: "notes.txt")
    for name in ["keep", "versions"] {
      let refused = try bench.run(name, bench.path("link"))
      #expect(refused.status == 64 && !refused.errors.contains("usage:"), "\(refused.errors)")
    }
  }

  @Test("A file isn't restored over a directory, a link or a pipe, which stay as they are")
  func otherKinds() throws {
    _ = try output("keep", file)
    try FileManager.default.createDirectory(atPath: bench.path("d"), withIntermediateDirectories: false)
    try bench.makeFile("d/inner")
    let directory = try bench.run("restore", file, "1", "--to", bench.path("d"))
    #expect(directory.status == 73 && directory.errors.contains("is a directory, and the version is a file"))
    #expect(bench.text("d/inner") == "text\n")
    try FileManager.default.createSymbolicLink(atPath: bench.path("l"), withDestinationPath: "none")
    #expect(mkfifo(bench.path("p"), 0o600) == 0)
    for (name, reason) in [("l", "is a symbolic link to 'none'"), ("p", "is a pipe")] {
      let other = try bench.run("restore", file, "1", "--to", bench.path(name))
      #expect(other.status == 64 && other.errors.contains("'\(bench.path(name))' \(reason)"), "\(other.errors)")
    }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: bench.path("l")) == "none")
  }

  @Test(
    "Leftovers of a merge that was killed are removed by the next one, as soon as its command has ended, and nothing else"
  )
  func leftoversOfMerges() throws {
    _ = try output("keep", file)
    try bench.makeFile("notes.sync-conflict-20260102-030405-ABCDEFG.txt", "theirs\n")
    let temporary = bench.scratch.url.appending(path: "it's temporary").path
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    let foreign = temporary + "/filecoord-merge-file"
    try Data().write(to: URL(filePath: foreign))
    func directories() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: temporary).filter { $0 != "filecoord-merge-file" }
    }
    let resolve = "TMPDIR=\"$ROOT/../it's temporary\" exec \"$FILECOORD\" resolve --copies \"$ROOT/notes.txt\" --merge "
    #expect(mkfifo(bench.path("go"), 0o600) == 0)
    let merging = try bench.startScript(resolve + "'echo merging $$; read line < \"$ROOT/go\"'")
    let line = try merging.output.line { $0.hasPrefix("merging ") }
    let command = try #require(Int32(line.dropFirst("merging ".count)))
    merging.signal(SIGKILL)
    #expect(try directories().count == 1)
    // Its command is at work still.
    #expect(try bench.startScript(resolve + "'exit 3'").end() == 3)
    #expect(try directories().count == 1)
    #expect(kill(command, SIGKILL) == 0)
    // The pipe of its output is closed when it has ended.
    _ = try merging.end()
    #expect(try bench.startScript(resolve + "'cat {other} > {current}'").end() == 0)
    #expect(try directories() == [] && FileManager.default.fileExists(atPath: foreign))
    #expect(bench.text("notes.txt") == "theirs\n")
  }

  @Test(
    "'conflicts' names the leftovers of killed saves, and 'versions' makes versions of them, also of files that are gone"
  )
  func leftoversOfSaves() throws {
    try bench.makeFile(".notes.txt.abcdefgh.fcsave", "theirs\n")
    try bench.makeFile(".gone.txt.abcdefgh.fcsave", "gone\n")
    let told = try bench.run("conflicts", bench.root)
    #expect(told.status == 0 && told.output == "")
    let lines = told.errors.split(separator: "\n").filter { $0.contains("a killed save has left") }
    #expect(lines.count == 2 && lines.contains { $0.contains("'filecoord versions \(file)'") }, "\(told.errors)")
    let listing = try bench.run("versions", file)
    #expect(listing.status == 0 && listing.errors.contains("is a version now"), "\(listing.errors)")
    #expect(listing.output.split(separator: "\n").count == 1)
    #expect(try output("show", file, "1") == "theirs\n")
    let deleted = try output("versions", "--deleted", bench.root).split(separator: "\n")
    #expect(deleted.contains { $0.hasPrefix(bench.path("gone.txt")) && $0.hasSuffix("  1") }, "\(deleted)")
    let quiet = try bench.run("conflicts", bench.root)
    #expect(quiet.status == 0 && !quiet.errors.contains("a killed save"))
  }

  @Test("Bytes of names that aren't UTF-8 are shown as U+FFFD, and the version is found by its id")
  func otherEncodings() throws {
    let script = try bench.startScript(
      """
      cd "$ROOT"; name=$(printf 'a\\377'); echo bytes > "$name"
      "$FILECOORD" keep "$name" && "$FILECOORD" versions --json "$name"
      id=$("$FILECOORD" versions --json "$name" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
      "$FILECOORD" show "$name" "$id"
      """)
    #expect(try script.end() == 0, "\(script.errors.text)")
    #expect(script.output.lines.contains { $0.contains("\"name\":\"a\u{FFFD}\"") })
    #expect(script.output.lines.last == "bytes")
  }

  @Test("A deleted file comes back with the directories around it, also if a link is where it was")
  func deletedDirectories() throws {
    try FileManager.default.createDirectory(atPath: bench.path("d/e"), withIntermediateDirectories: true)
    let inner = try bench.makeFile("d/e/a", "inner")
    for path in [file, inner] { _ = try output("keep", path) }
    try FileManager.default.removeItem(atPath: bench.path("d"))
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "nowhere")
    let listed = try output("versions", "--deleted", bench.root)
    #expect(listed.contains(inner + "  ") && listed.contains(file + "  "))
    #expect(try output("restore", inner) == inner + "\n")
    #expect(bench.text("d/e/a") == "inner")
    #expect(try output("versions", inner).split(separator: "\n").count == 1)
  }

  @Test("A directory that moved keeps the histories in it, also if a link leads there from its old place")
  func linkedDirectory() throws {
    try FileManager.default.createDirectory(atPath: bench.path("d"), withIntermediateDirectories: true)
    _ = try output("keep", bench.makeFile("d/a", "1"))
    try FileManager.default.moveItem(atPath: bench.path("d"), toPath: bench.path("e"))
    try FileManager.default.createSymbolicLink(atPath: bench.path("d"), withDestinationPath: "e")
    #expect(try output("versions", bench.path("e/a")).split(separator: "\n").count == 1)
    #expect(try output("versions", bench.path("d/a")).split(separator: "\n").count == 1)
  }

  @Test("A folder isn't kept as one version unless '--package' says so")
  func folders() throws {
    try FileManager.default.createDirectory(atPath: bench.path("d"), withIntermediateDirectories: false)
    _ = try bench.makeFile("d/a", "1")
    let refused = try bench.run("keep", bench.path("d"))
    #expect(refused.status != 0 && refused.errors.contains("--package") && refused.errors.contains("keep --live"))
    _ = try output("keep", "--package", bench.path("d"))
    _ = try bench.makeFile("d/a", "2")
    _ = try output("restore", bench.path("d"))
    #expect(try String(contentsOfFile: bench.path("d/a"), encoding: .utf8) == "1")
  }

  @Test("Old versions are purged by rules, after a look at them")
  func purging() throws {
    for number in 1...4 {
      try bench.makeFile("notes.txt", "\(number)")
      _ = try output("keep", file)
    }
    #expect(try output("purge", file) == "")
    #expect(try output("purge", "--keep", "1", "--dry-run", file).split(separator: "\n").count == 3)
    #expect(try output("versions", file).split(separator: "\n").count == 4)
    #expect(try output("purge", "--larger-than", "3", file).split(separator: "\n").count == 1)
    #expect(try output("purge", "--older-than", "1d", "--keep", "2", file).split(separator: "\n").count == 1)
    #expect(try output("show", file, "2") == "3")
    #expect(try bench.run("purge", "--older-than", "soon", file).status == 64)
    #expect(try bench.run("purge", "--larger-than", "-1", file).status == 64)
    #expect(try bench.run("purge", "--deleted", bench.root).status == 64)
  }

  @Test("PP-3: The files whose versions take the most space are listed, as text and as JSON")
  func sizes() throws {
    _ = try output("keep", file)
    let large = try bench.makeFile("large", "1234567890")
    _ = try output("keep", large)
    _ = try output("keep", large)
    _ = try output("remove", large, "1")
    try FileManager.default.removeItem(atPath: large)
    let lines = try output("versions", "--sizes", bench.root).split(separator: "\n")
    #expect(lines.count == 2, "\(lines)")
    #expect(
      lines.first?.hasPrefix("10  1  ") == true && lines.first?.hasSuffix("  \(large)  (deleted, 1 removed)") == true,
      "\(lines)")
    #expect(lines.last?.hasPrefix("8  1  ") == true && lines.last?.hasSuffix("  \(file)") == true, "\(lines)")
    let json = try output("versions", "--sizes", "--json", file)
    #expect(
      json.hasPrefix("{\"path\":\"\(file)\",\"missed\":null,\"stored\":8,\"size\":8,\"versions\":1,\"removed\":0,"),
      "\(json)")
    #expect(try output("versions", "--sizes", bench.path("none")) == "")
    #expect(try bench.run("versions", "--sizes", "--deleted", bench.root).status == 64)
  }

  @Test("Deleted files are listed, and restored with their histories, or forgotten")
  func deleted() throws {
    _ = try output("keep", file)
    try FileManager.default.removeItem(atPath: file)
    let listed = try output("versions", "--deleted", bench.root)
    #expect(listed.hasPrefix(file + "  ") && listed.hasSuffix("  1\n"))
    #expect(try output("restore", file) == file + "\n")
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    #expect(try output("versions", file).split(separator: "\n").count == 1)
    #expect(try output("versions", "--deleted", bench.root) == "")
    try FileManager.default.removeItem(atPath: file)
    #expect(try output("purge", "--deleted", "--older-than", "0d", bench.root).split(separator: "\n").count == 1)
    #expect(try output("versions", "--deleted", bench.root) == "")
    #expect(try bench.run("restore", file).status == 66)
  }

  @Test(
    "Everything below a directory is kept: a file that 'sed -i' ruins is restored, and 'watch' reports each version")
  func keptDirectory() throws {
    let keeper = try bench.start("keep", "--live", bench.root)
    _ = try keeper.errors.line { $0.hasPrefix("keeping versions below ") }
    let watcher = try bench.watch("")
    let script = try bench.startScript("sed -i 's/.*//' \"$ROOT/notes.txt\"")
    #expect(try script.end() == 0)
    _ = try keeper.output.line { $0.hasPrefix(self.file) && $0.hasSuffix("  2") }
    _ = try watcher.output.line { $0.contains("version inside gained") && $0.contains(self.file) }
    #expect(bench.text("notes.txt") == "\n\n")
    #expect(try output("restore", file, "2") == file + "\n")
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    keeper.signal(SIGTERM)
    #expect(try keeper.end() == 0)
    watcher.signal(SIGTERM)
    #expect(try watcher.end() == 0)
  }

  @Test("A kept directory that's moved away is reported, and one that comes to its path is kept")
  func movedDirectory() throws {
    let directory = bench.path("d")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    try bench.makeFile("d/a", "1")
    let keeper = try bench.start("keep", "--live", directory)
    _ = try keeper.errors.line { $0 == "keeping versions below \(directory)" }
    try FileManager.default.moveItem(atPath: directory, toPath: bench.path("aside"))
    _ = try keeper.errors.line { $0.hasPrefix(directory + ": ") && $0.contains("no versions are kept until") }
    try bench.makeFile("aside/a", "23")
    try FileManager.default.moveItem(atPath: bench.path("aside"), toPath: directory)
    _ = try keeper.output.line { $0 == bench.path("d/a") + "  2" }
    _ = try keeper.errors.line { $0 == "keeping versions below \(directory)" }
    keeper.signal(SIGTERM)
    #expect(try keeper.end() == 0)
  }

  @Test("A directory below that can't be read is reported before the others are said to be kept")
  func unreadableDirectory() throws {
    let directory = bench.path("closed")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    #expect(chmod(directory, 0) == 0)
    defer { chmod(directory, 0o700) }
    // Root reads everything, unless it gives that up.
    let keeper = try bench.startScript(
      """
      without=
      if [ "$(id -u)" -eq 0 ]; then without="setpriv --bounding-set=-dac_override,-dac_read_search"; fi
      exec $without "$FILECOORD" keep --live "$ROOT"
      """)
    _ = try keeper.errors.line { $0.hasPrefix("keeping versions below ") }
    #expect(
      keeper.errors.text.contains("A directory below it can't be read, so no versions are kept of what is inside"))
    _ = try keeper.output.line { $0.hasPrefix(self.file) }
    keeper.signal(SIGTERM)
    #expect(try keeper.end() == 0)
  }

  @Test(
    "Directories beyond the limit of watches are reported before the others are said to be kept, and their files are kept"
  )
  func tooFewWatches() throws {
    for number in 0..<8 {
      try FileManager.default.createDirectory(atPath: bench.path("d\(number)"), withIntermediateDirectories: false)
      try bench.makeFile("d\(number)/a", "\(number)")
    }
    // The limit of a user in a namespace of its own, where that's allowed.
    let limited = "unshare -Ur sh -c 'echo 6 > /proc/sys/user/max_inotify_watches && exec \"$@\"' -"
    if try bench.startScript(limited + " true").end() != 0 { return }
    let keeper = try bench.startScript("exec " + limited + " \"$FILECOORD\" keep --live \"$ROOT\"")
    _ = try keeper.errors.line { $0.hasPrefix("keeping versions below ") }
    #expect(keeper.errors.text.contains("aren't watched, but looked at from time to time"), "\(keeper.errors.text)")
    for number in 0..<8 { _ = try keeper.output.line { $0.hasPrefix(bench.path("d\(number)/a") + "  ") } }
    keeper.signal(SIGTERM)
    #expect(try keeper.end() == 0)
  }

  /// The record of the first version of a list in JSON.
  private func record(of list: String) throws -> String {
    let line = try #require(list.split(separator: "\n").first)
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let contents = URL(filePath: try #require(object["path"] as? String)).deletingLastPathComponent()
    return contents.deletingLastPathComponent().appending(path: "record").path
  }

  @Test("A version without its record, and a removed one with another record, are named: 74")
  func damagedRecords() throws {
    _ = try output("keep", file)
    try bench.makeFile("notes.txt", "other")
    _ = try output("keep", file)
    let missing = try record(of: output("versions", "--json", file))
    try FileManager.default.removeItem(atPath: missing)
    let listed = try bench.run("versions", file)
    #expect(listed.status == 74 && listed.errors.contains(missing), "\(listed.errors)")
    #expect(listed.output.split(separator: "\n").count == 1)
    _ = try output("remove", file, "1")
    let changed = try record(of: bench.run("versions", "--removed", "--json", file).output)
    try Data("nothing".utf8).write(to: URL(filePath: changed))
    let removed = try bench.run("versions", "--removed", file)
    #expect(removed.status == 74 && removed.errors.contains(changed) && removed.output == "", "\(removed.errors)")
  }

  @Test("A restoration without a number says that a newer version is damaged")
  func restoringBesideDamage() throws {
    for text in ["one\n", "two\n"] {
      try bench.makeFile("notes.txt", text)
      _ = try output("keep", file)
    }
    let changed = try record(of: output("versions", "--json", file))
    let intact = try bench.run("restore", file)
    #expect(intact.status == 0 && intact.errors == "")
    try bench.makeFile("notes.txt", "three\n")
    try Data("nothing".utf8).write(to: URL(filePath: changed))
    let restored = try bench.run("restore", file)
    #expect(restored.status == 0 && restored.errors.contains(changed), "\(restored.errors)")
    #expect(bench.text("notes.txt") == "one\n")
  }

  @Test("A conflict of packages is resolved by '--keep', and '--merge' says so")
  func packages() throws {
    for name in ["p.pages", "p.sync-conflict-20260102-030405-ABCDEFG.pages"] {
      try FileManager.default.createDirectory(atPath: bench.path(name), withIntermediateDirectories: false)
    }
    try bench.makeFile("p.pages/text", "one\n")
    try bench.makeFile("p.sync-conflict-20260102-030405-ABCDEFG.pages/text", "two\n")
    let package = bench.root + "/p.pages"
    let merged = try bench.run("resolve", package, "--copies", "--merge", "true")
    #expect(merged.status == 1 && merged.errors.contains("Use '--keep'"), "\(merged.errors)")
    #expect(bench.text("p.pages/text") == "one\n")
    #expect(try bench.run("conflicts", "--copies", bench.root).status == 1)
    _ = try output("resolve", package, "--copies", "--keep", "1")
    #expect(bench.text("p.pages/text") == "two\n")
  }

  @Test("Conflict copies are listed, also live, and merged by a program; a merge that fails changes nothing")
  func conflicts() throws {
    _ = try output("keep", file)
    let live = try bench.start("conflicts", "--copies", "--live", bench.root)
    _ = try live.errors.line { $0.hasPrefix("watching ") }
    #expect(try output("conflicts", bench.root, "--copies") == "")
    try bench.makeFile("notes.txt", "one\ntwo\nmine\n")
    try bench.makeFile("notes.sync-conflict-20260102-030405-ABCDEFG.txt", "theirs\none\ntwo\n")
    _ = try live.output.line { $0 == "1  \(self.file)" }
    let listed = try bench.run("conflicts", "--copies", bench.root)
    #expect(listed.status == 1 && listed.output == "1  \(file)\n")
    // Not asked for.
    #expect(try output("conflicts", bench.root) == "")
    let failed = try bench.run("resolve", file, "--copies", "--merge", "exit 3")
    #expect(failed.status == 3 && failed.errors.contains("is as it was"))
    #expect(bench.text("notes.txt") == "one\ntwo\nmine\n")
    // An empty variable of a script isn't a merge.
    for empty in ["", " \n"] {
      let none = try bench.run("resolve", file, "--copies", "--merge", empty)
      #expect(none.status == 64 && none.errors.contains("--merge"), "\(none.errors)")
    }
    #expect(try bench.run("conflicts", "--copies", bench.root).status == 1)
    let merge = "cat {other} > {current}; tail -n 1 {base} >> {current}"
    #expect(try output("resolve", file, "--copies", "--merge", merge) == "")
    #expect(bench.text("notes.txt")?.hasPrefix("theirs\none\ntwo\n") == true)
    _ = try live.output.line { $0 == "0  \(self.file)" }
    // The texts of which the merge was made can still be shown.
    #expect(try output("versions", file).contains("(resolved)"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: bench.root) == ["notes.txt"])
    let none = try bench.run("resolve", file, "--keep", "newest")
    #expect(none.status == 1 && none.errors.contains("has no conflict"))
    #expect(try bench.run("resolve", file).status == 64)
    live.signal(SIGTERM)
    #expect(try live.end() == 0)
  }
}
