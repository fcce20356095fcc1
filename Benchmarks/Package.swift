// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library neither build nor see it:
//
//   swift run -c release --package-path Benchmarks benchmarks --filter claims
//
//   0  BenchmarkShims   C: counters that stand in for functions, Berkeley DB's function pointers, CPU pinning
//   1  benchmarks       harness, peers, subjects, suites, report

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "file-coordination-benchmarks",
  products: [.executable(name: "benchmarks", targets: ["benchmarks"])],
  dependencies: [.package(name: "swift-file-coordination", path: "..")],
  targets: [
    .target(name: "BenchmarkShims"),
    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "BenchmarkShims", .product(name: "FileCoordination", package: "swift-file-coordination"),
        .product(name: "EtcdKeyValues", package: "swift-file-coordination"),
        .product(name: "FileDocuments", package: "swift-file-coordination"),
        .product(name: "FilePackages", package: "swift-file-coordination"),
        .product(name: "FileMetadata", package: "swift-file-coordination"),
        .product(name: "FileVersions", package: "swift-file-coordination"),
        .product(name: "KeyValueStore", package: "swift-file-coordination"),
        .product(name: "MetadataPredicates", package: "swift-file-coordination"),
      ],
      swiftSettings: settings),
    .testTarget(name: "BenchmarksTests", dependencies: ["benchmarks", "BenchmarkShims"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
