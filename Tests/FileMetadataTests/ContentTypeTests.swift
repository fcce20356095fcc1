import FileWatching
import Foundation
import MetadataPredicates
import SystemInterface
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Types of files")
struct ContentTypeTests {
  /// A database of a test.
  private static func database(languages: [String] = []) throws -> (TemporaryTree, MimeDatabase) {
    let tree = try TemporaryTree()
    for name in ["own", "shared", "shared/image", "own/text"] { try tree.makeDirectory(name) }
    try tree.write(
      "shared/globs2",
      """
      # a comment
      50:image/png:*.png
      50:application/gzip:*.gz
      50:application/x-compressed-tar:*.tar.gz
      50:text/x-makefile:makefile
      10:text/x-readme:readme*
      50:text/x-c++src:*.C:cs
      50:text/x-csrc:*.c:cs
      50:application/x-troff-man:*.[1-9]
      60:application/x-sharedlib:*.so.[0-9]*
      50:text/x-lines:*.lines
      40:text/x-less:*.lines
      50:application/x-word:*.odd
      50:audio/x-new:*.new
      broken
      """)
    try tree.write("own/globs2", "55:text/x-mine:*.lines\n")
    try tree.write("shared/aliases", "application/x-word application/x-wordy\n")
    try tree.write("shared/subclasses", "application/x-wordy application/zip\n")
    try tree.write(
      "shared/image/png.xml",
      "<mime-type><comment>PNG &amp; image</comment><comment xml:lang=\"de\">PNG-Bild</comment></mime-type>")
    return (tree, MimeDatabase(["own", "shared", "none"].map { tree.path($0) }, languages: languages))
  }

  @Test(
    "A name has the type of the heaviest, and then the longest pattern",
    arguments: [
      ("a.png", "image/png"), ("A.PNG", "image/png"), ("x.tar.gz", "application/x-compressed-tar"),
      ("x.gz", "application/gzip"), ("Makefile", "text/x-makefile"), ("README.first", "text/x-readme"),
      ("a.C", "text/x-c++src"), ("a.c", "text/x-csrc"), ("ls.1", "application/x-troff-man"),
      ("libc.so.6", "application/x-sharedlib"), ("a.lines", "text/x-mine"), ("é.png", "image/png"), ("a.none", nil),
      ("", nil), (".", nil), ("png", nil),
    ])
  func patterns(name: String, type: String?) throws {
    let (tree, database) = try Self.database()
    withExtendedLifetime(tree) { #expect(database.type(named: name) == type) }
  }

  @Test(
    "Files have the nearest type that has an identifier of Apple's",
    arguments: [
      ("a.png", "public.png"), ("x.tar.gz", "org.gnu.gnu-zip-archive"), ("Makefile", "public.make-source"),
      ("README", "public.plain-text"), ("a.odd", "public.zip-archive"), ("a.new", "public.audio"),
      ("ls.1", "public.data"), ("a.swift", "public.swift-source"), ("libc.so.6", "public.executable"),
      ("nothing", "public.data"), (".hidden", "public.data"),
    ])
  func identifiers(name: String, type: String) throws {
    let (tree, database) = try Self.database()
    withExtendedLifetime(tree) {
      #expect(ContentTypes.type(of: .regular, named: name, isExecutable: false, in: database) == type)
    }
    // Without a database, the types of Apple's extensions remain.
    let none = MimeDatabase([])
    #expect(none.isEmpty && ContentTypes.kind(of: .regular, named: name, in: none) == nil)
    let known = ["a.png": "public.png", "a.swift": "public.swift-source", "x.tar.gz": "org.gnu.gnu-zip-archive"]
    #expect(ContentTypes.type(of: .regular, named: name, isExecutable: false, in: none) == known[name] ?? "public.data")
  }

  @Test("Kinds are what the database calls them, in the language that's wanted, and missing where it doesn't")
  func kinds() throws {
    for (languages, expected) in [([], "PNG & image"), (["de_CH", "de"], "PNG-Bild"), (["fr"], "PNG & image")] {
      let (tree, database) = try Self.database(languages: languages)
      withExtendedLifetime(tree) {
        #expect(ContentTypes.kind(of: .regular, named: "a.png", in: database) == expected)
        #expect(ContentTypes.kind(of: .regular, named: "a.gz", in: database) == nil)
        #expect(ContentTypes.kind(of: .regular, named: "a", in: database) == nil)
        #expect(ContentTypes.kind(of: .directory, named: "a", in: database) == nil)
      }
    }
  }

  @Test("Directories of the database and languages come from the environment")
  func environment() {
    let home = MimeDatabase.directories { ["HOME": "/h"][$0] }
    #expect(home == ["/h/.local/share/mime", "/usr/local/share/mime", "/usr/share/mime"].map { SystemPath($0) })
    let chosen = MimeDatabase.directories { ["XDG_DATA_HOME": "/x", "XDG_DATA_DIRS": "/y::relative"][$0] }
    #expect(chosen == ["/x/mime", "/y/mime"].map { SystemPath($0) })
    #expect(MimeDatabase.languages { ["LC_ALL": "", "LANG": "de_CH.UTF-8"][$0] } == ["de_CH", "de"])
    #expect(MimeDatabase.languages { _ in nil }.isEmpty)
  }

  @Test(
    "Documents, sound, disk images and packages have Apple's types, and are what queries ask for",
    arguments: [
      ("a.m4a", FileKind.regular, "com.apple.m4a-audio", ["public.audio", "public.mpeg-4-audio", "public.data"]),
      ("a.pages", .regular, "com.apple.iwork.pages.sffpages", ["public.composite-content", "public.data"]),
      ("a.pages", .directory, "com.apple.iwork.pages.pages", ["com.apple.package", "public.composite-content"]),
      ("a.key", .regular, "com.apple.iwork.keynote.sffkey", ["public.presentation", "public.data"]),
      ("a.epub", .regular, "org.idpf.epub-container", ["public.composite-content", "public.data"]),
      ("a.epub", .directory, "org.idpf.epub-folder", ["com.apple.package", "public.directory"]),
      (
        "a.DMG", .regular, "com.apple.disk-image-udif", ["com.apple.disk-image", "public.disk-image", "public.archive"]
      ),
      ("a.iso", .regular, "public.iso-image", ["public.disk-image", "public.data"]),
      ("a.sparsebundle", .directory, "com.apple.disk-image-sparsebundle", ["public.disk-image", "com.apple.package"]),
      ("a.rtfd", .directory, "com.apple.rtfd", ["com.apple.package", "public.directory", "public.composite-content"]),
      ("a.rtfd", .regular, "public.data", ["public.item"]), ("a.d", .directory, "public.folder", ["public.directory"]),
    ])
  func documents(name: String, kind: FileKind, type: String, others: [String]) {
    #expect(ContentTypes.type(of: kind, named: name, isExecutable: false, in: MimeDatabase([])) == type)
    let tree = ContentTypes.tree(of: type)
    #expect(others.allSatisfy(tree.contains) && tree.contains("public.item"), "\(tree)")
  }

  @Test("URLs of files and programs are in the tree of types")
  func identifiersWithoutNames() {
    #expect(UniformTypeTree.standard.conforms("public.file-url", to: "public.url"))
    #expect(UniformTypeTree.standard.conforms("public.unix-executable", to: "public.executable"))
    #expect(MediaTypes.identifier("application/x-executable") == "public.unix-executable")
  }

  @Test("Each type that files can have is data or a directory in the tree of types, and an item")
  func tree() throws {
    let names = [
      "a.css", "a.ics", "a.eml", "a.avif", "a.xz", "a.php", "a.ppt", "a.md", "a.swift", "a.png", "a.mp4", "a.jar",
    ]
    for name in names {
      let tree = ContentTypes.tree(
        of: ContentTypes.type(of: .regular, named: name, isExecutable: false, in: MimeDatabase([])))
      #expect(tree.count > 2 && tree.contains("public.data") && tree.contains("public.item"), "\(name): \(tree)")
      #expect(Set(tree).count == tree.count)
    }
    #expect(ContentTypes.tree(of: "public.folder") == ["public.folder", "public.directory", "public.item"])
    #expect(
      ContentTypes.tree(of: "public.plain-text")
        == ["public.plain-text", "public.text", "public.content", "public.data", "public.item"])
    #expect(ContentTypes.tree(of: "nobody.knows") == ["nobody.knows"])
  }

