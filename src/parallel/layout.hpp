// SPDX-License-Identifier: Apache-2.0
// Where each parameter and its gradient lie in the flat vectors, and how the flat gradient is cut into buckets.
//
//   flat:     | last layer's | ... | first layer's and tied ones |     the order in which backward finishes them
//   buckets:  |  0  |  1  |  2  |  ...                           |     equal pieces of bucket_bytes
//
// A bucket is ready when the backward of `ready_layer` is done: the lowest layer that any of its elements belongs to.
// Buckets cut through parameters, so that their size is what was asked for whatever the model. Places of parameters
// and borders of buckets are multiples of 64 bytes; the gap behind a parameter holds zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.hpp"
#include "parallel/data_parallel.hpp"

namespace ringmaster::parallel {

/// A range of the flat vectors that is updated alike.
struct DecayRange {
  std::int64_t offset = 0;
  std::int64_t elements = 0;
  bool decays = false;
};

struct Layout {
  std::vector<int> order;                       // parameters as they lie in memory
  std::vector<std::int64_t> offsets;            // of parameter i, elements
  std::int64_t elements = 0;                    // of a flat vector, gaps included
  std::int64_t parameters = 0;                  // gaps left out
  std::vector<BucketInfo> buckets;              // in the order of readiness
  std::vector<std::vector<DecayRange>> ranges;  // of bucket i
  std::vector<std::vector<int>> ready;          // buckets that layer i completes
};

Layout lay_out(const model::Model<float>& model, std::int64_t bucket_bytes);

}  // namespace ringmaster::parallel
