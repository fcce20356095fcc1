import FileCoordination
import FileCoordinationTesting
import FileMetadata
import MetadataPredicates
import Testing

// Other programs keep these numbers: a new code gets a new one, and one that's gone takes its number with it.

@Suite("Numbers and names of codes stay the same in all versions")
struct StableNumbersTests {
  @Test("Errors of coordination")
  func fileCoordinationErrors() {
    let table: [(Int, FileCoordinationError.Code, String)] = [
      (1, .cancelled, "cancelled"),
      (2, .timedOut, "timedOut"),
      (3, .presenterUnresponsive, "presenterUnresponsive"),
      (4, .presenterFailed, "presenterFailed"),
      (5, .evictionRefused, "evictionRefused"),
      (6, .answerDropped, "answerDropped"),
      (7, .deadlock, "deadlock"),
      (8, .notAFileURL, "notAFileURL"),
      (9, .relativeURL, "relativeURL"),
      (10, .invalidPath, "invalidPath"),
      (11, .pathTooLong, "pathTooLong"),
      (12, .symbolicLinkLoop, "symbolicLinkLoop"),
      (13, .conflictingOptions, "conflictingOptions"),
      (14, .optionNotAllowed, "optionNotAllowed"),
      (15, .noItems, "noItems"),
      (16, .tooManyItems, "tooManyItems"),
      (17, .messageTooLong, "messageTooLong"),
      (18, .limitExceeded, "limitExceeded"),
      (19, .invalidPurposeIdentifier, "invalidPurposeIdentifier"),
      (20, .presenterWithoutURL, "presenterWithoutURL"),
      (21, .accessEnded, "accessEnded"),
      (22, .notWritable, "notWritable"),
      (23, .moveNotCovered, "moveNotCovered"),
      (24, .destinationExists, "destinationExists"),
      (25, .domainUnreachable, "domainUnreachable"),
      (26, .accessLost, "accessLost"),
      (27, .uncoordinatedChangesMissed, "uncoordinatedChangesMissed"),
      (28, .fileSystem, "fileSystem"),
      (29, .outerAccessEnded, "outerAccessEnded"),
      (30, .invalidAccessEnvironment, "invalidAccessEnvironment"),
    ]
    #expect(table.map(\.0) == FileCoordinationError.Code.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Errors of queries")
  func metadataQueryErrors() {
    let table: [(Int, MetadataQueryError.Code, String)] = [
      (1, .invalidPredicate, "invalidPredicate"),
      (2, .noScope, "noScope"),
      (3, .invalidScope, "invalidScope"),
      (4, .unsortableAttribute, "unsortableAttribute"),
      (5, .watchingUnavailable, "watchingUnavailable"),
    ]
    #expect(table.map(\.0) == MetadataQueryError.Code.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Warnings about predicates")
  func predicateWarnings() {
    let table: [(Int, PredicateWarning.Code, String)] = [
      (1, .impossibleComparison, "impossibleComparison"),
      (2, .unknownAttribute, "unknownAttribute"),
    ]
    #expect(table.map(\.0) == PredicateWarning.Code.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Obstacles to a conversion")
  func predicateConversionErrors() {
    let table: [(Int, PredicateConversionError.Code, String)] = [
      (1, .expression, "expression"),
      (2, .property, "property"),
      (3, .constant, "constant"),
    ]
    #expect(table.map(\.0) == PredicateConversionError.Code.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Errors of predicates")
  func metadataPredicateErrors() {
    let table: [(Int, MetadataPredicateError.Code, String)] = [
      (1, .syntax, "syntax"),
      (2, .unsupported, "unsupported"),
      (3, .unknownFunction, "unknownFunction"),
      (4, .arguments, "arguments"),
      (5, .regularExpression, "regularExpression"),
      (6, .operands, "operands"),
      (7, .unboundVariable, "unboundVariable"),
      (8, .limit, "limit"),
    ]
    #expect(table.map(\.0) == MetadataPredicateError.Code.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Findings about presenters")
  func conformanceFindings() {
    let table: [(Int, ConformanceFinding.Kind, String)] = [
      (1, .neverAnswered, "neverAnswered"),
      (2, .refused, "refused"),
      (3, .answerDropped, "answerDropped"),
      (4, .deadlock, "deadlock"),
      (5, .didNotFinish, "didNotFinish"),
      (6, .savedItemIsUnreadable, "savedItemIsUnreadable"),
      (7, .changesNotSaved, "changesNotSaved"),
      (8, .wrongLocation, "wrongLocation"),
      (9, .lostAfterMove, "lostAfterMove"),
      (10, .resurrectedItem, "resurrectedItem"),
      (11, .unstableDeclaration, "unstableDeclaration"),
      (12, .unexpectedError, "unexpectedError"),
    ]
    #expect(table.map(\.0) == ConformanceFinding.Kind.allCases.map(\.number))
    for (number, code, name) in table {
      #expect(code.number == number && code.name == name && code.description == name)
    }
  }

  @Test("Processes tell each other codes by name, and a name that a later version made up is nobody's")
  func names() {
    for code in FileCoordinationError.Code.allCases { #expect(FileCoordinationError.Code(name: code.name) == code) }
    #expect(FileCoordinationError.Code(name: "") == nil)
    #expect(FileCoordinationError.Code(name: "laterCode") == nil)
  }
}
