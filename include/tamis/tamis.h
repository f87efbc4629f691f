#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H

/* The stable C interface of tamis (libtamis.so.0). C99. No function throws, aborts or prints.
 *
 * Handles    Opaque. *_create, *_copy and *_load make them, *_free frees them; *_free(NULL) does nothing.
 * Answers    int: >= 0 is an answer (0 no, 1 yes), < 0 is one of the codes below. int64_t: a count, or a code. A function
 *            without a tamis_error cannot fail.
 * Errors     The last argument, in the caller's own memory; may be NULL. It has a code and a message that names the thing and
 *            the reason. There is no state per thread, so nothing breaks when a caller changes threads between calls.
 *            A failed call has changed nothing. A batch is a row of calls: the keys before the failed one are done.
 * Options    A text, "ID name=value name=value …", as in "evergreen capacity=1M fpr=0.01". New options need no new function.
 *            A secret is never part of a text, for texts end up in logs: it is 16 bytes of their own, or NULL.
 * Structs    Begin with struct_size = sizeof. Later versions only append fields.
 * Bytes out  Through a sink, so that memory of one allocator is never freed by another.
 * Threads    `const tamis_filter*`: any number of threads at once. Otherwise one thread, and no reader meanwhile. A concurrent
 *            filter (the option concurrent=1): all functions but *_free at once, from any thread.
 * Callbacks  Run on the calling thread. They return (no longjmp, no exception) and leave the handle of the call alone. If one
 *            answers < 0, the call stops with TAMIS_CALLBACK.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAMIS_API __attribute__((visibility("default")))
#else
#define TAMIS_API
#endif

/* Of this header; tamis_version() is that of the library in use. */
#define TAMIS_VERSION_MAJOR 0
#define TAMIS_VERSION_MINOR 2
#define TAMIS_VERSION_PATCH 0

typedef struct tamis_filter tamis_filter;
typedef struct tamis_remote tamis_remote;

enum {
  TAMIS_OK = 0,
  TAMIS_INVALID = -1,     /* an argument or option that is not acceptable */
  TAMIS_RANGE = -2,       /* a number outside what is allowed, or a size or rate that no such filter can have */
  TAMIS_NOT_FOUND = -3,   /* no such file or filter id */
  TAMIS_DAMAGED = -4,     /* stored bytes that are not what was stored, or never were a filter */
  TAMIS_NEWER = -5,       /* stored by a newer tamis */
  TAMIS_HASH = -6,        /* filled through another hash or seed, or the secret is missing or wrong */
  TAMIS_MISMATCH = -7,    /* two filters that do not belong together */
  TAMIS_UNSUPPORTED = -8, /* this filter, store or machine cannot do that */
  TAMIS_FULL = -9,        /* no room */
  TAMIS_IO = -10,         /* the system refused to read or write */
  TAMIS_MEMORY = -11,     /* there is not that much memory */
  TAMIS_IN_USE = -12,     /* somebody else has it open */
  TAMIS_CALLBACK = -13,   /* a callback failed, or answered what it must not */
  TAMIS_INTERNAL = -14    /* a bug of tamis: please report it */
};

typedef struct tamis_error {
  int32_t code;      /* one of the above; only written if the call fails */
  char message[508]; /* UTF-8, ends with NUL; cut off if it is longer */
} tamis_error;

/* Takes bytes; may be called several times. 0 goes on, < 0 fails. */
typedef int (*tamis_sink)(void* context, const void* bytes, size_t size);
/* Fills up to `size` bytes: how many, 0 at the end, < 0 if it failed. */
typedef int64_t (*tamis_source)(void* context, void* bytes, size_t size);

/* ---- library ---- */

TAMIS_API uint32_t tamis_version(void); /* major << 16 | minor << 8 | patch */
TAMIS_API const char* tamis_version_text(void);
TAMIS_API const char* tamis_cpu_level(void); /* portable, avx2 or avx512 */
TAMIS_API const char* tamis_code_text(int code);
TAMIS_API size_t tamis_kinds(void);              /* how many filters there are */
TAMIS_API const char* tamis_kind(size_t number); /* the id of one of them, NULL beyond the last */
/* JSON about a filter: id, summary, paper, capabilities, options. */
TAMIS_API int tamis_describe(const char* id, tamis_sink sink, void* context, tamis_error* error);

/* ---- keys ----
 *
 * An integer is hashed as its eight little-endian bytes, a string as its characters: the same bytes are the same key, whatever
 * they came as. Negative integers are sign-extended, so -1 and 2^64 - 1 are the same key. */

