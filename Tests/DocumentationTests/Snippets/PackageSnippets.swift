import FilePackages
import Foundation
import SystemInterface
import Testing

@Suite("The code about packages")
struct PackageSnippets {
  @Test("The example of the overview: the second save writes the text alone")
  func writing() throws {
    let place = try Place()
    let folder = SystemPath(place.url.resolvingSymlinksInPath().path)
    let picture = SystemPath(try place.file("1.png", String(repeating: "x", count: 100_000)).path)
    let path = folder.appending("letter")
    // snippet: packages-writing
    let text = SystemPath("text.txt")
    var letter = PackageTree()
    try letter.update(text, Array("Dear Ada".utf8))
    try letter.makeDirectory(SystemPath("pictures"))
    try letter.update(SystemPath("pictures/1.png"), contentsOf: picture)
    letter = try letter.write(to: path).tree

    try letter.update(text, Array("Dear Bob".utf8))
    let report = try letter.write(to: path).report
    // end
    #expect(report.bytesWritten == 8)
    let read = try PackageTree(openingPackageAt: path)
    #expect(try read.contents(of: text) == Array("Dear Bob".utf8))
    #expect(try read.contents(of: SystemPath("pictures/1.png")).count == 100_000)
  }
}
