import Foundation
import FoundationXML
import Testing
import benchmarks

@Suite("Plot")
struct PlotTests {
  /// Elements and texts of a document, as a parser sees them.
  private final class Reader: NSObject, XMLParserDelegate {
    var elements: [(name: String, attributes: [String: String])] = []
    var texts: [String] = []
    private var isInText = false

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      elements.append((name, attributes))
      isInText = name == "text"
      if isInText { texts.append("") }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
      isInText = false
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
      if isInText { texts[texts.count - 1] += text }
    }
  }

  private func read(_ report: Report) throws -> Reader {
    let reader = Reader()
    let parser = XMLParser(data: Data(Plot(report, title: "Claims < \"others\"").svg.utf8))
    parser.delegate = reader
    try #require(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
    return reader
  }

  @Test("The drawing is well-formed, and shows the names as they are")
  func wellFormed() throws {
    let reader = try read(Samples.report)
    #expect(reader.elements.first?.name == "svg")
    #expect(reader.texts.contains("Claims < \"others\""))
    #expect(reader.texts.contains("2 threads & one item"))
    #expect(reader.texts.contains("ours <&>"))
    #expect(reader.texts.contains("2,000"))
  }

  @Test("Bars grow with the logarithm, start together, and stay inside of the drawing")
  func bars() throws {
    let reader = try read(Samples.report)
    let bars = reader.elements.filter { $0.name == "rect" }.map(\.attributes).filter { $0["height"] == "13" }
    try #require(bars.count == 2)
    #expect(bars[0]["class"] == "ours")
    #expect(bars[1]["class"] == "peer noisy")
    #expect(bars[0]["x"] == bars[1]["x"])
    let lengths = try bars.map { try #require(Double($0["width"] ?? "")) }
    // From 10 ns: 20 ns is log 2 decades away, 2,000 ns is log 200.
    #expect(abs(lengths[1] / lengths[0] - 2.301_03 / 0.301_03) < 0.02)
    let width = try #require(Double(reader.elements[0].attributes["width"] ?? ""))
    for bar in bars {
      let end = (Double(bar["x"] ?? "") ?? .infinity) + (Double(bar["width"] ?? "") ?? .infinity)
      #expect(end < width)
    }
  }

  @Test("Rows outside of the comparison are left out")
  func otherRows() throws {
    let reader = try read(Samples.report)
    #expect(!reader.texts.contains("memory"))
  }

  @Test("A report without results gives a drawing without bars")
  func empty() throws {
    let reader = try read(Report(machine: Samples.machine))
    #expect(reader.elements.filter { $0.attributes["height"] == "13" }.isEmpty)
  }
}
