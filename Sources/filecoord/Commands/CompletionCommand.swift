extension Command {
  static let completion = Command(
    name: "completion", operands: "bash|zsh|fish", operandCount: 1...1, choices: { ["bash", "zsh", "fish"] },
    summary: "Print a script that lets a shell complete commands, options and files.",
    details: """
      For bash, source it in ~/.bashrc. For zsh, save it as _filecoord in a directory of $fpath. For fish, save it as
      ~/.config/fish/completions/filecoord.fish.
      """,
    examples: [
      Example(line: "source <(filecoord completion bash)", explanation: "Completes in this bash."),
      Example(
        line: "filecoord completion fish > ~/.config/fish/completions/filecoord.fish",
        explanation: "Completes in every fish."),
    ],
    run: { session in
      switch session.invocation.operands[0].text {
      case "bash": Terminal.output.write(CompletionScript.bash)
      case "zsh": Terminal.output.write(CompletionScript.zsh)
      default: Terminal.output.write(CompletionScript.fish)
      }
      return .success
    })
}
