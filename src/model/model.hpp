// SPDX-License-Identifier: Apache-2.0
// A model is a list of layers with described parameters. It owns no parameters: whoever trains it passes their
// addresses, so that sharding and flat communication buckets attach without a copy.
//
// Letters: B samples, T tokens a sample, C width, V vocabulary. Float for training, double for gradient checks.
// One model object belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spec.hpp"

namespace ringmaster::model {

enum class Initializer : std::uint8_t { zeros, ones, normal };

struct ParameterInfo {
  std::string name;                 // "block2.attention.qkv.weight"
  std::vector<std::int64_t> shape;  // row-major
  Initializer initializer = Initializer::normal;
  double deviation = 0.02;  // of Initializer::normal
  bool decays = true;       // weight decay applies
  int split_axis = -1;      // axis along which it may be split over ranks; -1: none
  std::int64_t size() const;
};

/// One micro-batch. Token models use tokens (B, T) and targets (B, T); others features (B, F) and labels (B, O).
template <class T>
struct Input {
  std::int64_t samples = 0;
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> targets;
  std::span<const T> features;
  std::span<const T> labels;
};

/// Called around each layer, in the order of execution. Empty functions are skipped.
struct Hooks {
  std::function<void(int layer)> before_forward;
  std::function<void(int layer)> after_forward;
  std::function<void(int layer)> before_backward;
  std::function<void(int layer)> after_backward;
};

enum class Accumulate : std::uint8_t { overwrite, add };

/// What the model reads, so that data can be made for it.
struct InputShape {
  bool tokens = false;
  std::int64_t length = 0;      // T, or F
  std::int64_t vocabulary = 0;  // tokens
  std::int64_t outputs = 0;     // O
};

template <class T>
class Model {
 public:
  virtual ~Model() = default;

  virtual const std::vector<ParameterInfo>& parameters() const = 0;
  virtual InputShape input() const = 0;
  virtual int layer_count() const = 0;
  virtual std::string layer_name(int layer) const = 0;
  /// Indices of the parameters that a layer uses (a tied one is used by two layers).
  virtual std::vector<int> layer_parameters(int layer) const = 0;
  /// Floating point operations of forward + backward of one sample, by the formula in docs/method.md.
  virtual double flops_per_sample() const = 0;

  /// Allocates activations for up to so many samples (grows only).
  virtual void prepare(std::int64_t samples) = 0;
  /// Mean loss over the micro-batch. `parameters[i]` is the address of parameter i.
  virtual double forward(std::span<T* const> parameters, const Input<T>& input, const Hooks& hooks) = 0;
  /// Gradients of scale * (mean loss of the last forward). `overwrite` sets each gradient, `add` adds to it.
  virtual void backward(std::span<T* const> parameters, std::span<T* const> gradients, const Input<T>& input,
                        double scale, Accumulate accumulate, const Hooks& hooks) = 0;
};

/// Registry: one file in models/ and one line in models.def a model ("mlp", "transformer", "layers").
/// `structure` carries what a flat parameter cannot: the list of a `layers` model.
struct LayerShape {
  double flops = 0;             // forward + backward of one sample
  std::int64_t parameters = 0;  // elements
  std::int64_t bytes = 0;       // activation bytes of one sample
};
struct ModelChoice {
  std::string kind = "transformer";
  Parameters parameters;
  std::vector<LayerShape> layers;
};
struct ModelEntry {
  const char* name;
  const char* summary;
  std::span<const ParameterSpec> parameters;
  Verdict (*supports)(const ModelChoice&);
  std::unique_ptr<Model<float>> (*make)(const ModelChoice&);
  std::unique_ptr<Model<double>> (*make_double)(const ModelChoice&);
};
std::span<const ModelEntry* const> models();
/// Missing parameters take their defaults. Throws UserError for an unknown kind or an unsupported choice.
std::unique_ptr<Model<float>> make_model(ModelChoice choice);
std::unique_ptr<Model<double>> make_model_double(ModelChoice choice);

#define MODEL(name) const ModelEntry& name##_model();
#include "model/models.def"
#undef MODEL

/// Fills `values` as `info` says, from (seed, index): the same on every rank and for every layout.
template <class T>
void initialize(const ParameterInfo& info, int index, std::uint64_t seed, std::span<T> values);

}  // namespace ringmaster::model
