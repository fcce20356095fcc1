/// What the tool says about itself.
enum Help {
  static let version = "0.1.0"

  static let usage = "usage: filecoord tour | help | --version"

  static let commands = """
    Coordinates the readers, writers and editors of shared files.

      tour         Shows on real files in a temporary directory what coordination is, and checks
                   everything that it shows. Ends with 1 if anything is not as it says.
      help         Prints this.
      --version    Prints the version.

    Output is coloured on a terminal only, and never while NO_COLOR is set.
    """
}
