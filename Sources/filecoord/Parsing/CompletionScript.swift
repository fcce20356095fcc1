/// Scripts that let shells complete the command line, made from the table of commands and options.
enum CompletionScript {
  private static var allOptions: [Option] {
    var seen: Set<String> = []
    return (Option.common + Command.all.flatMap(\.options)).filter { seen.insert($0.name).inserted }
  }

  private static func names(_ options: [Option]) -> String { options.map(\.name).joined(separator: " ") }

  // MARK: bash

  static var bash: String {
    """
    # bash completion of filecoord
    _filecoord() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word index
      COMPREPLY=()
      for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == -- ]]; then
          # The command that read and write run.
          compopt -o default
          return
        fi
        case $word in
          \(patterns(allOptions.filter { $0.placeholder != nil })) ((index++)) ;;
          -*) ;;
          *) command=${command:-$word} ;;
        esac
      done
      case $previous in
    \(allOptions.filter { $0.placeholder != nil }.map(bashValues).joined(separator: "\n"))
      esac
      case $command in
        '') COMPREPLY=($(compgen -W "\(Command.all.map(\.name).joined(separator: " ")) \(names(Option.common))" -- "$current")) ;;
    \(Command.all.map(bashOptions).joined(separator: "\n"))
      esac
    }
    complete -F _filecoord filecoord

    """
  }

  private static func patterns(_ options: [Option]) -> String { options.map(\.name).joined(separator: " | ") + ")" }

  private static func bashValues(_ option: Option) -> String {
    let words = option.choices.joined(separator: " ")
    return "    \(option.name)) COMPREPLY=($(compgen -W \"\(words)\" -- \"$current\")); return ;;"
  }

  private static func bashOptions(_ command: Command) -> String {
    let options = "compgen -W \"\(names(command.allOptions))\" -- \"$current\""
    let operands: String
    if let choices = command.operandChoices {
      operands = "COMPREPLY=($(compgen -W \"\(choices.joined(separator: " "))\" -- \"$current\"))"
    } else if command.completesFiles {
      operands = "compopt -o default"
    } else {
      operands = ":"
    }
    return "    \(command.name)) if [[ $current == -* ]]; then COMPREPLY=($(\(options))); else \(operands); fi ;;"
  }

  // MARK: zsh

  static var zsh: String {
    """
    #compdef filecoord
    _filecoord() {
      local -a commands common
      commands=(
    \(Command.all.map { "    \(quoted("\($0.name):\($0.summary)"))" }.joined(separator: "\n"))
      )
      common=(
    \(Option.common.map { "    \(zshOption($0))" }.joined(separator: "\n"))
      )
      local curcontext=$curcontext state line
      _arguments -C $common '1: :->command' '*:: :->operands'
      case $state in
        command) _describe command commands ;;
        operands)
          case $line[1] in
    \(Command.all.map(zshCommand).joined(separator: "\n"))
          esac ;;
      esac
    }
    _filecoord "$@"

    """
  }

  private static func zshCommand(_ command: Command) -> String {
    let operands: String
    if let choices = command.operandChoices {
      operands = " '*: :(\(choices.joined(separator: " ")))'"
    } else if command.takesProgram {
      operands = " '*:: :{ if (( $words[(I)--] )); then _normal; else _files; fi }'"
    } else {
      operands = command.completesFiles ? " '*: :_files'" : ""
    }
    let options = command.options.map { " \(zshOption($0))" }.joined()
    return "        \(command.name)) _arguments $common\(options)\(operands) ;;"
  }

  private static func zshOption(_ option: Option) -> String {
    let help = zshWord(option.help)
    guard let placeholder = option.placeholder else { return quoted("\(option.name)[\(help)]") }
    let choices = option.choices.isEmpty ? " " : "(\(option.choices.map(zshWord).joined(separator: " ")))"
    return quoted("\(option.name)=[\(help)]:\(placeholder):\(choices)")
  }

  /// With its colons and brackets, which mean something to `_arguments`.
  private static func zshWord(_ word: String) -> String {
    word.map { "[]:".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  // MARK: fish

  static var fish: String {
    var lines = ["# fish completion of filecoord", "complete -c filecoord -f -n __fish_use_subcommand"]
    lines += Option.common.map { "complete -c filecoord" + fishOption($0) }
    for command in Command.all {
      lines.append("complete -c filecoord -n __fish_use_subcommand -a \(command.name) -d \(quoted(command.summary))")
      let condition = "complete -c filecoord -n '__fish_seen_subcommand_from \(command.name)'"
      lines += command.options.map { condition + fishOption($0) }
      if let choices = command.operandChoices {
        lines.append(condition + " -f -a \(quoted(choices.joined(separator: " ")))")
      } else if !command.completesFiles {
        lines.append(condition + " -f")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fishOption(_ option: Option) -> String {
    let name = " -l \(option.name.drop { $0 == "-" }) -d \(quoted(option.help))"
    if option.placeholder == nil { return name }
    return name + " -x" + (option.choices.isEmpty ? "" : " -a \(quoted(option.choices.joined(separator: " ")))")
  }

  /// In single quotes, as all three shells understand them.
  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
