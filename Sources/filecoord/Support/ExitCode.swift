/// How the tool ends, in the numbers of sysexits.h where they exist.
struct ExitCode: Hashable, Sendable {
  let rawValue: Int32

  static let success = ExitCode(rawValue: 0)
  /// Something that was claimed is not so, was found wrong, or is in the way.
  static let failure = ExitCode(rawValue: 1)
  static let usage = ExitCode(rawValue: 64)
  static let dataError = ExitCode(rawValue: 65)
  static let noInput = ExitCode(rawValue: 66)
  static let unavailable = ExitCode(rawValue: 69)
  static let software = ExitCode(rawValue: 70)
  static let cannotCreate = ExitCode(rawValue: 73)
  static let inputOutput = ExitCode(rawValue: 74)
  static let tryAgain = ExitCode(rawValue: 75)
  static let notPermitted = ExitCode(rawValue: 77)
  static let configuration = ExitCode(rawValue: 78)
  static let notExecutable = ExitCode(rawValue: 126)
  static let notFound = ExitCode(rawValue: 127)

  /// As shells say that a signal ended something.
  static func signal(_ number: Int32) -> ExitCode { ExitCode(rawValue: 128 + number) }

  /// The descriptions in the help.
  static let table: [(code: String, meaning: String)] = [
    ("0", "done"),
    (
      "1",
      "explain: the file isn't free; doctor, tour: something is wrong; query --audit: there are differences; conflicts: there are "
        + "some; resolve: there was none"
    ),
    ("64", "the command line was not understood"),
    ("65", "predicate, query: the predicate can't be used; values: the store takes no such value"),
    ("66", "there is no such file, no such version, or no value"),
    ("69", "the other processes of the domain, or the place that devices share, can't be reached"),
    ("70", "an error of a program, perhaps of this one"),
    ("73", "an item exists at the destination"),
    ("74", "the file system failed, a directory couldn't be read, or a version was damaged"),
    ("75", "timed out, a deadlock was refused, or the access was lost: try again"),
    ("77", "the file system doesn't permit it, also for a directory that was to be searched, or a presenter refused"),
    (
      "78",
      "FILE_COORDINATION_ACCESS names an access that has ended, or none; neither HOME nor XDG_DATA_HOME says where data is kept; "
        + "values: the configuration file is wrong"
    ),
    ("126, 127", "the command couldn't be run, or wasn't found"),
    ("128+N", "ended by signal N"),
    ("other", "read, write, diff, resolve: the exit status of the command"),
  ]
}
