// SPDX-License-Identifier: Apache-2.0
#include "collective/libraries/mpi_call.hpp"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <utility>

#include "base/affinity.hpp"
#include "base/error.hpp"
#include "collective/libraries/mpi_types.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::collective::detail {
namespace {

const transport::MpiFacts& facts() {
  static const transport::MpiFacts all = transport::mpi_facts();
  return all;
}

std::string setting(const std::string& name) {
  for (const auto& [key, value] : facts().settings) {
    if (key == name) return value;
  }
  return {};
}

std::string binding() {
  const auto own = static_cast<int>(processing_units().size());
  const int all = machine_processing_units();
  return own >= all ? "not bound" : fmt::format("bound to {} of {} processing units", own, all);
}

/// Info object of MPI, freed at the end of its scope.
class Info {
 public:
  Info() { check_mpi(MPI_Info_create(&info_), "MPI_Info_create"); }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  void set(const char* key, const char* value) { check_mpi(MPI_Info_set(info_, key, value), "MPI_Info_set"); }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

class BlockingAllreduce final : public Operation {
 public:
  explicit BlockingAllreduce(MpiArguments arguments) : arguments_(std::move(arguments)) {}
  bool blocks() const override { return true; }

 private:
  void do_start() override {}
  bool do_progress() override {
    check_mpi(MPI_Allreduce(arguments_.input, arguments_.output, arguments_.count, arguments_.type,
                            arguments_.operation, *arguments_.comm),
              "MPI_Allreduce");
    arguments_.divide();
    return true;
  }
  MpiArguments arguments_;
};

}  // namespace

const std::string& library_name() { return facts().library; }

std::string carried_by(DataType type) {
  std::string text = library_name();
  const std::string pml = setting("pml");
  // An mtl carries for pml cm only, but is listed beside any.
  const char* below = pml == "cm" ? "mtl" : "btl";
  for (const char* framework : {"pml", below, "smsc"}) {
    const std::string components = setting(framework);
    if (!components.empty()) text += std::string(", ") + framework + " " + components;
  }
  const std::string single_copy = setting("btl_vader_single_copy_mechanism");
  if (!single_copy.empty()) text += ", single copy " + single_copy;
  return text + ", " + binding() + added_by(type);
}

std::string decided_by_user() {
  const std::string on = setting("coll_tuned_use_dynamic_rules");
  if (on != "true" && on != "1") return {};
  std::string text;
  const std::string algorithm = setting("coll_tuned_allreduce_algorithm");
  if (!algorithm.empty() && algorithm != "ignore" && algorithm != "0") text = ", forced to " + algorithm;
  const std::string rules = setting("coll_tuned_dynamic_rules_filename");
  return rules.empty() ? text : text + ", rules of " + rules;
}

Verdict has_communicator(const transport::ProcessGroup& group) {
  if (transport::native_communicator(group) != nullptr) return Verdict::yes();
  return Verdict::no(std::string("the library's allreduce needs MPI; this group runs over ") + group.transport_name());
}

Verdict has_open_mpi(const transport::ProcessGroup& group) {
  if (Verdict verdict = has_communicator(group); !verdict) return verdict;
  if (library_name().rfind("Open MPI", 0) != 0)
    return Verdict::no("only Open MPI can be told; this is " + library_name());
  return group.size() > 1 ? Verdict::yes() : Verdict::no("one rank has nothing to reduce");
}

Communicator borrowed(const transport::ProcessGroup& group) {
  return std::make_shared<const MPI_Comm>(*static_cast<MPI_Comm*>(transport::native_communicator(group)));
}

Communicator duplicate_preferring(const char* component, const transport::ProcessGroup& group) {
  Info info;
  info.set("ompi_comm_coll_preference", component);
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup_with_info(*borrowed(group), info.get(), &made), "MPI_Comm_dup_with_info");
  return {new MPI_Comm(made), [](const MPI_Comm* owned) {
            MPI_Comm comm = *owned;
            const bool freed = MPI_Comm_free(&comm) == MPI_SUCCESS;
            delete owned;
            RINGMASTER_ASSERT(freed, "a communicator was not freed");
          }};
}

MpiArguments mpi_arguments(Communicator comm, const Buffers& buffers) {
  const auto count = static_cast<std::int64_t>(buffers.output.size()) / size_of(buffers.type);
  if (count > std::numeric_limits<int>::max()) {
    throw UserError("the library's allreduce counts elements in 32 bits; this vector is longer",
                    "use a smaller bucket, or one of ringmaster's schedules");
  }
  const bool in_place = buffers.input.data() == buffers.output.data();
  int ranks = 1;
  check_mpi(MPI_Comm_size(*comm, &ranks), "MPI_Comm_size");
  return {in_place ? MPI_IN_PLACE : buffers.input.data(),
          buffers.output.data(),
          static_cast<int>(count),
          mpi_type(buffers.type),
          mpi_operation(buffers.type, buffers.reduction),
          std::move(comm),
          buffers.output,
          arithmetic_of(buffers.type, buffers.reduction, ranks, kernels::Sum::complete)};
}

void MpiArguments::divide() const {
  if (division.divisor == 1) return;
  const std::array<const std::byte*, 1> source{result.data()};
  kernels::reduce(source, result.data(), count, division);
}

std::unique_ptr<Operation> make_blocking_allreduce(Communicator comm, const Buffers& buffers) {
  return std::make_unique<BlockingAllreduce>(mpi_arguments(std::move(comm), buffers));
}

}  // namespace ringmaster::collective::detail
