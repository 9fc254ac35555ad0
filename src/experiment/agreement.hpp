// SPDX-License-Identifier: Apache-2.0
// Decisions that all ranks must share are made on rank 0 and broadcast, the failure included: nobody is left waiting
// for a rank that gave up.
#pragma once

#include <functional>
#include <string>

#include "base/error.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::experiment {

/// A user error that every rank knows of: the job ends in order, with exit code 2 and one message.
class AgreedError : public UserError {
 public:
  using UserError::UserError;
};

/// Collective over `group`. Rank 0 runs `body`; if it throws a UserError, every rank throws the same AgreedError.
/// Returns rank 0's text on every rank.
std::string on_root(transport::ProcessGroup& group, const std::function<std::string()>& body);

/// Collective over `group`. Every rank runs `body`; if any throws a UserError, all throw the lowest rank's as
/// AgreedError.
void on_every_rank(transport::ProcessGroup& group, const std::function<void()>& body);

/// Collective over `group`. AgreedError if the ranks' texts differ: "WHAT differs between ranks: rank 3 on node2 has
/// ...".
void require_equal(transport::ProcessGroup& group, const std::string& what, const std::string& mine,
                   const std::string& hint);

}  // namespace ringmaster::experiment
