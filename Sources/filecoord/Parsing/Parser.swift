/// Understands a command line by the table of commands and options.
///
/// Options come before operands, but for commands that take them anywhere; `--` ends the options or, for commands that run a program, begins it.
struct Parser {
  /// Up to which number of words an error about too many of them names the first one.
  private static let countedOperandMax = 3

  private var rest: ArraySlice<Argument>

  private init(_ arguments: [Argument]) { rest = arguments[...] }

  /// Reads `filecoord [OPTION…] COMMAND [OPTION…] [OPERAND…] [-- PROGRAM…]`.
  static func parse(_ arguments: [Argument]) throws(Failure) -> Invocation {
    var parser = Parser(arguments)
    var values: [String: Option.Value] = [:]
    try parser.takeOptions(Option.common, &values)
    if values[Option.help.name] != nil { return Invocation(command: .help) }
    if values[Option.version.name] != nil { return Invocation(command: .version) }
    guard let word = parser.rest.popFirst() else { throw .usage("name a command") }
    guard let command = Command.named(word.text) else {
      let hint = Nearest.hint(for: word.text, among: Command.all.map(\.name))
      throw .usage("there is no command '\(word.text)'\(hint)")
    }
    do throws(Failure) {
      return try parser.invocation(of: command, values)
    } catch {
      throw error.about(command)
    }
  }

  private mutating func invocation(
    of command: Command, _ values: [String: Option.Value]
  ) throws(Failure) -> Invocation {
    var invocation = Invocation(command: command, values: values)
    try takeOptions(command.allOptions, &invocation.values)
    if invocation.has(.help) { return Invocation(command: .help, operands: [Argument(command.name)]) }
    if invocation.has(.version) { return Invocation(command: .version) }
    try takeOperands(&invocation)
    // Those between operands.
    if invocation.has(.help) { return Invocation(command: .help, operands: [Argument(command.name)]) }
    try check(invocation)
    return invocation
  }

  // MARK: Options

  /// Whether a word that isn't behind `--` has the form of an option, which a negative number hasn't.
  private static func mayBeOption(_ word: String) -> Bool {
    if !word.hasPrefix("-") || word == "-" || word == "--" { return false }
    let isNumber = word.dropFirst().first.map { ("0"..."9").contains($0) } ?? false && Double(word) != nil
    return !isNumber || Option.shortNames[word] != nil
  }

  /// Takes options as long as there are any.
  private mutating func takeOptions(
    _ known: [Option], _ values: inout [String: Option.Value]
  ) throws(Failure) {
    while let word = rest.first?.text, Self.mayBeOption(word) {
      rest.removeFirst()
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = Option.shortNames[parts[0]] ?? parts[0]
      guard let option = known.first(where: { $0.name == name }) else {
        let hint = Nearest.hint(for: name, among: known.map(\.name))
        // A single hyphen may be meant as the beginning of a name.
        let isClear = word.hasPrefix("--") || !hint.isEmpty
        let remedy = isClear ? "" : "; a word of this form comes after '--', a file is './\(word)'"
        throw .usage("there is no option '\(name)'\(hint)\(remedy)")
      }
      values[name] = try value(of: option, after: parts.dropFirst().first).following(values[name])
    }
  }

  private mutating func value(of option: Option, after equals: String?) throws(Failure) -> Option.Value {
    guard let placeholder = option.placeholder else {
      if let equals { throw .usage("'\(option.name)' takes no value, and got '\(equals)'") }
      return .flag
    }
    if let equals { return try option.value(of: equals) }
    guard let next = rest.popFirst() else { throw .usage("'\(option.name)' needs \(placeholder) after it") }
    return try option.value(of: next.text)
  }

  // MARK: Operands

  private mutating func takeOperands(_ invocation: inout Invocation) throws(Failure) {
    let takesProgram = invocation.command.takesProgram
    var optionsHaveEnded = false
    while let word = rest.popFirst() {
      if word.text == "--", !optionsHaveEnded {
        if takesProgram {
          invocation.program = Array(rest)
          return
        }
        optionsHaveEnded = true
      } else if Self.mayBeOption(word.text), !optionsHaveEnded {
        if invocation.command.takesOptionsAnywhere {
          rest = [word] + rest
          try takeOptions(invocation.command.allOptions, &invocation.values)
          continue
        }
        throw .usage(
          "'\(word.text)' comes after '\(invocation.operands.last?.text ?? "")': options come first, and a file of "
            + "this name is './\(word.text)'")
      } else {
        invocation.operands.append(word)
      }
    }
  }

  private func check(_ invocation: Invocation) throws(Failure) {
    let (command, operands) = (invocation.command, invocation.operands)
    if operands.count > command.operandCount.upperBound {
      if command.operandCount.upperBound > Self.countedOperandMax {
        throw .usage(
          "'\(command.name)' takes at most \(command.operandCount.upperBound) words at once, and got \(operands.count)")
      }
      let surplus = operands[command.operandCount.upperBound].text
      let wanted = command.operandCount.upperBound == 0 ? "nothing" : command.operands
      throw .usage("'\(command.name)' takes \(wanted) and no more, and got '\(surplus)'")
    }
    if operands.count < command.operandCount.lowerBound {
      throw .usage("'\(command.name)' needs \(command.operands)")
    }
    if command.operandChoices == nil, command.takesFiles, operands.contains(where: \.bytes.isEmpty) {
      throw .usage("an empty word names no file")
    }
    if let choices = command.operandChoices, let word = operands.first(where: { !choices.contains($0.text) }) {
      throw .usage(
        "'\(command.name)' takes \(choices.listed), not '\(word.text)'" + Nearest.hint(for: word.text, among: choices))
    }
    if command.takesProgram, invocation.program.isEmpty {
      throw .usage("'\(command.name)' needs '--' after the files, and then the command to run")
    }
  }
}
