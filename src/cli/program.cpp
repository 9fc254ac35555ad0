// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"

namespace ringmaster::cli {
namespace {

std::vector<std::string>& stored_arguments() {
  static std::vector<std::string> all;
  return all;
}

void complain(const std::string& line) {
  if (launched_rank() == 0) fmt::print(stderr, "{}\n", printable(line));
}

std::string complaint_line(const std::string& text, const std::string& hint) {
  Complaint complaint;
  complaint.text = text;
  complaint.hint = hint;
  return complaint.line();
}

/// CLI11 says "The following argument was not expected: X"; a word in the subcommand's place deserves better.
std::string parse_complaint(const CLI::App& app, const CLI::ParseError& error) {
  const auto& given = arguments();
  std::string text = error.what();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  if (app.get_subcommands().empty() && !given.empty() && given.front().rfind('-', 0) != 0) {
    return complaint_line("unknown subcommand '" + given.front() + "'",
                          suggestion(given.front(), entry_names(commands())));
  }
  const bool in_subcommand = !app.get_subcommands().empty();
  const std::string where = in_subcommand ? "ringmaster " + app.get_subcommands().front()->get_name() : "ringmaster";
  return complaint_line(text, "see " + where + " --help");
}

/// An empty text is an unset variable of a script more often than it is meant: it must not read as "not given".
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    option->check([](const std::string& text) { return text.empty() ? "expects a value, got an empty one" : ""; });
  }
}

constexpr const char* full_output = "error: cannot write to the standard output";

int parse_and_run(CLI::App& app, int argc, char** argv, const int& code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    if (launched_rank() == 0) app.exit(success);
  } catch (const CLI::ParseError& error) {
    complain(parse_complaint(app, error));
    return usage;
  }
  std::cout.flush();
  if (!std::cout) {
    complain(full_output);
    return failure;
  }
  return code;
}

}  // namespace

const std::vector<std::string>& arguments() { return stored_arguments(); }

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return 0;
}

std::unique_ptr<CLI::App> make_app(int& chosen_code) {
  auto app = std::make_unique<CLI::App>(
      "ringmaster: how much of a distributed training step is communication, why, and what to change", "ringmaster");
  app->require_subcommand(1);
  app->set_version_flag("--version", build_description());
  for (const Command* command : commands()) {
    CLI::App* sub = app->add_subcommand(command->name, command->summary);
    auto body = command->install(*sub);
    refuse_empty_values(*sub);
    sub->callback([body, &chosen_code] { chosen_code = body(); });
  }
  return app;
}

namespace {

int run_guarded(int argc, char** argv) {
  int code = success;
  try {
    const auto app = make_app(code);
    return parse_and_run(*app, argc, argv, code);
  } catch (const UserError& error) {
    for (const Complaint& complaint : error.complaints()) complain(complaint.line());
    return usage;
  } catch (const std::exception& error) {
    // What is longer than the stream's buffer fails while it is printed, with words that do not say where to.
    const bool output = std::ferror(stdout) != 0;
    complain(output ? full_output : std::string("error: ") + error.what());
    return failure;
  }
}

/// mpirun passes on what a rank wrote in its own time, and speaks of the exit code at once: our line comes first.
void let_launcher_catch_up() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return;
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace

int run_program(int argc, char** argv) {
  stored_arguments().assign(argv + 1, argv + argc);
  configure_log(LogLevel::info, launched_rank());
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the process
  const int code = run_guarded(argc, argv);
  if (code != success) let_launcher_catch_up();
  return code;
}

}  // namespace ringmaster::cli
