// SPDX-License-Identifier: Apache-2.0
// docs/config.md, from the table of keys and the registries.
#include <fmt/format.h>

#include "base/text.hpp"
#include "collective/allreduce.hpp"
#include "experiment/assertions.hpp"
#include "experiment/config_keys.hpp"

namespace ringmaster::experiment {
namespace {

constexpr const char* introduction = R"(# Config

<!-- Generated from the program's tables: do not edit. A test compares. -->

YAML, strict: an unknown key, a key that stands twice, a value of the wrong type or out of range is an error with
its place, and all errors are listed at once. Everything has a default, so the smallest config is `model: mlp`.
Anchors, aliases and tags are not supported. Sizes accept binary suffixes (64M = 64 MiB).

`--set dotted.key=value` lies over the file and over every workload; setting a swept key ends its sweep.
`ringmaster validate CONFIG --resolved` prints the config with every default filled in.

- `model`: a kind with its parameters (`{kind: mlp, width: 512}`), or the name of a file in configs/models, over
  which the other keys of the map lie. Kind `layers` also takes `layers: [{flops, parameters, bytes}, ...]`.
- `data`: the keys below and the parameters of its kind.
- `communication.collective`: a variant with its parameters: `ring`, `direct(form=one-shot)` or
  `{direct: {form: one-shot}}`; `ring@shared` runs on the memory that the ranks of a node share, without messages;
  `ring@mixed` on that memory inside nodes and with messages between them.
  `communication.rank_order`: a list of ranks; default: as they are.
- `workloads`: a list of maps, each with a name and its own settings over the rest of the file.
- `sweep`: `dotted.key: [values]`; the product of all is run in one job, for every workload. The library's
  collective is always among the points.
- `assert`: `quantity: "< bound"` (or a list of bounds; quote them, `>` alone begins a block in YAML). A point's
  name and a dot may stand before the quantity. A bound that fails is exit code 3.
- `plant`: planted faults, for tests of the diagnosis; the result is stamped.

## Keys

| key | what it takes | what it is |
|---|---|---|
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string row(const std::string& name, const ParameterSpec& spec) {
  return fmt::format("| `{}` | {} | {} |\n", name, escaped(describe(spec)), escaped(spec.help));
}

std::string entry_text(const std::string& name, const std::string& summary, std::span<const ParameterSpec> specs) {
  std::string text = fmt::format("\n`{}`: {}\n", name, summary);
  if (specs.empty()) return text;
  text += "\n| parameter | what it takes | what it is |\n|---|---|---|\n";
  for (const ParameterSpec& spec : specs) text += row(spec.name, spec);
  return text;
}

}  // namespace

std::string config_markdown() {
  std::string text = introduction;
  for (const Key& key : config_keys()) text += row(key.spec.name, key.spec);
  text += "\n## Models (`model.kind`)\n";
  for (const model::ModelEntry* entry : model::models()) {
    text += entry_text(entry->name, entry->summary, entry->parameters);
  }
  text += "\n## Datasets (`data.kind`)\n";
  for (const data::DatasetEntry* entry : data::datasets()) {
    text += entry_text(entry->name, entry->summary, entry->parameters);
  }
  text += "\n## Variants (`communication.collective`)\n";
  for (const collective::VariantInfo& variant : collective::allreduce_variants()) {
    text += entry_text(variant.name, variant.summary, variant.parameters);
  }
  text += "\n## Quantities of `assert`\n\n`" + join(assertable_quantities(), "`, `") + "`\n";
  return text;
}

}  // namespace ringmaster::experiment
