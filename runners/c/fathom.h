/* Functions of your own in C or C++ as contenders: one header, no build system.
 *
 *     #define FATHOM_MAIN            // in one file of the program
 *     #include "fathom.h"
 *     FATHOM_BENCH(sum, loop) { uint64_t s = 0; for (int i = 0; i < 1000; i++) s += i; return s; }
 *     FATHOM_BENCH(sum, formula) { return 999 * 1000 / 2; }
 *
 *     cc -O2 -o sums sums.c && fathom own ./sums
 *
 * The functions of a group are compared with its first; what they return is the check. Speaks the protocol
 * of docs/protocol.md, version 1. `fathom_keep(pointer)` makes the compiler believe that what the pointer
 * leads to may have changed, so that a loop over it is done each time. Linux, GCC or Clang. */
#ifndef FATHOM_H
#define FATHOM_H

#include <stdint.h>

struct fathom_bench {
    const char *group, *name;
    uint64_t (*run)(void);
    struct fathom_bench *next;
};
#ifdef __cplusplus
extern "C"
#endif
void fathom_register(struct fathom_bench *bench);

static inline void fathom_keep(const void *pointer) { __asm__ volatile("" : : "r"(pointer) : "memory"); }

#define FATHOM_BENCH(group, name)                                                                  \
    static uint64_t fathom_run_##group##_##name(void);                                             \
    static struct fathom_bench fathom_bench_##group##_##name = {                                   \
        #group, #name, fathom_run_##group##_##name, 0};                                            \
    __attribute__((constructor)) static void fathom_add_##group##_##name(void) {                   \
        fathom_register(&fathom_bench_##group##_##name);                                           \
    }                                                                                              \
    static uint64_t fathom_run_##group##_##name(void)

#ifdef FATHOM_MAIN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static struct fathom_bench *fathom_first, **fathom_last = &fathom_first;

void fathom_register(struct fathom_bench *bench) {
    *fathom_last = bench;
    fathom_last = &bench->next;
}

static uint64_t fathom_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t fathom_nothing(void) { return 0; }

/* The number behind "name": in a request, which has no other place for it. */
static uint64_t fathom_number(const char *line, const char *name) {
    const char *at = strstr(line, name);
    return at ? strtoull(at + strlen(name), 0, 10) : 0;
}

/* The bench a request opens: names are those we offered, so they need no escapes. */
static uint64_t (*fathom_find(const char *line))(void) {
    if (strstr(line, "\"contender\":null")) return fathom_nothing;
    for (struct fathom_bench *b = fathom_first; b; b = b->next) {
        char words[512];
        snprintf(words, sizeof words, "\"family\":\"%s\",\"contender\":\"%s\"", b->group, b->name);
        if (strstr(line, words)) return b->run;
    }
    return 0;
}

static void fathom_sample(uint64_t (*run)(void), uint64_t iterations, uint64_t warm) {
    uint64_t answer = 0, check = 0xcbf29ce484222325u;
    for (; warm > 0; warm--) answer = run();
    uint64_t cpu = fathom_clock(CLOCK_THREAD_CPUTIME_ID), wall = fathom_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < iterations; i++) {
        answer = run();
        fathom_keep(&answer);
    }
    wall = fathom_clock(CLOCK_MONOTONIC) - wall;
    cpu = fathom_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
    /* 64-bit FNV-1a of the answer's eight bytes. */
    for (int i = 0; i < 64; i += 8)
        check = (check ^ (answer >> i & 255)) * 0x100000001b3u;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"answer\":\"sample\",\"wall_ns\":%llu,\"cpu_ns\":%llu,\"check\":\"%016llx\",\"peak_bytes\":%llu}\n",
           (unsigned long long)wall, (unsigned long long)cpu, (unsigned long long)check,
           (unsigned long long)usage.ru_maxrss * 1024u);
}

int main(void) {
    uint64_t (*open)(void) = 0;
    static char line[1 << 16];
    for (; fgets(line, sizeof line, stdin); fflush(stdout)) {
        if (strstr(line, "\"ask\":\"hello\"")) {
            printf("{\"answer\":\"hello\",\"protocol\":1,\"program\":\"fathom.h, %s\",\"contenders\":[", __VERSION__);
            for (struct fathom_bench *b = fathom_first; b; b = b->next)
                printf("%s{\"family\":\"%s\",\"name\":\"%s\"}", b == fathom_first ? "" : ",", b->group, b->name);
            puts("]}");
        } else if (strstr(line, "\"ask\":\"open\"")) {
            open = fathom_find(line);
            puts(open ? "{\"answer\":\"opened\"}" : "{\"answer\":\"unsupported\",\"reason\":\"not here\"}");
        } else if (strstr(line, "\"ask\":\"sample\"") && open) {
            fathom_sample(open, fathom_number(line, "\"iterations\":"), fathom_number(line, "\"warm\":"));
        } else if (strstr(line, "\"ask\":\"metrics\"")) {
            puts("{\"answer\":\"metrics\",\"metrics\":[]}");
        } else if (strstr(line, "\"ask\":\"close\"")) {
            open = 0;
            puts("{\"answer\":\"closed\"}");
        } else {
            puts("{\"answer\":\"error\",\"message\":\"not understood, or nothing is open\"}");
        }
    }
    return 0;
}
#endif
#endif
