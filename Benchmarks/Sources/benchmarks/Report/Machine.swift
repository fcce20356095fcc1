import Foundation
import Glibc

/// The machine on which the figures were measured.
package struct Machine: Sendable {
  package let processorCount: Int
  package let processorModel: String
  package let kernel: String
  package let swiftVersion: String

  package init(processorCount: Int, processorModel: String, kernel: String, swiftVersion: String) {
    self.processorCount = processorCount
    self.processorModel = processorModel
    self.kernel = kernel
    self.swiftVersion = swiftVersion
  }

  static func current(_ processors: Processors) -> Machine {
    var names = utsname()
    uname(&names)
    let release = withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let architecture = withUnsafeBytes(of: &names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let model = (readSmallFile("/proc/cpuinfo") ?? "").split(separator: "\n")
      .first { $0.hasPrefix("model name") }?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    return Machine(
      processorCount: processors.count, processorModel: model ?? architecture,
      kernel: "Linux \(release.prefix { $0 != "-" }) \(architecture)", swiftVersion: compilerVersion)
  }

  var description: String {
    "\(processorCount) processors (\(processorModel)), \(kernel), Swift \(swiftVersion)"
  }

  /// The compiler that built this program; only the compiler has its exact version.
  private static var compilerVersion: String {
    #if compiler(>=6.5)
      "6.5 or later"
    #elseif compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3.2)
      "6.3.2 or later"
    #elseif compiler(>=6.3.1)
      "6.3.1"
    #elseif compiler(>=6.3)
      "6.3"
    #else
      "6.2"
    #endif
  }
}