typedef struct tamis_digest {
  uint64_t high;
  uint64_t low;
} tamis_digest;

typedef struct tamis_slice {
  const void* data;
  size_t size;
} tamis_slice;

/* What `data` of a batch holds. Integers are in the machine's byte order. */
enum {
  TAMIS_U64 = 1,
  TAMIS_I64 = 2,
  TAMIS_U32 = 3,
  TAMIS_I32 = 4,
  TAMIS_U16 = 5,
  TAMIS_I16 = 6,
  TAMIS_U8 = 7,
  TAMIS_I8 = 8,
  TAMIS_FIXED_WIDTH = 9, /* `width` bytes each */
  TAMIS_PADDED = 10,     /* the same, but NULs at a key's end are no part of it: char name[32] */
  TAMIS_OFFSETS32 = 11,  /* bytes of all keys; `offsets` are count + 1 int32_t: Arrow's utf8 and binary */
  TAMIS_OFFSETS64 = 12,  /* the same with int64_t: large_utf8, large_binary */
  TAMIS_VIEWS = 13,      /* Arrow's string_view and binary_view: 16 bytes each, long ones in `buffers` */
  TAMIS_SLICES = 14,     /* tamis_slice each */
  TAMIS_DIGESTS = 15     /* tamis_digest each: keys that tamis_hash has hashed */
};

/* A batch of keys as the caller has it. What is not needed is 0: `tamis_keys keys = {sizeof keys, TAMIS_U64, count, data};` */
typedef struct tamis_keys {
  uint32_t struct_size;
  uint32_t form;
  uint64_t count;
  const void* data;
  uint64_t width;             /* FIXED_WIDTH, PADDED: bytes of a key */
  int64_t stride;             /* integers, FIXED_WIDTH, PADDED, DIGESTS: bytes from a key to the next; 0: they are adjacent */
  const void* offsets;        /* OFFSETS32, OFFSETS64 */
  uint64_t data_size;         /* OFFSETS32, OFFSETS64: bytes of `data`; offsets beyond are refused */
  const uint8_t* validity;    /* a bit for each key, lowest first, 0: null; NULL: all are there. Nulls are in no filter */
  uint64_t validity_offset;   /* bits before the first key's */
  const void* const* buffers; /* VIEWS */
  const int64_t* buffer_sizes;
  uint64_t buffer_count;
} tamis_keys;

/* ---- a filter's life ----
 *
 * Options of every filter: capacity=1M, fpr=0.01 or bits_per_key=12, seed=HEX (of the fast hash), mistakes=N (a list of known
 * mistakes). Without them: capacity=1M fpr=0.01 seed=0. tamis_describe lists those of a filter. Numbers: 1000000, 1e6, 1M.
 * concurrent=1 makes a filter that all threads use and change at once, in stripes=N parts (a power of two up to 256; without it
 * the capacity decides). A lookup sees all changes before it. It saves and loads as such, can be neither mapped nor folded,
 * merges without a remote and with its like. Whoever changes a store and the filter while others adapt sees to it that both
 * agree whenever the remote is asked.
 * `secret`: 16 bytes for the keyed hash, where strangers choose keys; NULL: the fast hash. It is not saved. */

TAMIS_API int tamis_filter_create(const char* spec, const uint8_t* secret, tamis_filter** out, tamis_error* error);
TAMIS_API int tamis_filter_copy(const tamis_filter* filter, tamis_filter** out, tamis_error* error);
TAMIS_API void tamis_filter_free(tamis_filter* filter);

/* Loads what was saved; `secret` as in tamis_filter_create, and the one that it was filled with. What is damaged, forged or
 * foreign is an error that says what is wrong. */
TAMIS_API int tamis_filter_load_file(const char* path, const uint8_t* secret, tamis_filter** out, tamis_error* error);
TAMIS_API int tamis_filter_load_bytes(const void* bytes, size_t size, const uint8_t* secret, tamis_filter** out,
                                      tamis_error* error);
TAMIS_API int tamis_filter_load(tamis_source source, void* context, const uint8_t* secret, tamis_filter** out,
                                tamis_error* error);
/* Uses a saved file where it is: its pages are read when they are touched, and shared between processes. Opening a Bloom or
 * cuckoo filter reads none of its table, so it answers as the bytes are until tamis_filter_verify has compared them with their
 * checksums; other kinds are verified at opening. Changes stay in memory. The file must stay as it is meanwhile: if it is
 * shortened, the next touch ends the process. To replace it whole is fine. */
