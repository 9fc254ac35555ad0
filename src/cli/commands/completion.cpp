// SPDX-License-Identifier: Apache-2.0
// `ringmaster completion bash|zsh|fish`: a completion script made from the parser itself.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/program.hpp"

namespace ringmaster::cli {
namespace {

/// "-b", "--begin", ... of one subcommand.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* sub : app.get_subcommands({})) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), join(option_names(*sub), " "));
  }
  return fmt::format(
      "_ringmaster() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words\n"
      "  case ${{COMP_WORDS[1]-}} in\n{}    *) words=\"{} --help --version\" ;;\n  esac\n"
      "  if [[ $current == -* || $COMP_CWORD == 1 ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  else\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "  fi\n"
      "}}\n"
      "complete -o filenames -F _ringmaster ringmaster\n",
      cases, join(subcommand_names(app), " "));
}

std::string zsh_script(const CLI::App& app) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script(app);
}

std::string fish_quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return "'" + text + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string script;
  for (const CLI::App* sub : app.get_subcommands({})) {
    script += fmt::format("complete -c ringmaster -n __fish_use_subcommand -a {} -d {}\n", sub->get_name(),
                          fish_quoted(sub->get_description()));
    for (const CLI::Option* option : sub->get_options()) {
      std::string names;
      for (const std::string& name : option->get_snames()) names += " -s " + name;
      for (const std::string& name : option->get_lnames()) names += " -l " + name;
      script += fmt::format("complete -c ringmaster -n '__fish_seen_subcommand_from {}'{} -d {}\n", sub->get_name(),
                            names, fish_quoted(option->get_description()));
    }
  }
  return script;
}

int print(const std::string& shell) {
  int unused = 0;
  const auto app = make_app(unused);
  if (shell == "bash") fmt::print("{}", bash_script(*app));
  if (shell == "zsh") fmt::print("{}", zsh_script(*app));
  if (shell == "fish") fmt::print("{}", fish_script(*app));
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell] { return print(*shell); };
}

}  // namespace

const Command& completion_command() {
  static const Command command{"completion", "print a shell's completion script", install};
  return command;
}

}  // namespace ringmaster::cli
