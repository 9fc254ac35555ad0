// SPDX-License-Identifier: Apache-2.0
#include "experiment/agreement.hpp"

#include <fmt/core.h>

#include <cstring>

#include "base/affinity.hpp"

namespace ringmaster::experiment {
namespace {

// Complaints as text: fields end in '\x1f', complaints in '\x1e'. Neither can be typed into a config's message.
constexpr char field_end = '\x1f';
constexpr char record_end = '\x1e';

std::string encode(const UserError& error) {
  std::string text;
  for (const Complaint& c : error.complaints()) {
    for (const std::string& field :
         {c.place.file, std::to_string(c.place.line), std::to_string(c.place.column), c.text, c.hint}) {
      text += field + field_end;
    }
    text += record_end;
  }
  return text;
}

std::string take(const std::string& text, std::size_t& at, char end) {
  const std::size_t stop = text.find(end, at);
  std::string part = text.substr(at, stop - at);
  at = stop + 1;
  return part;
}

std::vector<Complaint> decode(const std::string& text) {
  std::vector<Complaint> complaints;
  for (std::size_t at = 0; at < text.size();) {
    Complaint c;
    c.place.file = take(text, at, field_end);
    c.place.line = std::stoi(take(text, at, field_end));
    c.place.column = std::stoi(take(text, at, field_end));
    c.text = take(text, at, field_end);
    c.hint = take(text, at, field_end);
    take(text, at, record_end);
    complaints.push_back(std::move(c));
  }
  return complaints;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  std::string text(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

std::vector<std::string> gather_texts(transport::ProcessGroup& group, const std::string& mine) {
  std::vector<std::string> texts;
  for (const auto& part : group.all_gather(std::as_bytes(std::span(mine.data(), mine.size())))) {
    texts.push_back(text_of(part));
  }
  return texts;
}

}  // namespace

std::string on_root(transport::ProcessGroup& group, const std::function<std::string()>& body) {
  std::string answer;
  if (group.rank() == 0) {
    try {
      answer = "+" + body();
    } catch (const UserError& error) {
      answer = "-" + encode(error);
    }
  }
  answer = transport::broadcast_text(group, answer);
  if (answer.front() == '-') throw AgreedError(decode(answer.substr(1)));
  return answer.substr(1);
}

void on_every_rank(transport::ProcessGroup& group, const std::function<void()>& body) {
  std::string problem;
  try {
    body();
  } catch (const UserError& error) {
    problem = encode(error);
  }
  for (const std::string& text : gather_texts(group, problem)) {
    if (!text.empty()) throw AgreedError(decode(text));
  }
}

void require_equal(transport::ProcessGroup& group, const std::string& what, const std::string& mine,
                   const std::string& hint) {
  const std::vector<std::string> all = gather_texts(group, mine);
  const std::vector<std::string> hosts = gather_texts(group, host_name());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    throw AgreedError(fmt::format("{} differs between ranks: rank 0 on {} has '{}', rank {} on {} has '{}'", what,
                                  hosts[0], all[0], rank, hosts[rank], all[rank]),
                      hint);
  }
}

}  // namespace ringmaster::experiment
