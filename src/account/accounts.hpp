// SPDX-License-Identifier: Apache-2.0
// The accounts of a step: every microsecond of a rank's main lane is in exactly one of them (docs/method.md).
// Made afterwards from recorded events of all ranks on one clock; live runs and imported traces alike.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/recorder.hpp"
#include "result/schema.hpp"

namespace ringmaster::account {

enum class Account : std::uint8_t {
  data_wait,
  forward,
  backward,
  exposed_skew,      // waiting because another rank was not ready
  exposed_transfer,  // waiting although all ranks were ready; queueing behind earlier buckets included
  progress,          // submitting buckets and moving messages on, by the main lane itself
  encode,
  optimizer,
  host_gap,
  pipeline_bubble,
  other,
  unaccounted,  // step minus all of the above
};
constexpr std::size_t account_count = 12;
static_assert(account_count == result::account_keys.size());
const char* name_of(Account account);

/// One step of one rank, seconds.
struct StepAccounts {
  std::int32_t step = 0;
  double step_s = 0;
  std::array<double, account_count> seconds{};
  double queueing_s = 0;       // part of exposed_transfer spent behind earlier buckets
  double communication_s = 0;  // union of the engine's transfers, each from when its last rank was ready
  double hidden_s = 0;         // of it, what ran while the main lane neither waited for it nor moved it on
  double operator[](Account a) const { return seconds[static_cast<std::size_t>(a)]; }
  double& operator[](Account a) { return seconds[static_cast<std::size_t>(a)]; }
};

/// One rank's events, already on the common clock.
struct RankEvents {
  int rank = 0;
  std::vector<Event> main;
  std::vector<Event> engine;
};

/// accounts[rank][i]: step i. Steps that not every rank has in full are dropped. Nested events count once: the
/// inner one wins (progress inside backward).
std::vector<std::vector<StepAccounts>> account(std::span<const RankEvents> ranks);

/// Do the books balance: |unaccounted| and other at most these shares of the step? One sentence each that fails.
std::vector<std::string> audit(std::span<const StepAccounts> steps, double most_unaccounted = 0.01,
                               double most_other = 0.03);

}  // namespace ringmaster::account