  @Test(
    "Patterns match as in glob(7)",
    arguments: [
      ("*", "", true), ("a*b*c", "axxbyybc", true), ("a*b", "axc", false), ("[a-c]?", "bz", true),
      ("[!a]", "a", false), ("[!a]", "b", true), ("[]]", "]", true), ("[x", "[x", true), ("?", "", false),
      ("*.so.[0-9]*", "l.so.10.2", true), ("**", "anything", true),
    ])
  func globs(pattern: String, text: String, isMatch: Bool) { #expect(Glob(pattern).matches(text) == isMatch) }

  @Test(
    "A file that somebody may run, and of which the name says nothing, is a program",
    arguments: [ScopeOptions.GatheringDepth.attributes, .names])
  func executables(depth: ScopeOptions.GatheringDepth) async throws {
    let tree = try TemporaryTree()
    for name in ["tool", "plain", "script.py"] { try tree.write(name) }
    for name in ["tool", "script.py"] { try #require(chmod(tree.path(name).description, 0o750) == 0) }
    try tree.makeDirectory("folder")
    let query = try MetadataQuery(
      .contentType == "public.unix-executable", in: [URL(filePath: tree.root.description)], batching: .immediate,
      options: ScopeOptions(gatheringDepth: depth))
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    #expect(live.names == ["tool"])
    try #require(chmod(tree.path("plain").description, 0o701) == 0)
    while live.items.count != 2 { _ = try await live.next() }
    try #require(chmod(tree.path("tool").description, 0o600) == 0)
    while live.items.count != 1 { _ = try await live.next() }
    #expect(live.names == ["plain"])
    guard case .array(let types) = live.items[0].value(forAttribute: "kMDItemContentTypeTree") else {
      Issue.record("no tree of types")
      return
    }
    #expect(types.contains("public.executable"))
    query.stop()
  }
}
