// SPDX-License-Identifier: Apache-2.0
// Data without files, a pure function of (seed, sample), with something to learn in it.
//
//   tokens    a Markov chain: each token has four successors with shares 1/2, 1/4, 1/8, 1/8, so that a model can
//             go from the unigram entropy (near ln V) down to 1.213 nats
//   features  standard (Irwin-Hall of four), labels = a linear teacher over `fan_in` features an output + noise
//
// The teacher is sparse so that making a sample costs little beside a step of the model that learns it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/random.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

constexpr std::array<double, 4> branch_shares = {0.5, 0.25, 0.125, 0.125};

const ParameterSpec specs[] = {
    {"samples", ParameterType::integer, "samples", "65536", 2, 1e12, "samples, held-out ones included"},
    {"held_out", ParameterType::real, "", "0.05", 0, 0.5, "share of the samples that is never trained on"},
    {"noise", ParameterType::real, "", "0.1", 0, 1e3, "standard deviation of the labels' noise"},
    {"fan_in", ParameterType::integer, "features", "16", 1, 1e6, "features that each label depends on"},
};

/// Sum of four 16-bit uniforms, scaled to mean 0 and variance 1: a cheap normal.
float irwin_hall(std::uint64_t bits) {
  const auto word = [bits](unsigned i) { return static_cast<std::int64_t>((bits >> (16U * i)) & 0xFFFFU); };
  const std::int64_t sum = word(0) + word(1) + word(2) + word(3);
  constexpr double scale = 1.7320508075688772 / 65536.0;
  return static_cast<float>((static_cast<double>(sum) - 2.0 * 65535.0) * scale);
}

std::int64_t held_out_of(std::int64_t samples, double share) {
  if (share <= 0) return 0;
  const auto wanted = static_cast<std::int64_t>(std::llround(share * static_cast<double>(samples)));
  return std::clamp<std::int64_t>(wanted, 1, samples - 1);
}

class Synthetic : public Dataset {
 public:
  Synthetic(const DataChoice& choice, const SampleShape& shape) : shape_(shape), seed_(mix(choice.seed, 0x73796e74)) {
    const std::int64_t samples = choice.parameters.integer("samples");
    held_out_ = held_out_of(samples, choice.parameters.real("held_out"));
    size_ = samples - held_out_;
  }
  std::int64_t size() const override { return size_; }
  std::int64_t held_out_size() const override { return held_out_; }
  SampleShape shape() const override { return shape_; }

 protected:
  SampleShape shape_;
  std::uint64_t seed_;

 private:
  std::int64_t size_ = 0;
  std::int64_t held_out_ = 0;
};

class Chain final : public Synthetic {
 public:
  Chain(const DataChoice& choice, const SampleShape& shape) : Synthetic(choice, shape) {
    const auto vocabulary = static_cast<std::size_t>(shape.vocabulary);
    successors_.resize(vocabulary);
    for (std::size_t token = 0; token < vocabulary; ++token) {
      for (std::size_t branch = 0; branch < branch_shares.size(); ++branch) {
        const std::uint64_t number = mix(seed_, token * branch_shares.size() + branch);
        successors_[token][branch] = static_cast<std::int32_t>(number % vocabulary);
      }
    }
  }

  void fill(std::int64_t sample, std::int64_t slot, Batch& batch) const override {
    const auto length = static_cast<std::size_t>(shape_.length);
    const std::size_t start = static_cast<std::size_t>(slot) * length;
    const std::uint64_t stream = mix(seed_ + 1, static_cast<std::uint64_t>(sample));
    auto token = static_cast<std::int32_t>(mix(stream, length) % successors_.size());
    for (std::size_t i = 0; i < length; ++i) {
      batch.tokens[start + i] = token;
      token = successors_[static_cast<std::size_t>(token)][branch_of(mix(stream, i))];
      batch.targets[start + i] = token;
    }
  }

  double unigram_entropy() const override {
    std::call_once(entropy_once_, [this] { entropy_ = exact_unigram_entropy(); });
    return entropy_;
  }

  std::string describe() const override {
    return fmt::format("synthetic: Markov chain of {} tokens, {} + {} samples of {} tokens", shape_.vocabulary, size(),
                       held_out_size(), shape_.length);
  }

  // The seed and the parameters are the config's.
  std::string fingerprint() const override { return describe(); }

 private:
  static std::size_t branch_of(std::uint64_t bits) {
    if ((bits & 1U) == 0) return 0;
    if ((bits & 2U) == 0) return 1;
    return (bits & 4U) == 0 ? 2 : 3;
  }

