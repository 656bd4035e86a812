/* An example of fathom.h: cc -O2 -o example example.c && fathom own ./example */
#define FATHOM_MAIN
#include "fathom.h"

/* 10,000 steps of xorshift32 (Marsaglia 2003), as in the examples in other languages. */
FATHOM_BENCH(xorshift, c) {
    uint32_t x = 1;
    fathom_keep(&x);
    for (int i = 0; i < 10000; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x;
}

FATHOM_BENCH(xorshift, c_halves) {
    uint32_t x = 1;
    for (int half = 0; half < 2; half++) {
        fathom_keep(&x);
        for (int i = 0; i < 5000; i++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
    }
    return x;
}