TAMIS_API int tamis_filter_open_mapped(const char* path, const uint8_t* secret, tamis_filter** out, tamis_error* error);
/* Reads the whole file. Lookups may run meanwhile, and other calls may not. A filter that is not mapped is verified. */
TAMIS_API int tamis_filter_verify(tamis_filter* filter, tamis_error* error);
TAMIS_API int tamis_filter_is_verified(const tamis_filter* filter);
/* The file is replaced whole or not at all, and synced. */
TAMIS_API int tamis_filter_save_file(const tamis_filter* filter, const char* path, tamis_error* error);
TAMIS_API int tamis_filter_save(const tamis_filter* filter, tamis_sink sink, void* context, tamis_error* error);
TAMIS_API int64_t tamis_filter_saved_size(const tamis_filter* filter, tamis_error* error);

/* ---- one key ---- */

/* 0: certainly not in. 1: perhaps. */
TAMIS_API int tamis_may_contain_u64(const tamis_filter* filter, uint64_t key);
TAMIS_API int tamis_may_contain_bytes(const tamis_filter* filter, const void* key, size_t size);
/* 1: it is in. TAMIS_FULL: there is no room. */
TAMIS_API int tamis_insert_u64(tamis_filter* filter, uint64_t key, tamis_error* error);
TAMIS_API int tamis_insert_bytes(tamis_filter* filter, const void* key, size_t size, tamis_error* error);
/* One copy goes: 1; 0: it certainly was not in. The caller promises that it was: erasing other keys may lose some. */
TAMIS_API int tamis_erase_u64(tamis_filter* filter, uint64_t key, tamis_error* error);
TAMIS_API int tamis_erase_bytes(tamis_filter* filter, const void* key, size_t size, tamis_error* error);
/* At least the number of copies that are in. */
TAMIS_API int64_t tamis_count_u64(const tamis_filter* filter, uint64_t key, tamis_error* error);
TAMIS_API int64_t tamis_count_bytes(const tamis_filter* filter, const void* key, size_t size, tamis_error* error);

/* ---- batches ----
 *
 * `out` has a place for each key. Where it may be NULL, it says which keys went in or out; after an error, keys marked 1 did,
 * and others may have. The keys are checked before the first one is used. */

TAMIS_API int tamis_may_contain(const tamis_filter* filter, const tamis_keys* keys, uint8_t* out, tamis_error* error);
/* How many went in. `remote`, or NULL: for filters that need what is stored to grow, or to make room after they adapted. It
 * holds all keys of the filter; whether it already holds those of this batch (or still does, for erase) is left open. */
TAMIS_API int64_t tamis_insert(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                               tamis_error* error);
TAMIS_API int64_t tamis_erase(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                              tamis_error* error);
TAMIS_API int tamis_count(const tamis_filter* filter, const tamis_keys* keys, uint64_t* out, tamis_error* error);
/* The digests of the keys: hash once, ask many filters of the same hash. Nulls have no digest and are refused. */
TAMIS_API int tamis_hash(const tamis_filter* filter, const tamis_keys* keys, tamis_digest* out, tamis_error* error);
/* After true positives. The caller promises that the keys are in. */
TAMIS_API int tamis_rejuvenate(tamis_filter* filter, const tamis_keys* keys, tamis_error* error);

/* ---- adapting ----
 *
 * A remote is what is really stored, as digests: a multiset in memory, or a scan of the caller's. */

/* Takes a digest: 0 goes on, otherwise the scan stops and answers 0. */
typedef int (*tamis_visit)(void* visitor, tamis_digest digest);
/* Calls `visit` for the stored digests from first to last, both included, in order (high, then low), each as often as it is
 * stored. 0: done, < 0: failed. */
typedef int (*tamis_scan)(void* context, tamis_digest first, tamis_digest last, tamis_visit visit, void* visitor);

/* A remote that asks `scan`, with `context`, in the thread that adapts. Both must outlive it. */
TAMIS_API int tamis_remote_create(tamis_scan scan, void* context, tamis_remote** out, tamis_error* error);
TAMIS_API int tamis_remote_memory(tamis_remote** out, tamis_error* error); /* 16 bytes a key */
/* Of a remote in memory. How many: all of them, or for erase those that were there. */
TAMIS_API int64_t tamis_remote_insert(tamis_remote* remote, const tamis_digest* digests, size_t count, tamis_error* error);
TAMIS_API int64_t tamis_remote_erase(tamis_remote* remote, const tamis_digest* digests, size_t count, tamis_error* error);
TAMIS_API int64_t tamis_remote_size(const tamis_remote* remote, tamis_error* error);
TAMIS_API void tamis_remote_free(tamis_remote* remote);

