// swift-tools-version: 6.2
import PackageDescription

// Arrows point one way. A target may depend only on targets listed above it:
//
//   0  CSystemShims             declarations of libc calls that Swift's Glibc module hides
//   0  CompactContainers        slabs, tables, heap, mixing of hashes, bytes of integers, days of the calendar: one of each
//   0  CRuntimeShims            declarations of the Swift runtime's functions that its standard library calls inline
//   0  CHashShims               SHA-256 by the processor's instructions
//   0  CCurlShims               declarations of functions of libcurl, which is loaded at run time
//   1  ContentHashing           SHA-256 of contents that come in pieces
//   1  SwiftRuntimeHooks        direct calls of the Swift runtime, and what's called where they aren't tested
//   1  FileAccessArbiter        pure decisions: no thread, clock, file or Foundation
//   1  MetadataPredicates       the predicate language: values, parsers, printer, evaluator
//   1  SystemThreads            clocks, locks and threads
//   1  UndoStacks               actions that undo and redo, in groups: a value
//   1  KeyValueReplicas         decisions of one copy of a key-value store: a value
//   2  SystemInterface          the only door to the kernel: files, watches, sockets, processes
//   3  VersionStore             versions of files in a directory of their own, safe from crashes
//   3  UploadArchives           private copies for uploads, zip archives of directories
//   3  FilePackages             packages as trees of members: read lazily, written incrementally, exchanged in one step
//   3  FileWatching             trees of files that are kept current, by any program
//   3  HTTPTransport            requests to servers and their responses, through the system's libcurl
//   4  EtcdClient               a client of etcd: keys, transactions, leases, locks, watches that resume
//   5  EtcdKeyValues            the place at etcd that the replicas of a key-value store share
//   2  CoordinationService      what processes tell each other, and the service that decides for them: pure values
//   4  FileCoordination         the library people import
//   4  FileMetadata             queries for files that are kept current
//   4  KeyValueStore            values with names that programs and devices of a user share
//   5  FileVersions             versions of files: kept, listed, restored, resolved
//   6  FileDocuments            documents: open, edit, save by themselves, live with others in the same file
//   5  FileCoordinationTesting  recording presenter, virtual clock, message-matrix harness
//   7  FoundationCompatibility  Apple's names, as thin adapters: the only target that imports Foundation
//   6  filecoord                command-line tool on the public API only
//
// `.ci/imports` checks the import statements against this table.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]
let librarySettings = settings + [.strictMemorySafety()]

// A module of tests is read by nothing but the linker. By default the compiler has one process for each processor, of which each
// reads all files and imports of the module again, and the index of the system's modules is written again as well. Without both a
// build takes a fifth less of the processors. Nobody who depends on this package builds its tests, so flags that SwiftPM calls
// unsafe are in nobody's way.
let unindexed: [SwiftSetting] =
  settings + [
    .unsafeFlags(["-index-ignore-system-modules"], .when(configuration: .debug))
  ]
let testSettings: [SwiftSetting] =
  unindexed + [
    .unsafeFlags(["-driver-batch-count", "1"], .when(configuration: .debug))
  ]

// For declarations that stand for Apple's, which are older than Swift's concurrency: with all its checks inside, but clients in
// Swift 5 mode don't get warnings about what they can't know, and presenters may leave out `@Sendable` in Swift 6 mode too.
let precedingConcurrency: [SwiftSetting] = [.swiftLanguageMode(.v5), .enableUpcomingFeature("StrictConcurrency")]

