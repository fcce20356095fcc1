import SystemInterface
import Testing

@Suite("A path is bytes, and its parts are cut at slashes")
struct SystemPathTests {
  @Test(
    "Parent and last component follow the slashes",
    arguments: [
      ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("a", ".", "a"), ("a/b", "a", "b"),
      ("/a/b/", "/a", "b"), ("/a//b", "/a", "b"), ("//a", "/", "a"), ("", ".", ""),
    ])
  func parts(path: String, parent: String, last: String) {
    #expect(SystemPath(path).parent == SystemPath(parent))
    #expect(SystemPath(path).lastComponent == SystemPath(last))
  }

  @Test("The path of an open directory tells its descriptor", arguments: [0, 7, 1_048_576])
  func openDirectory(number: Int32) {
    let descriptor = FileDescriptor(rawValue: number)
    #expect(SystemPath(openDirectory: descriptor).openDirectory == descriptor)
  }

  @Test(
    "Any other path tells none",
    arguments: [
      "/proc/self/fd/7", "/proc/self/fd/7/./x", "/proc/self/fd/7/..", "/proc/self/fd/./.", "/proc/self/fd/.",
      "/proc/self/fd/-7/.", "/proc/self/fd/7x/.", "/proc/self/fd/99999999999/.", "/x/proc/self/fd/7/.", "",
    ])
  func otherPaths(path: String) { #expect(SystemPath(path).openDirectory == nil) }

  @Test(
    "Appending puts exactly one slash between two paths",
    arguments: [("/a", "b", "/a/b"), ("/", "b", "/b"), ("/a/", "b", "/a/b"), ("", "b", "b"), ("/a", "/b", "/b")])
  func appending(path: String, component: String, joined: String) {
    #expect(SystemPath(path).appending(component) == SystemPath(joined))
  }

  @Test(
    "A path is inside another one only at a component boundary",
    arguments: [
      ("/a/b", "/a", true), ("/ab", "/a", false), ("/a", "/a", false), ("/a", "/", true), ("/", "/", false),
    ])
  func nesting(path: String, ancestor: String, expected: Bool) {
    #expect(SystemPath(path).isInside(SystemPath(ancestor)) == expected)
  }

  @Test("Bytes that aren't UTF-8 are kept, compared as they are, and shown as U+FFFD")
  func arbitraryBytes() {
    let path = SystemPath(bytes: [0x2F, 0xFF])
    #expect(path.bytes == [0x2F, 0xFF])
    #expect(path.description == "/\u{FFFD}")
    #expect(path != SystemPath("/\u{FFFD}"))
    #expect(SystemPath("/a") < path)
  }

  @Test("Two spellings of one letter are two paths")
  func noNormalisation() {
    #expect(SystemPath("\u{E9}") != SystemPath("e\u{301}"))
    #expect(Set([SystemPath("\u{E9}"), SystemPath("e\u{301}"), SystemPath("\u{E9}")]).count == 2)
  }
}