enum {
  TAMIS_ADAPT_FIXED = 0,        /* the filter says no from now on */
  TAMIS_ADAPT_UNFIXABLE = 1,    /* it still says maybe */
  TAMIS_ADAPT_IS_MEMBER = 2,    /* the remote has the key: no mistake */
  TAMIS_ADAPT_NOT_POSITIVE = 3, /* it says no already */
  TAMIS_ADAPT_NULL = 4          /* the key is null */
};
/* After a "maybe" that was wrong: how many are fixed. `remote` may be NULL for filters that need none. `out`, or NULL, has what
 * became of each key. */
TAMIS_API int64_t tamis_adapt(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                              tamis_error* error);

/* ---- whole filters ---- */

/* What was in either is in `filter` afterwards. `remote`, or NULL, holds the keys of both. */
TAMIS_API int tamis_merge(tamis_filter* filter, const tamis_filter* other, const tamis_remote* remote, tamis_error* error);
TAMIS_API int tamis_expand(tamis_filter* filter, tamis_error* error); /* doubles the room */
/* bloom and bloom1: as small as can be with a rate of at most `fpr` for the keys that are in. By how much it is smaller now, 1
 * if it could not be. */
TAMIS_API int64_t tamis_fold(tamis_filter* filter, double fpr, tamis_error* error);

enum {
  TAMIS_CAN_ERASE = 1,
  TAMIS_CAN_COUNT = 2,
  TAMIS_CAN_ADAPT = 4,
  TAMIS_CAN_EXPAND = 8,
  TAMIS_CAN_MERGE = 16,
  TAMIS_CAN_REJUVENATE = 32
};
/* What it can do: a sum of the above. */
TAMIS_API uint32_t tamis_filter_can(const tamis_filter* filter);
TAMIS_API const char* tamis_filter_kind(const tamis_filter* filter); /* the id, "+mistakes" behind it if there is a list */
TAMIS_API uint64_t tamis_filter_keys(const tamis_filter* filter);
TAMIS_API uint64_t tamis_filter_capacity(const tamis_filter* filter);
TAMIS_API uint64_t tamis_filter_known_mistakes(const tamis_filter* filter);
TAMIS_API double tamis_filter_expected_fpr(const tamis_filter* filter); /* of the present content */
/* Bits of memory: what a lookup may touch, and what may be elsewhere (mirrors, shadows). */
TAMIS_API void tamis_filter_bits(const tamis_filter* filter, uint64_t* fast, uint64_t* slow);
TAMIS_API uint32_t tamis_filter_stripes(const tamis_filter* filter); /* of a concurrent filter; 0: it is none */
TAMIS_API int tamis_filter_is_keyed(const tamis_filter* filter);     /* is a secret needed to load it? */
TAMIS_API int tamis_filter_same_hash(const tamis_filter* filter, const tamis_filter* other);
/* JSON of the options in force. */
TAMIS_API int tamis_filter_settings(const tamis_filter* filter, tamis_sink sink, void* context, tamis_error* error);

/* ---- differences between saved filters ----
 *
 * What changed, as a patch: whoever has the old bytes makes the new ones of it. A patch fits one filter only; the wrong one, or
 * one that was applied, is TAMIS_MISMATCH. Everything is verified before it is given out or written. Instead of the old bytes
 * their checksums are enough, 8 bytes for each 64 KiB; then blocks that changed are sent whole. Files must not be shortened
 * meanwhile. */

TAMIS_API int tamis_diff_bytes(const void* old, size_t old_size, const void* made, size_t made_size, tamis_sink sink,
                               void* context, tamis_error* error);
TAMIS_API int tamis_diff_files(const char* old, const char* made, tamis_sink sink, void* context, tamis_error* error);
TAMIS_API int tamis_patch_bytes(const void* saved, size_t size, const void* patch, size_t patch_size, tamis_sink sink,
                                void* context, tamis_error* error);
/* In place: the file at `path` is replaced whole or not at all, and synced. */
TAMIS_API int tamis_patch_file(const char* path, const char* patch, tamis_error* error);
TAMIS_API int tamis_checksums_of_bytes(const void* saved, size_t size, tamis_sink sink, void* context, tamis_error* error);
TAMIS_API int tamis_checksums_of_file(const char* path, tamis_sink sink, void* context, tamis_error* error);

#ifdef __cplusplus
}
#endif

#endif
