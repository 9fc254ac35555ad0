// SPDX-License-Identifier: Apache-2.0
// Makes a run fit to be committed. Every text of the run passes through the same filters (new fields too): absolute
// paths, addresses, users and hosts go; processor, topology and versions stay as they are but for paths and hosts.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "result/json.hpp"
#include "result/store.hpp"

namespace ringmaster::result {
namespace {

constexpr std::string_view path_mark = "<path>";
constexpr std::string_view address_mark = "<address>";
constexpr std::string_view user_mark = "<user>";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string replace_word(const std::string& text, const std::string& word, std::string_view with) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (alone) {
      out.append(text, from, at - from).append(with);
      from = end;
    }
    at = end;
  }
  return out.append(text, from);
}

/// Whether an absolute path (or ~/...) begins here: a slash that divides nothing.
bool path_begins(const std::string& text, std::size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  if (is_word(before) || before == '.' || before == '>' || before == '/' || before == '~') return false;
  if (text[at] == '~') return at + 1 < text.size() && text[at + 1] == '/';
  if (text[at] != '/') return false;
  const std::size_t name = text.find_first_not_of('/', at);
  return name != std::string::npos && (is_word(text[name]) || text[name] == '.');
}

/// Where it ends. A path may hold spaces: in quotes it ends with them; as the whole value of a YAML key, or as the
/// whole text, with the line.
std::size_t path_end(const std::string& text, std::size_t at) {
  const char before = at == 0 ? '\n' : text[at - 1];
  if (before == '"' || before == '\'') return std::min(text.find_first_of(std::string{before, '\n'}, at), text.size());
  const bool yaml_value = at >= 2 && text[at - 1] == ' ' && (text[at - 2] == ':' || text[at - 2] == '-') &&
                          text.find('\n') != std::string::npos;
  if (before == '\n' || yaml_value) return std::min(text.find('\n', at), text.size());
  std::size_t end = at;
  while (end < text.size() && !is_space(text[end]) &&
         std::string_view("\"',;:()[]{}<>").find(text[end]) == std::string_view::npos)
    ++end;
  return end;
}

std::string without_paths(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t scheme = text.compare(at, 3, "://") == 0 ? 3 : 0;
    if (scheme != 0) {  // a URL: what follows is a host and a path
      at += scheme;
      while (at < text.size() && !is_space(text[at]) && text[at] != '"' && text[at] != '\'') ++at;
      out.append("://").append(address_mark);
    } else if (path_begins(text, at)) {
      at = path_end(text, at);
      out.append(path_mark);
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

/// Four numbers up to 255 with dots between.
bool is_ipv4(std::string_view run) {
  int parts = 0;
  for (std::size_t at = 0; at <= run.size(); ++parts) {
    const std::size_t end = std::min(run.find('.', at), run.size());
    const std::string_view part = run.substr(at, end - at);
    if (part.empty() || part.size() > 3 || !std::all_of(part.begin(), part.end(), is_digit)) return false;
    if (std::stoi(std::string(part)) > 255) return false;
    at = end + 1;
  }
  return parts == 4;
}

/// A MAC address, or IPv6 in full or with "::". Times (11:30:15) are neither.
bool is_colon_address(std::string_view run) {
  const auto colons = std::count(run.begin(), run.end(), ':');
  const auto digits = std::count_if(run.begin(), run.end(), is_hex);
  if (run.find("::") != std::string_view::npos) return digits > 0 && run.size() >= 3;
  return (colons == 5 && digits == 12 && run.size() == 17) || colons == 7;
}

std::string without_addresses(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (is_hex(text[end]) || text[end] == ':' || text[end] == '.')) ++end;
    std::string_view run = std::string_view(text).substr(at, end - at);
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const bool ends = end == text.size() || !is_word(text[end]);
    const std::size_t port = run.find(':');
    if (starts && ends && (is_ipv4(run.substr(0, port)) || is_ipv4(run.substr(0, run.find_last_not_of('.') + 1)))) {
      out.append(address_mark);
      at = port == std::string_view::npos ? at + run.find_last_not_of('.') + 1 : at + port;
    } else if (starts && ends && is_colon_address(run)) {
      out.append(address_mark);
      at = end;
    } else {
      out.append(text, at, std::max<std::size_t>(end - at, 1));
      at = std::max(end, at + 1);
    }
  }
  return out;
}