  /// Of the targets: the distribution after 1 .. length steps from a uniform start, averaged.
  double exact_unigram_entropy() const {
    const std::size_t vocabulary = successors_.size();
    std::vector<double> now(vocabulary, 1.0 / static_cast<double>(vocabulary));
    std::vector<double> next(vocabulary);
    std::vector<double> total(vocabulary, 0.0);
    for (std::int64_t step = 0; step < shape_.length; ++step) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t token = 0; token < vocabulary; ++token) {
        for (std::size_t branch = 0; branch < branch_shares.size(); ++branch) {
          next[static_cast<std::size_t>(successors_[token][branch])] += now[token] * branch_shares[branch];
        }
      }
      now.swap(next);
      for (std::size_t token = 0; token < vocabulary; ++token) total[token] += now[token];
    }
    double entropy = 0;
    for (const double sum : total) {
      const double share = sum / static_cast<double>(shape_.length);
      if (share > 0) entropy -= share * std::log(share);
    }
    return entropy;
  }

  std::vector<std::array<std::int32_t, 4>> successors_;
  mutable std::once_flag entropy_once_;
  mutable double entropy_ = 0;
};

class Teacher final : public Synthetic {
 public:
  Teacher(const DataChoice& choice, const SampleShape& shape)
      : Synthetic(choice, shape), noise_(static_cast<float>(choice.parameters.real("noise"))) {
    const std::int64_t fan_in = std::min(choice.parameters.integer("fan_in"), shape.length);
    fan_in_ = static_cast<std::size_t>(fan_in);
    terms_.resize(static_cast<std::size_t>(shape.outputs) * fan_in_);
    const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)));
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      terms_[i].feature = static_cast<std::int32_t>(mix(seed_ + 2, i) % static_cast<std::uint64_t>(shape.length));
      terms_[i].weight = irwin_hall(mix(seed_ + 3, i)) * scale;
    }
  }

  void fill(std::int64_t sample, std::int64_t slot, Batch& batch) const override {
    const auto length = static_cast<std::size_t>(shape_.length);
    const auto outputs = static_cast<std::size_t>(shape_.outputs);
    const std::uint64_t stream = mix(seed_ + 1, static_cast<std::uint64_t>(sample));
    const std::span<float> features =
        std::span(batch.features).subspan(static_cast<std::size_t>(slot) * length, length);
    const std::span<float> labels = std::span(batch.labels).subspan(static_cast<std::size_t>(slot) * outputs, outputs);
    for (std::size_t i = 0; i < length; ++i) features[i] = irwin_hall(mix(stream, i));
    for (std::size_t output = 0; output < outputs; ++output) {
      float sum = noise_ * irwin_hall(mix(stream, length + output));
      for (const Term& term : std::span(terms_).subspan(output * fan_in_, fan_in_)) {
        sum += term.weight * features[static_cast<std::size_t>(term.feature)];
      }
      labels[output] = sum;
    }
  }

  double unigram_entropy() const override { return std::numeric_limits<double>::quiet_NaN(); }

  std::string describe() const override {
    return fmt::format("synthetic: linear teacher of {} features and {} outputs, {} + {} samples", shape_.length,
                       shape_.outputs, size(), held_out_size());
  }

  // The seed and the parameters are the config's.
  std::string fingerprint() const override { return describe(); }

 private:
  struct Term {
    std::int32_t feature = 0;
    float weight = 0;
  };
  std::vector<Term> terms_;
  std::size_t fan_in_ = 1;
  float noise_;
};

Verdict supports(const DataChoice&, const SampleShape& shape) {
  if (shape.length < 1) return Verdict::no("a sample needs at least one token or feature");
  if (shape.tokens && shape.vocabulary < 2) return Verdict::no("a chain needs at least two tokens");
  if (!shape.tokens && shape.outputs < 1) return Verdict::no("a teacher needs at least one output");
  return Verdict::yes();
}

std::unique_ptr<Dataset> make(const DataChoice& choice, const SampleShape& shape) {
  if (shape.tokens) return std::make_unique<Chain>(choice, shape);
  return std::make_unique<Teacher>(choice, shape);
}

}  // namespace

const DatasetEntry& synthetic_dataset() {
  static const DatasetEntry entry{"synthetic", "tokens from a Markov chain, or features with a linear teacher", specs,
                                  supports, make};
  return entry;
}

}  // namespace ringmaster::data
