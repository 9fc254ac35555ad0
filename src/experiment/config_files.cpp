// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
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

std::optional<std::string> read_file(const std::string& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string text(largest_yaml_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
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
  std::error_code code;
  if (!fs::exists(file, code)) refuse(file, "no such file", "");
  const std::optional<std::string> text = read_file(file);
  if (!text) refuse(file, "cannot be read", "is it a file?");
  return parse_config(*text, file, overrides);
}

}  // namespace ringmaster::experiment
