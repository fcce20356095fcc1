#if !canImport(ObjectiveC)
  internal import FileDocuments
  internal import Foundation

  extension DocumentError {
    static let noDocument = DocumentError(.notOpen, "The document is gone.")
    static let notSaved = DocumentError(.coordination, "The document's class hasn't saved.")

    /// An error of the program, of Foundation or of a native part.
    init(ofProgram error: any Error) {
      self = error as? DocumentError ?? DocumentError(.coordination, "\(error)", underlyingError: error)
    }

    /// The error for the program.
    var programError: any Error {
      if let underlyingError { return underlyingError }
      let cocoa: CocoaError.Code =
        switch code {
        case .fileNotFound: .fileReadNoSuchFile
        case .fileDeleted, .notOpen: .fileNoSuchFile
        case .fileExists: .fileWriteFileExists
        default: .fileWriteUnknown
        }
      return CocoaError(cocoa, userInfo: [NSLocalizedDescriptionKey: programMessage])
    }

    /// The event and the remedy in the terms of Apple's names.
    private var programMessage: String {
      switch code {
      case .notOpen: "The document isn't open. Call 'open(completionHandler:)' first."
      case .fileDeleted:
        "The file was deleted while the document was open. The contents are still here, but of a package only the members that "
          + "were read or changed: save them with 'save(to:for:)' and '.forCreating', or drop them with 'updateChangeCount(.cleared)' and close."
      default: message
      }
    }

    /// Whether a call ends with it although no operation has failed.
    var hasNoOperation: Bool { code == .notOpen || code == .fileDeleted }
  }

  extension CocoaError {
    static func missing(_ url: URL) -> any Error { CocoaError.error(.fileReadNoSuchFile, url: url) }
  }
#endif
