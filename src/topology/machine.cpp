// SPDX-License-Identifier: Apache-2.0
// hwloc's view of a machine as text and numbers.
#include "topology/machine.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <hwloc.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/text.hpp"

namespace ringmaster::topology {
namespace {

struct TopologyTraits {
  using type = hwloc_topology_t;
  static type null() { return nullptr; }
  static void destroy(type topology) noexcept { hwloc_topology_destroy(topology); }
};
using Topology = Handle<TopologyTraits>;

void check(int code, const char* call) {
  if (code < 0) throw_os_error(call, "hwloc");
}

constexpr std::string_view xml_prefix = "xml:";
constexpr std::string_view synthetic_prefix = "synthetic:";

void choose_source(hwloc_topology_t topology, const std::string& source) {
  if (source.empty()) return;
  if (source.rfind(xml_prefix, 0) == 0) {
    const std::string path = source.substr(xml_prefix.size());
    if (hwloc_topology_set_xml(topology, path.c_str()) < 0) {
      throw UserError("cannot read the topology file '" + path + "'",
                      "an XML file made by lstopo or hwloc is expected");
    }
    return;
  }
  if (source.rfind(synthetic_prefix, 0) == 0) {
    const std::string text = source.substr(synthetic_prefix.size());
    if (hwloc_topology_set_synthetic(topology, text.c_str()) < 0) {
      throw UserError("not a synthetic topology: '" + text + "'",
                      "for example synthetic:pack:2 numa:1 l3:1 core:4 pu:2");
    }
    return;
  }
  throw UserError("unknown topology source '" + source + "'", "xml:FILE or synthetic:DESCRIPTION");
}

Topology load(const std::string& source) {
  Topology topology;
  check(hwloc_topology_init(topology.out()), "hwloc_topology_init");
  choose_source(topology.get(), source);
  check(hwloc_topology_set_io_types_filter(topology.get(), HWLOC_TYPE_FILTER_KEEP_IMPORTANT),
        "hwloc_topology_set_io_types_filter");
  if (hwloc_topology_load(topology.get()) < 0) {
    if (!source.empty())
      throw UserError("hwloc cannot load '" + source + "'", "is it whole, and of this hwloc's major version?");
    throw_os_error("hwloc_topology_load", "this machine");
  }
  return topology;
}

std::string info(hwloc_obj_t object, const char* name) {
  const char* value = object == nullptr ? nullptr : hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string() : std::string(value);
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int n = hwloc_get_nbobjs_by_type(topology, type);
  return n < 0 ? 0 : n;
}

std::string describe(hwloc_obj_t object) {
  std::vector<char> type(128);
  std::vector<char> attributes(512);
  hwloc_obj_type_snprintf(type.data(), type.size(), object, 0);
  hwloc_obj_attr_snprintf(attributes.data(), attributes.size(), object, " ", 0);
  std::string text = type.data();
  if (object->logical_index != HWLOC_UNKNOWN_INDEX) text += fmt::format(" {}", object->logical_index);
  if (object->type == HWLOC_OBJ_PU) text += fmt::format(" (P{})", object->os_index);
  if (object->name != nullptr) text += fmt::format(" \"{}\"", object->name);
  const bool memory_or_cache = object->type == HWLOC_OBJ_NUMANODE || hwloc_obj_type_is_cache(object->type) != 0;
  if (memory_or_cache && attributes[0] != '\0') text += fmt::format(" ({})", attributes.data());
  return text;
}

void draw(hwloc_obj_t object, int depth, std::string& text) {
  text += std::string(static_cast<std::size_t>(depth) * 2, ' ') + describe(object) + "\n";
  for (hwloc_obj_t child = object->memory_first_child; child != nullptr; child = child->next_sibling)
    draw(child, depth + 1, text);
  for (hwloc_obj_t child = object->first_child; child != nullptr; child = child->next_sibling)
    draw(child, depth + 1, text);
  for (hwloc_obj_t child = object->io_first_child; child != nullptr; child = child->next_sibling)
    draw(child, depth + 1, text);
}

std::string plural(int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string last_cache(hwloc_topology_t topology) {
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    if (cache != nullptr) {
      return fmt::format(", {} x L{} {}", count(topology, type), cache->attr->cache.depth,
                         format_size(static_cast<std::int64_t>(cache->attr->cache.size)));
    }
  }
  return "";
}

std::string export_xml(hwloc_topology_t topology) {
  char* buffer = nullptr;
  int length = 0;
  check(hwloc_topology_export_xmlbuffer(topology, &buffer, &length, 0), "hwloc_topology_export_xmlbuffer");
  std::string xml(buffer, static_cast<std::size_t>(length > 0 ? length - 1 : 0));
  hwloc_free_xmlbuffer(topology, buffer);
  return xml;
}

/// hwloc knows the memory of NUMA nodes; in some virtual machines that is a part of what the system has.
double memory_gb(hwloc_obj_t root, const std::string& source) {
  const auto nodes = static_cast<double>(root->total_memory);
  const long pages = source.empty() ? sysconf(_SC_PHYS_PAGES) : 0;
  const double system = pages > 0 ? static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
  return std::max(nodes, system) / 1e9;
}

}  // namespace

MachineView view_machine(const std::string& source) {
  const Topology owner = load(source);
  const hwloc_topology_t topology = owner.get();
  const hwloc_obj_t root = hwloc_get_root_obj(topology);
  MachineView view;
  view.processor = info(hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0), "CPUModel");
  if (view.processor.empty()) view.processor = info(root, "CPUModel");
  view.processor = trimmed(view.processor);  // names come padded with blanks
  view.packages = count(topology, HWLOC_OBJ_PACKAGE);
  view.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
  view.cores = count(topology, HWLOC_OBJ_CORE);
  view.processing_units = count(topology, HWLOC_OBJ_PU);
  view.memory_gb = memory_gb(root, source);
  view.line = fmt::format("{}, {}, {}, {}{}, {:.0f} GB", plural(view.packages, "package"), plural(view.cores, "core"),
                          plural(view.processing_units, "PU"), plural(view.numa_nodes, "NUMA node"),
                          last_cache(topology), view.memory_gb);
  draw(root, 0, view.tree);
  view.xml = export_xml(topology);
  return view;
}

}  // namespace ringmaster::topology
