// swift-tools-version: 6.2
import PackageDescription

// Programs that were written for Apple platforms and say nothing but `import Foundation`. What brings them to Linux is here: one
// dependency, and one setting that adds the import everywhere. `.ci/run unedited` builds and runs them.

let unedited: [SwiftSetting] = [
  .unsafeFlags(
    ["-Xfrontend", "-import-module", "-Xfrontend", "FoundationCompatibility"], .when(platforms: [.linux])),
  // Nothing that the library declares may warn.
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "zero-edit",
  dependencies: [.package(name: "swift-file-coordination", path: "../..")],
  targets: [
    .executableTarget(
      name: "Notes5", dependencies: [.product(name: "FoundationCompatibility", package: "swift-file-coordination")],
      swiftSettings: unedited + [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "Notes6", dependencies: [.product(name: "FoundationCompatibility", package: "swift-file-coordination")],
      swiftSettings: unedited + [.swiftLanguageMode(.v6)]),
  ]
)