let package = Package(
  name: "swift-file-coordination",
  products: [
    // `SystemInterface` has the paths and errors of the public API, `SystemThreads` its clocks.
    .library(name: "FileCoordination", targets: ["FileCoordination", "SystemInterface", "SystemThreads"]),
    // The predicate language alone, for programs that have items of their own to select.
    .library(name: "MetadataPredicates", targets: ["MetadataPredicates"]),
    // Changes in trees of files, alone, for programs that neither coordinate nor query.
    .library(name: "FileWatching", targets: ["FileWatching", "SystemInterface", "SystemThreads"]),
    .library(name: "FileMetadata", targets: ["FileMetadata", "MetadataPredicates", "SystemInterface"]),
    // Versions of files, and conflicts between them.
    .library(name: "FileVersions", targets: ["FileVersions", "SystemInterface"]),
    // Documents: contents in memory that live with other programs in the same file.
    .library(name: "FileDocuments", targets: ["FileDocuments", "FileVersions", "SystemInterface"]),
    // Directories that count as one file.
    .library(name: "FilePackages", targets: ["FilePackages", "SystemInterface"]),
    // Requests to servers, through the system's libcurl.
    .library(name: "HTTPTransport", targets: ["HTTPTransport", "SystemInterface", "SystemThreads"]),
    // A client of etcd.
    .library(name: "EtcdClient", targets: ["EtcdClient", "HTTPTransport", "SystemInterface", "SystemThreads"]),
    // Values that programs and devices of a user share.
    .library(name: "KeyValueStore", targets: ["KeyValueStore", "KeyValueReplicas"]),
    // The same, shared through etcd.
    .library(name: "EtcdKeyValues", targets: ["EtcdKeyValues", "EtcdClient", "KeyValueStore", "KeyValueReplicas"]),
    .library(name: "FileCoordinationTesting", targets: ["FileCoordinationTesting"]),
    // Apple's names, for programs that were written for Apple platforms.
    .library(name: "FoundationCompatibility", targets: ["FoundationCompatibility"]),
    .executable(name: "filecoord", targets: ["filecoord"]),
  ],
  targets: [
    .systemLibrary(name: "CSystemShims"),
    .systemLibrary(name: "CRuntimeShims"),
    .systemLibrary(name: "CHashShims"),
    .systemLibrary(name: "CCurlShims"),
    .target(name: "ContentHashing", dependencies: ["CHashShims"], swiftSettings: librarySettings),
    .target(name: "SwiftRuntimeHooks", dependencies: ["CRuntimeShims"], swiftSettings: librarySettings),
    .target(name: "CompactContainers", swiftSettings: librarySettings),
    .target(name: "FileAccessArbiter", dependencies: ["CompactContainers"], swiftSettings: librarySettings),
    .target(name: "MetadataPredicates", dependencies: ["CompactContainers"], swiftSettings: librarySettings),
    .target(
      name: "SystemThreads", dependencies: ["CSystemShims", "CompactContainers"], swiftSettings: librarySettings),
    .target(
      name: "SystemInterface", dependencies: ["CSystemShims", "CompactContainers", "SystemThreads"],
      swiftSettings: librarySettings),
    .target(
      name: "VersionStore", dependencies: ["CompactContainers", "ContentHashing", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(
      name: "UploadArchives", dependencies: ["CompactContainers", "SystemInterface"], swiftSettings: librarySettings),
    .target(
      name: "HTTPTransport", dependencies: ["CCurlShims", "SystemInterface"], swiftSettings: librarySettings),
    .target(name: "EtcdClient", dependencies: ["HTTPTransport", "SystemInterface"], swiftSettings: librarySettings),
    .target(
      name: "EtcdKeyValues",
      dependencies: ["EtcdClient", "HTTPTransport", "KeyValueReplicas", "KeyValueStore", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(name: "UndoStacks", swiftSettings: librarySettings),
    .target(name: "KeyValueReplicas", dependencies: ["CompactContainers"], swiftSettings: librarySettings),
    .target(
      name: "KeyValueStore",
      dependencies: ["FileWatching", "KeyValueReplicas", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(
      name: "FilePackages", dependencies: ["ContentHashing", "SystemInterface"], swiftSettings: librarySettings),
    .target(
      name: "CoordinationService", dependencies: ["CompactContainers", "FileAccessArbiter"],
      swiftSettings: librarySettings),
    .target(
      name: "FileWatching", dependencies: ["CompactContainers", "SystemInterface"], swiftSettings: librarySettings),
    .target(
      name: "FileCoordination",
      dependencies: [
        "CompactContainers", "CoordinationService", "FileAccessArbiter", "FileWatching", "SwiftRuntimeHooks",
        "SystemInterface", "UploadArchives",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "FileVersions",
      dependencies: ["ContentHashing", "FileCoordination", "FileWatching", "SystemInterface", "VersionStore"],
      swiftSettings: librarySettings),
    .target(
      name: "FileDocuments",
      dependencies: [
        "CompactContainers", "ContentHashing", "FileCoordination", "FilePackages", "FileVersions", "SystemInterface",
      ],
      swiftSettings: librarySettings),
    .target(
      name: "FileMetadata",
      dependencies: ["CompactContainers", "FileWatching", "MetadataPredicates", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(
      name: "FileCoordinationTesting", dependencies: ["FileCoordination", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(
      name: "FoundationCompatibility",
      // On Apple platforms Foundation has all of it, and nothing below is built.
      dependencies: [
        "ContentHashing", "EtcdKeyValues", "FileCoordination", "FileDocuments", "FileMetadata", "FilePackages",
        "FileVersions", "KeyValueReplicas", "KeyValueStore", "MetadataPredicates", "SwiftRuntimeHooks",
        "SystemInterface", "UndoStacks",
      ].map { .target(name: $0, condition: .when(platforms: [.linux])) },
      swiftSettings: librarySettings + precedingConcurrency),
    .executableTarget(
      name: "filecoord",
      dependencies: [
        "EtcdKeyValues", "FileCoordination", "FileMetadata", "FileVersions", "KeyValueReplicas", "KeyValueStore",
        "MetadataPredicates", "SystemInterface",
      ],
      swiftSettings: settings),
    // Random numbers and schedules that a seed names; also for programs that tests run.
    .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: settings),
    // Support for the tests of several targets.
    .target(name: "CTestShims", path: "Tests/CTestShims"),
    .target(
      name: "TestSupport", dependencies: ["CTestShims", "SystemInterface", "SystemThreads"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "CompactContainersTests", dependencies: ["CompactContainers", "SeededRandom"], swiftSettings: testSettings),
    .testTarget(
      name: "ContentHashingTests", dependencies: ["ContentHashing", "SeededRandom"], swiftSettings: testSettings),
    .testTarget(
      name: "VersionStoreTests",
      dependencies: ["CTestShims", "ContentHashing", "SeededRandom", "SystemInterface", "VersionStore"],
      swiftSettings: testSettings),
    // A transport that follows a script, and a server on loopback.
    .target(
      name: "HTTPTestSupport", dependencies: ["CTestShims", "HTTPTransport", "SystemInterface"],
      path: "Tests/HTTPTestSupport", swiftSettings: settings),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: [
        "FileCoordinationTesting", "HTTPTestSupport", "HTTPTransport", "SeededRandom", "SystemInterface", "TestSupport",
      ],
      swiftSettings: testSettings),
    // A server that follows a script, and real ones.
    .target(
      name: "EtcdTestSupport",
      dependencies: ["EtcdClient", "HTTPTestSupport", "HTTPTransport", "SystemInterface", "TestSupport"],
      path: "Tests/EtcdTestSupport", swiftSettings: settings),
    .testTarget(
      name: "EtcdClientTests",
      dependencies: [
        "EtcdClient", "EtcdTestSupport", "FileCoordinationTesting", "HTTPTestSupport", "HTTPTransport", "SeededRandom",
        "SystemInterface",
        "TestSupport",
      ],
      swiftSettings: testSettings),
    // The promises of every place that replicas share, and runs of replicas there.
    .target(
      name: "SharedStorageContract", dependencies: ["KeyValueReplicas", "SeededRandom", "SystemInterface"],
      path: "Tests/SharedStorageContract", swiftSettings: settings),
    .testTarget(
      name: "EtcdKeyValuesTests",
      dependencies: [
        "EtcdClient", "EtcdKeyValues", "EtcdTestSupport", "FoundationCompatibility", "KeyValueStore",
        "FileCoordinationTesting", "HTTPTestSupport",
        "KeyValueReplicas", "SeededRandom", "SharedStorageContract", "SystemInterface", "TestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(name: "UndoStacksTests", dependencies: ["SeededRandom", "UndoStacks"], swiftSettings: testSettings),
    .testTarget(
      name: "KeyValueReplicasTests", dependencies: ["KeyValueReplicas", "SeededRandom"], swiftSettings: testSettings),
    .testTarget(
      name: "KeyValueStoreTests",
      dependencies: [
        "KeyValueReplicas", "KeyValueStore", "SeededRandom", "SharedStorageContract", "SystemInterface", "TestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "FilePackagesTests", dependencies: ["ContentHashing", "FilePackages", "SeededRandom", "SystemInterface"],
      swiftSettings: testSettings),
    .testTarget(
      name: "FileVersionsTests",
      dependencies: [
        "ContentHashing", "FileCoordination", "FileCoordinationTesting", "FileVersions", "FileWatching",
        "SeededRandom", "SystemInterface", "VersionStore",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "FileDocumentsTests",
      dependencies: [
        "ContentHashing", "FileCoordination", "FileCoordinationTesting", "FileDocuments", "FilePackages",
        "FileVersions", "SeededRandom", "SystemInterface", "TestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "SwiftRuntimeHooksTests", dependencies: ["SwiftRuntimeHooks", "SystemInterface"],
      swiftSettings: testSettings),
    .testTarget(
      name: "FileAccessArbiterTests",
      dependencies: ["CompactContainers", "FileAccessArbiter", "SeededRandom", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "CoordinationServiceTests",
      dependencies: ["CompactContainers", "CoordinationService", "FileAccessArbiter", "SeededRandom", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "SystemInterfaceTests",
      dependencies: ["CompactContainers", "SeededRandom", "SystemInterface", "TestSupport", "UploadArchives"],
      swiftSettings: testSettings),
    // Trees of files, and what alters them at random.
    .target(
      name: "WatchingTestSupport", dependencies: ["FileWatching", "SeededRandom", "SystemInterface"],
      path: "Tests/WatchingTestSupport", swiftSettings: settings),
    .testTarget(
      name: "FileWatchingTests",
      dependencies: [
        "CompactContainers", "FileCoordinationTesting", "FileWatching", "SeededRandom", "SystemInterface",
        "TestSupport",
        "WatchingTestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "MetadataPredicatesTests", dependencies: ["MetadataPredicates", "SeededRandom", "TestSupport"],
      swiftSettings: testSettings),
    .testTarget(
      name: "FileMetadataTests",
      dependencies: [
        "CSystemShims", "FileCoordinationTesting", "FileMetadata", "FileWatching", "MetadataPredicates", "SeededRandom",
        "SystemInterface", "TestSupport", "WatchingTestSupport",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "FileCoordinationTests",
      dependencies: [
        "CoordinationService", "FileCoordination", "FileCoordinationTesting", "FileAccessArbiter", "SeededRandom",
        "FileWatching", "SystemInterface", "TestSupport", "WatchingTestSupport",
      ],
      swiftSettings: testSettings),
    // Every interleaving of small models of the fast tier, on a memory with store buffers.
    .testTarget(
      name: "FastTierTests",
      dependencies: ["CompactContainers", "FileCoordination", "FileAccessArbiter", "SeededRandom", "TestSupport"],
      swiftSettings: testSettings),
    // Processes that share files, are killed and stopped.
    .executableTarget(
      name: "CoordinationWorker",
      dependencies: [
        "CoordinationService", "FileCoordination", "FileDocuments", "FilePackages", "FileVersions", "SeededRandom",
        "SystemInterface",
      ],
      path: "Tests/CoordinationWorker", swiftSettings: settings),
    .testTarget(
      name: "ManyProcessesTests",
      dependencies: [
        "CoordinationService", "CoordinationWorker", "FileAccessArbiter", "FileCoordination", "FileDocuments",
        "FilePackages", "FileVersions", "SeededRandom", "SystemInterface", "TestSupport",
      ],
      swiftSettings: testSettings),
    // Merges conflicts of a sync engine; `.ci/run syncthing` runs it, and an article shows it.
    .executableTarget(
      name: "ConflictMerger", dependencies: ["FileVersions"], path: "Tests/ConflictMerger", swiftSettings: settings),
    // An editor of texts, as an example of a program with documents; an article names it.
    .executableTarget(
      name: "TerminalEditor", dependencies: ["FileDocuments", "FileVersions"], path: "Tests/TerminalEditor",
      swiftSettings: settings),
    // Runs the built tool and the editor as child processes, also beside presenters of the test.
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "filecoord", "FileCoordination", "FoundationCompatibility", "SeededRandom", "TerminalEditor", "TestSupport",
      ],
      swiftSettings: testSettings),
    // Compiles and runs the code that the README and the articles show.
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "EtcdClient", "EtcdKeyValues", "FileCoordination", "FileCoordinationTesting", "FileDocuments", "FileMetadata",
        "FilePackages",
        "FileWatching", "FileVersions", "FoundationCompatibility", "HTTPTransport", "KeyValueReplicas", "KeyValueStore",
        "MetadataPredicates",
        "SystemInterface",
      ],
      swiftSettings: testSettings),
    .testTarget(
      name: "FoundationCompatibilityTests",
      dependencies: [
        "FileCoordination", "FileCoordinationTesting", "FileDocuments", "FileMetadata", "FilePackages", "FileVersions",
        "FileWatching", "FoundationCompatibility", "KeyValueReplicas", "KeyValueStore", "MetadataPredicates",
        "SeededRandom", "SystemInterface",
        "TestSupport",
      ],
      swiftSettings: unindexed),
    .testTarget(
      name: "FileCoordinationStressTests",
      dependencies: ["FileCoordination", "FileCoordinationTesting", "SeededRandom", "SystemInterface"],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6]
)

// Builds with sanitizers and optimizations take minutes. `.ci/run` names the test targets that it runs with them; all others are
// left out, and what only they need. So are files of these targets that it names as "-Target/File.swift": those of other suites.
if let words = Context.environment["FILE_COORDINATION_TESTS"]?.split(separator: " ").map(String.init) {
  let chosen = words.filter { !$0.hasPrefix("-") }
  var needed = Set(chosen)
  var waiting = chosen
  while let name = waiting.popLast() {
    guard let target = package.targets.first(where: { $0.name == name }) else {
      fatalError("FILE_COORDINATION_TESTS names '\(name)', which is no target")
    }
    let own = "-\(name)/"
    target.exclude += words.filter { $0.hasPrefix(own) }.map { String($0.dropFirst(own.count)) }
    for dependency in target.dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): if needed.insert(name).inserted { waiting.append(name) }
      default: break
      }
    }
  }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products = []
}
