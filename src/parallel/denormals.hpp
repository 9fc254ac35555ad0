// SPDX-License-Identifier: Apache-2.0
// Denormal numbers count as zero while an object lives, on the thread that made it. For the no-communication twin:
// its gradients are stand-ins, and a stand-in that decays into denormals would cost time that no real run has.
// Does nothing on processors without SSE.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace ringmaster::parallel {

class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() : saved_(_mm_getcsr()) {
    constexpr unsigned flush_to_zero = 0x8000U;
    constexpr unsigned denormals_are_zero = 0x0040U;
    _mm_setcsr(saved_ | flush_to_zero | denormals_are_zero);
  }
  ~FlushDenormals() { _mm_setcsr(saved_); }
#else
  FlushDenormals() = default;
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  FlushDenormals(FlushDenormals&&) = delete;
  FlushDenormals& operator=(FlushDenormals&&) = delete;

#if defined(__SSE__)

 private:
  unsigned saved_;
#endif
};

}  // namespace ringmaster::parallel
