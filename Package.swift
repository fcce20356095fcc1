// swift-tools-version: 6.2
import PackageDescription

// Arrows point one way. A target may depend only on targets listed above it:
//
//   0  CSystemShims             declarations of libc calls that Swift's Glibc module hides
//   1  FileAccessArbiter        pure decisions: no thread, clock, file or Foundation
//   1  SystemInterface          the only door to the kernel
//   2  CoordinationService      what processes tell each other, and the service that decides for them: pure values
//   2  FileCoordination         the library people import
//   4  FileCoordinationTesting  recording presenter, virtual clock, message-matrix harness
//   4  filecoord                command-line tool on the public API only
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

let package = Package(
  name: "swift-file-coordination",
  products: [
    // `SystemInterface` is part of the product so that a program can pass its own file-system door to a domain.
    .library(name: "FileCoordination", targets: ["FileCoordination", "SystemInterface"]),
    .library(name: "FileCoordinationTesting", targets: ["FileCoordinationTesting"]),
    .executable(name: "filecoord", targets: ["filecoord"]),
  ],
  targets: [
    .systemLibrary(name: "CSystemShims"),
    .target(name: "FileAccessArbiter", swiftSettings: librarySettings),
    .target(name: "SystemInterface", dependencies: ["CSystemShims"], swiftSettings: librarySettings),
    .target(name: "CoordinationService", dependencies: ["FileAccessArbiter"], swiftSettings: librarySettings),
    .target(
      name: "FileCoordination", dependencies: ["CoordinationService", "FileAccessArbiter", "SystemInterface"],
      swiftSettings: librarySettings),
    .target(
      name: "FileCoordinationTesting", dependencies: ["FileCoordination", "SystemInterface"],
      swiftSettings: librarySettings),
    .executableTarget(
      name: "filecoord", dependencies: ["FileCoordination"], swiftSettings: settings),
    // What tests of several targets need.
    .target(
      name: "TestSupport", dependencies: ["SystemInterface"], path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "FileAccessArbiterTests", dependencies: ["FileAccessArbiter", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "CoordinationServiceTests", dependencies: ["CoordinationService", "FileAccessArbiter", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SystemInterfaceTests", dependencies: ["SystemInterface"], swiftSettings: settings),
    .testTarget(
      name: "FileCoordinationTests",
      dependencies: ["FileCoordination", "FileCoordinationTesting", "FileAccessArbiter", "SystemInterface"],
      swiftSettings: settings),
    // Every interleaving of small models of the fast tier, on a memory with store buffers.
    .testTarget(
      name: "FastTierTests", dependencies: ["FileCoordination", "FileAccessArbiter", "TestSupport"],
      swiftSettings: settings),
    // Processes that share files, are killed and stopped.
    .executableTarget(
      name: "CoordinationWorker", dependencies: ["FileCoordination"], path: "Tests/CoordinationWorker",
      swiftSettings: settings),
    .testTarget(
      name: "ManyProcessesTests", dependencies: ["CoordinationWorker", "FileCoordination", "TestSupport"],
      swiftSettings: settings),
    // Runs the built tool as a child process, also beside presenters of the test.
    .testTarget(
      name: "CommandLineTests", dependencies: ["filecoord", "FileCoordination", "TestSupport"], swiftSettings: settings),
    // Compiles and runs the code that the README and the articles show.
    .testTarget(name: "DocumentationTests", dependencies: ["FileCoordination"], swiftSettings: settings),
    .testTarget(
      name: "FileCoordinationStressTests",
      dependencies: ["FileCoordination", "FileCoordinationTesting", "SystemInterface"],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
