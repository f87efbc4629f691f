#ifndef TAMIS_PYTHON_H
#define TAMIS_PYTHON_H

/* The Python module, over tamis.h and the limited API of CPython 3.11: one binary for this and all later versions. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <tamis/tamis.h>

#include "turn.h"

typedef struct {
  PyObject_HEAD tamis_filter* filter; /* NULL until __new__ is done */
  turn turn;
} filter_object;

typedef struct {
  PyObject_HEAD tamis_remote* remote;
  filter_object* like; /* whose hash the digests are of */
} remote_object;

typedef struct {
  PyObject_HEAD PyObject* offsets;
  PyObject* data;
} strings_object;

/* Made once, when the module is imported. */
extern PyTypeObject* filter_type;
extern PyTypeObject* remote_type;
extern PyTypeObject* strings_type;

int make_errors(PyObject* module);
int take_errors(PyObject* tamis); /* from the module that made them */
int make_filter_type(PyObject* module);
int make_remote_type(PyObject* module);
int make_strings_type(PyObject* module);

/* Raises what `error` says. NULL, so that it can be returned. */
PyObject* raise_error(const tamis_error* error);
PyObject* raise_file_error(const tamis_error* error); /* the same, for what was not found: FileNotFoundError */
PyObject* raise_full(void);

/* Bytes for the keyed hash: *out is NULL for None. -1: an exception is set. */
int secret_of(PyObject* given, const uint8_t** out);

/* The text for tamis_filter_create of the arguments (kind, capacity, **options). *secret is borrowed, if there is one. */
PyObject* spec_of(const char* function, PyObject* args, PyObject* kwargs, PyObject** secret);

/* A tamis_sink whose context is a bytearray. The GIL is held. */
int sink_to_bytearray(void* context, const void* bytes, size_t size);
/* The text that `describe` sends to such a sink, parsed as JSON. */
PyObject* parsed_json(PyObject* bytearray);

/* One key. What it points to lives as long as the object that it came from, and while the GIL is held. */
typedef struct {
  int is_integer;
  uint64_t integer;
  tamis_slice bytes;
  Py_buffer view; /* of keys that are buffers; release_key frees it */
} one_key;
int read_key(PyObject* object, one_key* key); /* -1: an exception is set */
void release_key(one_key* key);

/* Keys in whatever form the caller has them: some parts that tamis reads where they are, or a tuple of objects. */
typedef struct key_part key_part;
typedef struct {
  uint64_t count;
  key_part* parts;
  size_t part_count;
  PyObject* items; /* a tuple, if there are no parts */
} key_source;
int open_keys(PyObject* object, key_source* keys); /* -1: an exception is set */
void close_keys(key_source* keys);

/* What is done with some of the keys: `first` is the place of the first one. < 0: failed. The GIL may be free. */
typedef int64_t (*use_keys)(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error);
enum access { reading, changing };
/* Takes the filter's turn and does it for all keys. Answers the sum, or -1 with an exception set. */
int64_t for_keys(filter_object* self, key_source* keys, enum access access, use_keys use, void* context);
/* The digests of all keys, to be freed by PyMem_Free; NULL with an exception set. */
tamis_digest* hash_keys(filter_object* self, key_source* keys);

/* Functions of the module (difference.c). */
PyObject* module_diff(PyObject* module, PyObject* args);
PyObject* module_diff_files(PyObject* module, PyObject* args);
PyObject* module_patch(PyObject* module, PyObject* args);
PyObject* module_patch_file(PyObject* module, PyObject* args);
PyObject* module_checksums(PyObject* module, PyObject* args);
PyObject* module_checksums_of_file(PyObject* module, PyObject* args);

#endif