/// "alice@host": what stands before the @.
std::string without_accounts(const std::string& text) {
  std::string out = text;
  for (std::size_t at = out.find('@'); at != std::string::npos; at = out.find('@', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && (is_word(out[begin - 1]) || out[begin - 1] == '.')) --begin;
    if (begin == at || at + 1 == out.size() || !is_word(out[at + 1])) continue;
    out.replace(begin, at - begin, user_mark);
    at = begin + user_mark.size();
  }
  return out;
}

/// Host -> node0.. in the order of the ranks; short names and the interruptions' hosts as well.
std::map<std::string, std::string> host_names(const Run& run) {
  std::map<std::string, std::string> names;
  int next = 0;
  const auto add = [&](const std::string& host) {
    if (host.empty() || names.count(host) != 0) return;
    const std::string short_name = host.substr(0, host.find('.'));
    const auto known = names.find(short_name);
    const std::string node = known != names.end() ? known->second : "node" + std::to_string(next++);
    names[host] = node;
    if (!std::all_of(short_name.begin(), short_name.end(), is_digit)) names[short_name] = node;
  };
  for (const std::string& host : run.machine.hosts) add(host);
  for (const Interruption& interruption : run.interruptions) add(interruption.host);
  return names;
}

/// Users that paths give away: /home/alice, /Users/alice.
std::set<std::string> user_names(const std::string& text) {
  std::set<std::string> users;
  for (const std::string_view parent : {"/home/", "/Users/", "/scratch/", "/users/"}) {
    for (std::size_t at = text.find(parent); at != std::string::npos; at = text.find(parent, at + 1)) {
      const std::size_t begin = at + parent.size();
      std::size_t end = begin;
      while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
      if (end - begin >= 3) users.insert(text.substr(begin, end - begin));
    }
  }
  return users;
}

// Names of ours: a host that is called "ring" must not rename the algorithm.
constexpr std::array kept_keys{
    "points.name", "points.variant", "points.workload", "points.role", "same_as",   "bench_rows.variant", ".kind",
    ".status",     ".device",        ".started",        ".ended",      ".revision", ".config_hash"};
constexpr std::array versions_kept{"versions", "machine.processor", "machine.topology"};

bool holds(const std::string& key, std::string_view name) {
  return key == name || key.rfind(std::string(name) + ".", 0) == 0;
}

class Scrubber {
 public:
  explicit Scrubber(const Run& run) : hosts_(host_names(run)), users_(user_names(to_json_complete(run, -1))) {}

  std::string operator()(const std::string& key, const std::string& text) const {
    for (const char* kept : kept_keys) {
      if (key == kept) return text;
    }
    std::string out = without_paths(text);
    // "4.1.4.2" in a version is no address.
    const bool version =
        std::any_of(versions_kept.begin(), versions_kept.end(), [&](const char* name) { return holds(key, name); });
    if (!version) out = without_addresses(out);
    out = without_accounts(out);
    for (auto host = hosts_.rbegin(); host != hosts_.rend(); ++host) out = replace_word(out, host->first, host->second);
    for (const std::string& user : users_) out = replace_word(out, user, user_mark);
    return out;
  }

 private:
  std::map<std::string, std::string> hosts_;
  std::set<std::string> users_;
};

}  // namespace

Run published(Run run) {
  const Scrubber scrubber(run);
  Run clean = with_texts(run, scrubber);
  // A host name that is itself an address was already masked: the ranks' nodes come from the table.
  const std::map<std::string, std::string> hosts = host_names(run);
  for (std::size_t i = 0; i < clean.machine.hosts.size(); ++i) clean.machine.hosts[i] = hosts.at(run.machine.hosts[i]);
  for (std::size_t i = 0; i < clean.interruptions.size(); ++i) {
    const std::string& host = run.interruptions[i].host;
    clean.interruptions[i].host = host.empty() ? host : hosts.at(host);
  }
  return clean;
}

}  // namespace ringmaster::result
