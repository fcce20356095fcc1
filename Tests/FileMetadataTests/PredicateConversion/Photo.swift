import FoundationEssentials
import MetadataPredicates

/// Something with properties of all kinds.
struct Photo: Sendable {
  struct Size: Sendable { var width = 0, height = 0 }
  struct Camera: Sendable { var name = "", isDigital = true }
  struct Person: Sendable { var name = "", age = 0, nicknames: [String] = [] }

  var name = ""
  var size = 0
  var rating = 0.0
  var title: String?
  var isHidden = false
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var tags: [String] = []
  var keywords: Set<String> = []
  var scores: [Int] = []
  var exposure: [String: Int] = [:]
  var pages: [Int: String] = [:]
  var dimensions = Size()
  var camera: Camera?
  var people: [Person] = []
  var payload: any Sendable = 0
  /// No attribute is named for it.
  var secret = 0
}

extension Photo {
  static var attributes: [AnyKeyPath: String] {
    [
      \Photo.name: "name", \Photo.size: "size", \Photo.rating: "rating", \Photo.title: "title",
      \Photo.isHidden: "hidden", \Photo.date: "date", \Photo.tags: "tags", \Photo.keywords: "keywords",
      \Photo.scores: "scores", \Photo.exposure: "exposure", \Photo.pages: "pages", \Photo.payload: "payload",
      \Photo.dimensions.width: "width",
      \Photo.camera: "camera", \Photo.Camera.name: "model", \Photo.Camera.isDigital: "digital",
      \Photo.people: "people", \Photo.Person.name: "called", \Photo.Person.age: "age",
      \Photo.Person.nicknames: "nicknames",
    ]
  }

  /// The attributes as an item has them.
  var attributes: MetadataValue {
    [
      "name": .string(name), "size": .integer(Int64(size)), "title": title.metadataValue, "hidden": .bool(isHidden),
      // As a file system has them: whole numbers where the property has a fraction.
      "rating": Int64(exactly: rating).map(MetadataValue.integer) ?? .real(rating),
      "date": .date(MetadataDate(secondsSince2001: date.timeIntervalSinceReferenceDate)),
      "tags": tags.metadataValue, "keywords": .set(Set(keywords.map(MetadataValue.string))),
      "scores": scores.metadataValue, "exposure": .dictionary(exposure.mapValues { .integer(Int64($0)) }),
      "width": .integer(Int64(dimensions.width)),
      "camera": camera.map { ["model": .string($0.name), "digital": .bool($0.isDigital)] } ?? .null,
      "people": .array(
        people.map {
          ["called": .string($0.name), "age": .integer(Int64($0.age)), "nicknames": $0.nicknames.metadataValue]
        }),
    ]
  }

  static let samples = [
    Photo(),
    Photo(
      name: "Étude 10.md", size: 12, rating: 5, title: "family", isHidden: true,
      date: Date(timeIntervalSinceReferenceDate: 86_400), tags: ["family", "sea"], keywords: ["a", "b"],
      scores: [3, 1, 2], exposure: ["iso": 100], dimensions: Size(width: 640, height: 480),
      camera: Camera(name: "Leica", isDigital: false),
      people: [Person(name: "Ada", age: 36, nicknames: ["A"]), Person(name: "Bo", age: 12)]),
    Photo(
      name: "readme", size: -7, rating: 2.5, title: "", tags: ["sea"], keywords: ["c"], scores: [9],
      exposure: ["iso": 400, "f": 8], dimensions: Size(width: 7, height: 7), camera: Camera(name: ""),
      people: [Person(name: "", age: 12, nicknames: ["x", "y"])]),
    Photo(
      name: "E\u{301}tude", size: 5, rating: 0.5, title: "E\u{301}tude", scores: [1, 1], people: [Person(age: 70)]),
  ]
}
