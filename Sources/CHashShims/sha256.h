// SHA-256 by the processor's own instructions, where it has them: Intel SHA Extensions.
// Header only: nothing here is compiled on its own.
#ifndef C_HASH_SHIMS_H
#define C_HASH_SHIMS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

/// Whether the processor has the instructions of `shim_sha256_blocks`.
///
/// Intel's manual, volume 2, CPUID: leaf 7, EBX bit 29 (SHA); leaf 1, ECX bits 9 (SSSE3) and 19 (SSE4.1).
static inline int shim_sha256_is_available(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 9)) || !(c & (1u << 19))) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29));
}

/// Works `count` blocks of 64 bytes into `state` (eight words, FIPS 180-4, 6.2.2). `constants` are the 64 of 4.2.2.
///
/// The instructions take the state as two vectors, ABEF and CDGH, and do two rounds each.
__attribute__((target("sha,sse4.1,ssse3"))) static inline void shim_sha256_blocks(
    uint32_t *state, const uint32_t *constants, const uint8_t *bytes, size_t count) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i dcba = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
  __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(dcba, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, dcba, 0xf0);
  for (; count > 0; count--, bytes += 64) {
    const __m128i former_abef = abef, former_cdgh = cdgh;
    __m128i words[4];
#pragma clang loop unroll(full)
    for (int group = 0; group < 16; group++) {
      __m128i next;
      if (group < 4) {
        next = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * group)), order);
      } else {
        const __m128i last = words[(group + 3) & 3];
        next = _mm_sha256msg1_epu32(words[group & 3], words[(group + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(last, words[(group + 2) & 3], 4));
        next = _mm_sha256msg2_epu32(next, last);
      }
      words[group & 3] = next;
      const __m128i sum = _mm_add_epi32(next, _mm_loadu_si128((const __m128i *)(constants + 4 * group)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, former_abef);
    cdgh = _mm_add_epi32(cdgh, former_cdgh);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
static inline int shim_sha256_is_available(void) { return 0; }
static inline void shim_sha256_blocks(
    uint32_t *state, const uint32_t *constants, const uint8_t *bytes, size_t count) {
  (void)state, (void)constants, (void)bytes, (void)count;
}
#endif

#endif
