#ifndef TAMIS_TAMIS_GUARD_H
#define TAMIS_TAMIS_GUARD_H

/* A filter in front of a key-value store on disk (libtamis-guard.so.0, which needs libtamis.so.0 and RocksDB). The filter
 * always covers the store: a key that is in the store answers "maybe" at every moment, also after a crash. The conventions of
 * tamis.h hold. All functions of a store but tamis_store_close may run at once, from any thread. */

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_store tamis_store;
typedef struct tamis_batch tamis_batch;

/* `directory` is made if it is not there; NULL: a store in memory. Options of `spec` beside the filter's: sync=1 (writes
 * survive a power cut), ordered=1 (of a new store: tamis_store_scan works), stripes=N (of a new store), cache=BYTES (of
 * RocksDB). A new store draws a secret for the keyed hash and keeps it. Who gives `secret`, or seed=HEX for the fast hash,
 * gives it at every opening. */
TAMIS_API int tamis_store_open(const char* directory, const char* spec, const uint8_t* secret, tamis_store** out,
                               tamis_error* error);
/* Takes a last snapshot of the filter and frees the store, also if the snapshot fails. NULL: does nothing. */
TAMIS_API int tamis_store_close(tamis_store* store, tamis_error* error);

/* After an error of a put, erase or write the outcome is unknown, and further changes are refused until the store is opened
 * again. Queries are answered. */
TAMIS_API int tamis_store_put(tamis_store* store, const void* key, size_t key_size, const void* value, size_t value_size,
                              tamis_error* error);
TAMIS_API int tamis_store_erase(tamis_store* store, const void* key, size_t size, tamis_error* error); /* 1: it was there */
/* 1: the sink has got the value, in one call. 0: the key is not there. */
TAMIS_API int tamis_store_get(tamis_store* store, const void* key, size_t size, tamis_sink sink, void* context,
                              tamis_error* error);
TAMIS_API int tamis_store_contains(tamis_store* store, const void* key, size_t size, tamis_error* error);
/* The filter's answer alone. 0: certainly not there. */
TAMIS_API int tamis_store_may_contain(const tamis_store* store, const void* key, size_t size);

/* Takes a value, or NULL where the key is not there. 0 goes on, < 0 fails. */
typedef int (*tamis_take_value)(void* context, uint64_t index, const void* value, size_t size);
/* Keys of forms that have bytes: FIXED_WIDTH to SLICES. Nulls are not there. */
TAMIS_API int tamis_store_get_many(tamis_store* store, const tamis_keys* keys, tamis_take_value take, void* context,
                                   tamis_error* error);

/* out[i]: 1 if the key is there. Keys as above. */
TAMIS_API int tamis_store_contains_many(tamis_store* store, const tamis_keys* keys, uint8_t* out, tamis_error* error);

/* Changes that happen all or not at all. Of several changes of a key the last one counts. */
TAMIS_API int tamis_batch_create(tamis_batch** out, tamis_error* error);
TAMIS_API int tamis_batch_put(tamis_batch* batch, const void* key, size_t key_size, const void* value, size_t value_size,
                              tamis_error* error);
TAMIS_API int tamis_batch_erase(tamis_batch* batch, const void* key, size_t size, tamis_error* error);
TAMIS_API void tamis_batch_free(tamis_batch* batch);
TAMIS_API int tamis_store_write(tamis_store* store, const tamis_batch* batch, tamis_error* error);
/* Very many puts at once, an order of magnitude faster and not atomic: after an error some keys may be there. */
TAMIS_API int tamis_store_load(tamis_store* store, const tamis_batch* puts, tamis_error* error);

/* Takes an entry. 0 goes on, > 0 stops, < 0 fails. */
typedef int (*tamis_take_entry)(void* context, const void* key, size_t key_size, const void* value, size_t value_size);
/* Keys from `first` on in the order of their bytes. The store must have been made with ordered=1. */
TAMIS_API int tamis_store_scan(const tamis_store* store, const void* first, size_t size, tamis_take_entry take, void* context,
                               tamis_error* error);

TAMIS_API int tamis_store_snapshot(tamis_store* store, tamis_error* error); /* the filter as it is now is on disk */
TAMIS_API int tamis_store_wait(tamis_store* store, tamis_error* error);     /* until the filter of every stripe is there */
/* JSON: what was asked and answered, how the filter came back, its memory and rate. */
TAMIS_API int tamis_store_stats(const tamis_store* store, tamis_sink sink, void* context, tamis_error* error);

#ifdef __cplusplus
}
#endif

#endif
