// SPDX-License-Identifier: Apache-2.0
// Which program this is. The revision is read from git when the program is built, not when it is configured,
// so that a result never names a commit that did not produce it.
#pragma once

#include <string>

namespace ringmaster {

/// "0.1.0".
std::string version();

/// The git revision that was built, with "+changes" where the tree was not clean; "unknown" without git.
std::string revision();

/// Equal on two ranks only if they run the same program: version, revision, changes, compiler, build type.
std::string build_id();

/// "ringmaster 0.1.0 (revision, compiler, build type)": one line for --version.
std::string build_description();

}  // namespace ringmaster
