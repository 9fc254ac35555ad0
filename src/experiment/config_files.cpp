// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "experiment/config_source.hpp"

namespace ringmaster::experiment {
namespace {

namespace fs = std::filesystem;

bool is_plain_name(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '.' && std::all_of(name.begin(), name.end(), plain);
}

/// Where models lie: beside the config, in the working directory's configs, where the program is installed.
std::vector<fs::path> model_folders(const std::string& folder) {
  const fs::path here = folder.empty() ? fs::path(".") : fs::path(folder);
  std::vector<fs::path> folders{here / "models", here / ".." / "models", "configs/models"};
  std::error_code code;
  const fs::path program = fs::read_symlink("/proc/self/exe", code);
  if (!code) folders.push_back(program.parent_path() / ".." / "share" / "ringmaster" / "configs" / "models");
  return folders;
}

[[noreturn]] void refuse(const std::string& file, const std::string& text, const std::string& hint) {
  std::vector<Complaint> complaints(1);
  complaints.front().place.file = file;
  complaints.front().text = text;
  complaints.front().hint = hint;
  throw UserError(std::move(complaints));
}

[[noreturn]] void refuse_unreadable(const std::string& file, int error) {
  refuse(file, fmt::format("cannot be read: {}", std::strerror(error)), "look at its permissions and its folders'");
}

/// Nothing, with errno, where no file can be reached; what is there must be readable.
std::optional<std::string> read_file(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return std::nullopt;
  if (!S_ISREG(about.st_mode)) refuse(path, "cannot be read: it is no plain file", "give the YAML file itself");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_unreadable(path, errno);
  std::string text(largest_yaml_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse_unreadable(path, errno);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

ConfigFiles files_around(const std::string& folder) {
  ConfigFiles files;
  files.model = [folder](const std::string& name) -> std::optional<std::pair<std::string, std::string>> {
    if (!is_plain_name(name)) return std::nullopt;
    for (const fs::path& models : model_folders(folder)) {
      const std::string path = (models / (name + ".yaml")).lexically_normal().string();
      if (auto text = read_file(path)) return std::make_pair(std::move(*text), path);
    }
    return std::nullopt;
  };
  files.model_names = [folder] {
    std::vector<std::string> names;
    for (const fs::path& models : model_folders(folder)) {
      std::error_code code;
      for (const fs::directory_entry& entry : fs::directory_iterator(models, code)) {
        if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
      }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  };
  files.exists = [](const std::string& path) {
    std::error_code code;
    return fs::exists(path, code);
  };
  return files;
}

Config parse_config(const std::string& text, const std::string& file, const std::vector<std::string>& overrides) {
  return parse_config(text, file, overrides, files_around(fs::path(file).parent_path().string()));
}

Config load_config(const std::string& file, const std::vector<std::string>& overrides) {
  const std::optional<std::string> text = read_file(file);
  if (!text && errno != ENOENT && errno != ENOTDIR) refuse_unreadable(file, errno);
  if (!text) refuse(file, "no such file", "relative paths stand from the working directory");
  return parse_config(*text, file, overrides);
}

}  // namespace ringmaster::experiment
