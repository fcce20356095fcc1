// swift-tools-version: 6.2
import PackageDescription

// Small programs in the idioms of those that were written for Apple platforms, each a target of its own. `.ci/run idioms` builds
// and runs them: nothing that the library declares may warn in a client, in Swift 5 or Swift 6 (N-10).

let library: Target.Dependency = .product(name: "FoundationCompatibility", package: "swift-file-coordination")

/// For features without one of Apple's names, such as deadlines.
let native: Target.Dependency = .product(name: "FileCoordination", package: "swift-file-coordination")

/// Programs that import only `Foundation`: one dependency and this setting bring them to Linux.
let importsEverywhere: SwiftSetting = .unsafeFlags(
  ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationCompatibility"], .when(platforms: [.linux]))

/// The index of the system's modules would be written again for each of the programs.
let unindexed: SwiftSetting = .unsafeFlags(["-index-ignore-system-modules"])

func program(
  _ name: String, _ mode: SwiftLanguageMode, _ settings: [SwiftSetting], _ more: [Target.Dependency] = []
) -> Target {
  .executableTarget(
    name: name + "\(mode)", dependencies: ["Scene", library] + more, path: "Swift\(mode)/\(name)",
    swiftSettings: settings + [.swiftLanguageMode(mode), .treatAllWarnings(as: .error), unindexed])
}

/// As people wrote them before there was concurrency checking.
let earlier = [
  "BuiltPredicates", "Coordinating", "DocumentList", "DocumentStore", "MainQueue", "Notes", "Searching", "TextDocument",
  "UndoingCanvas", "ValueBrowser",
]
/// As people write them today; `Swift5` has links to them.
let current = [
  "ActorStore", "BatchAndTrash", "BusyQueues", "ContinuationWrappers", "DelegateStore", "DocumentAlbum",
  "DocumentBrowser", "DocumentConflicts", "DocumentEditor", "DocumentNeighbours", "DocumentWatcher",
  "FileHistory", "FileMonitor", "FolderChanges", "FolderDeletions", "FolderEntries", "IntentsWithTimeout",
  "IsolatedDocuments",
  "LinkedFolder",
  "MainQueuePresenter", "MovedDocument", "PackageDocument", "PredicateArguments", "PredicateBuilder", "PredicateTypes",
  "PresenterQueues",
  "QueryDelegate", "RemovedInDeinit", "ReplacedFiles", "SearchForms", "Strangers",
  "SubclassedCoordinator", "ThrowingWrappers", "UndoableEditor",
]

let package = Package(
  name: "idioms",
  dependencies: [.package(name: "swift-file-coordination", path: "../..")],
  targets: [.target(name: "Scene", swiftSettings: [.treatAllWarnings(as: .error)])]
    + earlier.map { program($0, .v5, [importsEverywhere]) }
    + [program("Notes", .v6, [importsEverywhere])]
    + current.flatMap { [program($0, .v5, []), program($0, .v6, [])] }
    + [.v5, .v6].map { program("AppAndHelper", $0, [], [native]) },
)
