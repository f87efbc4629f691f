/* Keys in the forms that Python has them. */

#include <stdlib.h>
#include <string.h>

#include "arrow.h"
#include "tamis_python.h"

struct key_part {
  tamis_keys keys;
  Py_buffer view, offsets; /* what is held of a buffer, or of two (Strings) */
  struct ArrowArray array;
  int64_t* buffer_sizes;
};

static key_part* new_part(key_source* keys) {
  key_part* const grown = realloc(keys->parts, (keys->part_count + 1) * sizeof *grown);
  if (grown == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  keys->parts = grown;
  key_part* const part = &grown[keys->part_count++];
  memset(part, 0, sizeof *part);
  part->keys.struct_size = sizeof part->keys;
  return part;
}

/* ---- buffers ---- */

static const uint32_t integer_forms[9][2] = {
    {0}, {TAMIS_U8, TAMIS_I8}, {TAMIS_U16, TAMIS_I16}, {0}, {TAMIS_U32, TAMIS_I32}, {0}, {0}, {0}, {TAMIS_U64, TAMIS_I64}};

/* The form of an array's elements; 0 if tamis cannot read them where they are. */
static uint32_t form_of(const char* format, Py_ssize_t size) {
  if (format == NULL) return TAMIS_U8;
  int is_little = 1;
  if (*format == '@' || *format == '=' || *format == '<' || *format == '|') {
    ++format;
  } else if (*format == '>' || *format == '!') {
    is_little = 0;
    ++format;
  }
  const char* const last = format + strspn(format, "0123456789");
  if (*last == 's' && last[1] == '\0') return TAMIS_PADDED;
  if (last != format || *last == '\0' || last[1] != '\0' || size > 8 || (!is_little && size > 1)) return 0;
  if (strchr("BHILQN?", *last) != NULL) return integer_forms[size][0];
  if (strchr("bhilqn", *last) != NULL) return integer_forms[size][1];
  return 0;
}

/* 1: done. 0: not a buffer that tamis can read. -1: an exception is set. */
static int open_buffer(PyObject* object, key_source* keys) {
  if (!PyObject_CheckBuffer(object)) return 0;
  key_part* const part = new_part(keys);
  if (part == NULL) return -1;
  if (PyObject_GetBuffer(object, &part->view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
    PyErr_Clear(); /* numpy's datetime64 */
    --keys->part_count;
    return 0;
  }
  const Py_buffer* const view = &part->view;
  if (view->ndim != 1) {
    PyErr_Format(PyExc_ValueError, "an array of keys has one dimension, not %d", view->ndim);
    return -1;
  }
  part->keys.form = form_of(view->format, view->itemsize);
  if (part->keys.form == 0) {
    PyBuffer_Release(&part->view);
    --keys->part_count;
    return 0;
  }
  part->keys.count = (uint64_t)(view->len / (view->itemsize == 0 ? 1 : view->itemsize));
  part->keys.data = view->buf;
  part->keys.width = (uint64_t)view->itemsize;
  part->keys.stride = view->strides == NULL ? 0 : view->strides[0];
  return 1;
}

static int open_strings(strings_object* strings, key_source* keys) {
  key_part* const part = new_part(keys);
  if (part == NULL) return -1;
  if (PyObject_GetBuffer(strings->offsets, &part->offsets, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
  if (PyObject_GetBuffer(strings->data, &part->view, PyBUF_SIMPLE) < 0) return -1;
  const uint32_t form = form_of(part->offsets.format, part->offsets.itemsize);
  if (form == TAMIS_I64 || form == TAMIS_U64) {
    part->keys.form = TAMIS_OFFSETS64; /* an unsigned one beyond 2^63 reads as negative, and is refused */
  } else if (form == TAMIS_I32) {
    part->keys.form = TAMIS_OFFSETS32;
  } else {
    PyErr_SetString(PyExc_TypeError, "Strings: offsets must be int32 or int64");
    return -1;
  }
  const Py_ssize_t count = part->offsets.len / part->offsets.itemsize;
  part->keys.count = count == 0 ? 0 : (uint64_t)count - 1;
  part->keys.offsets = part->offsets.buf;
  part->keys.data = part->view.buf;
  part->keys.data_size = (uint64_t)part->view.len;
  return 0;
}

/* ---- Arrow ---- */

static int wrong_arrow(const char* format) {
  PyErr_Format(PyExc_TypeError, "Arrow arrays of format '%s' are no keys; cast them to integers, strings or binary", format);
  return -1;
}

static int set_validity(key_part* part, const struct ArrowArray* array) {
  if (array->n_buffers > 0 && array->buffers[0] != NULL && array->null_count != 0) {
    part->keys.validity = array->buffers[0];
    part->keys.validity_offset = (uint64_t)array->offset;
  }
  return 0;
}

/* `buffers` behind the validity. */
static int set_views(key_part* part, const struct ArrowArray* array) {
  const int64_t long_buffers = array->n_buffers - 3;
  if (long_buffers < 0) return wrong_arrow("vu, without its sizes");
  part->keys.form = TAMIS_VIEWS;
  part->keys.data = (const char*)array->buffers[1] + 16 * array->offset;
  part->keys.buffers = array->buffers + 2;
  part->keys.buffer_sizes = array->buffers[array->n_buffers - 1];
  part->keys.buffer_count = (uint64_t)long_buffers;
  return set_validity(part, array);
}

static int set_offsets(key_part* part, const struct ArrowArray* array, uint32_t form, int64_t size) {
  const char* const offsets = (const char*)array->buffers[1] + size * array->offset;
  part->keys.form = form;
  part->keys.offsets = offsets;
  part->keys.data = array->buffers[2];
  /* Arrow does not say how long the data is: the last offset does. */
  if (size == 8) {
    int64_t last;
    memcpy(&last, offsets + size * array->length, sizeof last);
    part->keys.data_size = last < 0 ? 0 : (uint64_t)last;
  } else {
    int32_t last;
    memcpy(&last, offsets + size * array->length, sizeof last);
    part->keys.data_size = last < 0 ? 0 : (uint64_t)last;
  }
  return set_validity(part, array);
}

static int set_width(key_part* part, const struct ArrowArray* array, uint32_t form, uint64_t width) {
  part->keys.form = form;
  part->keys.width = width;
  part->keys.data = (const char*)array->buffers[1] + width * (uint64_t)array->offset;
  return set_validity(part, array);
}

static int set_arrow(key_part* part, const char* format, const struct ArrowArray* array) {
  static const struct {
    char letter;
    uint32_t form;
    uint64_t width;
  } integers[] = {{'c', TAMIS_I8, 1},  {'C', TAMIS_U8, 1},  {'s', TAMIS_I16, 2}, {'S', TAMIS_U16, 2},
                  {'i', TAMIS_I32, 4}, {'I', TAMIS_U32, 4}, {'l', TAMIS_I64, 8}, {'L', TAMIS_U64, 8}};
  if (array->length < 0 || array->offset < 0) return wrong_arrow("with a negative length");
  part->keys.count = (uint64_t)array->length;
  if (array->length == 0) {
    part->keys.form = TAMIS_U64;
    return 0;
  }
  if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) return set_views(part, array);
  if (format[0] == 'w' && format[1] == ':') return set_width(part, array, TAMIS_FIXED_WIDTH, strtoull(format + 2, NULL, 10));
  if (format[0] == '\0' || format[1] != '\0') return wrong_arrow(format);
  if (format[0] == 'u' || format[0] == 'z') return set_offsets(part, array, TAMIS_OFFSETS32, 4);
  if (format[0] == 'U' || format[0] == 'Z') return set_offsets(part, array, TAMIS_OFFSETS64, 8);
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i) {
    if (integers[i].letter == format[0]) return set_width(part, array, integers[i].form, integers[i].width);
  }
  return wrong_arrow(format);
}

/* Takes over `array`. */
static int add_arrow(key_source* keys, const struct ArrowSchema* schema, struct ArrowArray* array) {
  key_part* const part = new_part(keys);
  if (part == NULL) return -1;
  part->array = *array;
  array->release = NULL;
  if (schema->dictionary != NULL) return wrong_arrow("dictionary");
  return set_arrow(part, schema->format, &part->array);
}

static int open_arrow_array(PyObject* object, key_source* keys) {
  PyObject* const pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
  if (pair == NULL) return -1;
  int answer = -1;
  if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2) {
    struct ArrowSchema* const schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    struct ArrowArray* const array = schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
    if (array != NULL) answer = add_arrow(keys, schema, array);
  } else {
    PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ must answer a schema and an array");
  }
  Py_DECREF(pair);
  return answer;
}

static int read_stream(struct ArrowArrayStream* stream, key_source* keys) {
  struct ArrowSchema schema = {0};
  int failed = stream->get_schema(stream, &schema);
  int answer = 0;
  while (failed == 0 && answer == 0) {
    struct ArrowArray array = {0};
    failed = stream->get_next(stream, &array);
    if (failed != 0 || array.release == NULL) break;
    answer = add_arrow(keys, &schema, &array);
    if (array.release != NULL) array.release(&array);
  }
  if (failed != 0) {
    const char* const text = stream->get_last_error(stream);
    PyErr_Format(PyExc_OSError, "the Arrow stream failed: %s", text == NULL ? "it does not say why" : text);
  }
  if (schema.release != NULL) schema.release(&schema);
  return failed != 0 ? -1 : answer;
}

static int open_arrow_stream(PyObject* object, key_source* keys) {
  PyObject* const capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
  if (capsule == NULL) return -1;
  struct ArrowArrayStream* const stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  const int answer = stream == NULL ? -1 : read_stream(stream, keys);
  Py_DECREF(capsule);
  return answer;
}

/* ---- any of them ---- */

static int has(PyObject* object, const char* name) { return PyObject_HasAttrString(object, name); }

static int open_items(PyObject* object, key_source* keys) {
  keys->items = PySequence_Tuple(object);
  if (keys->items == NULL) return -1;
  keys->count = (uint64_t)PyTuple_Size(keys->items);
  return 0;
}

static int open_converted(PyObject* object, const char* method, key_source* keys) {
  PyObject* const converted = PyObject_CallMethod(object, method, NULL);
  if (converted == NULL) return -1;
  const int answer = PyList_Check(converted) ? open_items(converted, keys) : open_keys(converted, keys);
  Py_DECREF(converted);
  return answer;
}

static int open_any(PyObject* object, key_source* keys) {
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%R is one key, not many; put it into a list", (PyObject*)Py_TYPE(object));
    return -1;
  }
  if (PyList_Check(object) || PyTuple_Check(object)) return open_items(object, keys);
  if (PyObject_TypeCheck(object, strings_type)) return open_strings((strings_object*)object, keys);
  if (has(object, "__arrow_c_array__")) return open_arrow_array(object, keys);
  if (has(object, "__arrow_c_stream__")) return open_arrow_stream(object, keys);
  const int opened = open_buffer(object, keys);
  if (opened != 0) return opened < 0 ? -1 : 0;
  if (has(object, "to_numpy")) return open_converted(object, "to_numpy", keys);
  if (has(object, "tolist")) return open_converted(object, "tolist", keys);
  return open_items(object, keys);
}

int open_keys(PyObject* object, key_source* keys) {
  memset(keys, 0, sizeof *keys);
  if (open_any(object, keys) < 0) {
    close_keys(keys);
    return -1;
  }
  for (size_t i = 0; i < keys->part_count; ++i) keys->count += keys->parts[i].keys.count;
  return 0;
}

void close_keys(key_source* keys) {
  /* A release may be Python code, which must not see the exception that brought us here. */
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  for (size_t i = 0; i < keys->part_count; ++i) {
    key_part* const part = &keys->parts[i];
    if (part->view.obj != NULL) PyBuffer_Release(&part->view);
    if (part->offsets.obj != NULL) PyBuffer_Release(&part->offsets);
    if (part->array.release != NULL) part->array.release(&part->array);
  }
  PyErr_Restore(type, value, trace);
  free(keys->parts);
  Py_XDECREF(keys->items);
  memset(keys, 0, sizeof *keys);
}

/* ---- using them ---- */

static int64_t use_part(filter_object* self, const tamis_keys* keys, uint64_t first, enum access access, use_keys use,
                        void* context) {
  tamis_error error;
  int64_t answer;
  if (access == reading) {
    turn_begin_read(&self->turn);
  } else {
    turn_begin_change(&self->turn);
  }
  Py_BEGIN_ALLOW_THREADS answer = use(self->filter, keys, first, context, &error);
  Py_END_ALLOW_THREADS if (access == reading) { turn_end_read(&self->turn); }
  else {
    turn_end_change(&self->turn);
  }
  if (answer < 0) raise_error(&error);
  return answer < 0 ? -1 : answer;
}

enum { block_size = 512 };

/* Some items as tamis reads them. The tuple keeps str and bytes alive; what could change meanwhile is copied. */
typedef struct {
  tamis_slice slices[block_size];
  uint64_t integers[block_size]; /* an integer is its eight bytes, little-endian */
  PyObject* copies[block_size];
  size_t count, integer_count, copy_count;
} item_block;

static int add_item(item_block* block, PyObject* item) {
  one_key key;
  if (read_key(item, &key) < 0) return -1;
  tamis_slice* const slice = &block->slices[block->count];
  if (key.is_integer) {
    block->integers[block->count] = key.integer;
    slice->data = &block->integers[block->count];
    slice->size = sizeof key.integer;
    ++block->integer_count;
  } else {
    *slice = key.bytes;
  }
  if (key.view.obj != NULL) {
    PyObject* const copy = PyBytes_FromStringAndSize(key.bytes.data, (Py_ssize_t)key.bytes.size);
    release_key(&key);
    if (copy == NULL) return -1;
    block->copies[block->copy_count++] = copy;
    slice->data = PyBytes_AsString(copy);
  }
  ++block->count;
  return 0;
}

/* Hashes some items under the GIL: digests need no references to the objects. A filter's hash never changes, so this needs no
 * turn, and
 * __index__ of an item may use the filter. */
static int hash_items(filter_object* self, PyObject* items, uint64_t first, size_t count, tamis_digest* out) {
  item_block block;
  block.count = block.integer_count = block.copy_count = 0;
  int answer = 0;
  for (size_t i = 0; i < count && answer == 0; ++i) answer = add_item(&block, PyTuple_GetItem(items, (Py_ssize_t)(first + i)));
  if (answer == 0) {
    tamis_error error;
    tamis_keys keys = {sizeof keys, TAMIS_SLICES, count, block.slices, 0, 0, NULL, 0, NULL, 0, NULL, NULL, 0};
    if (block.integer_count == count) {
      keys.form = TAMIS_U64;
      keys.data = block.integers;
    }
    answer = tamis_hash(self->filter, &keys, out, &error);
    if (answer < 0) raise_error(&error);
  }
  for (size_t i = 0; i < block.copy_count; ++i) Py_DECREF(block.copies[i]);
  return answer < 0 ? -1 : 0;
}

static int64_t use_items(filter_object* self, key_source* keys, enum access access, use_keys use, void* context) {
  tamis_digest digests[block_size];
  int64_t sum = 0;
  for (uint64_t first = 0; first < keys->count; first += block_size) {
    const uint64_t left = keys->count - first;
    const size_t count = left < block_size ? (size_t)left : block_size;
    if (hash_items(self, keys->items, first, count, digests) < 0) return -1;
    if (access == reading) {
      turn_for_one_read(&self->turn);
    } else {
      turn_for_one_change(&self->turn);
    }
    const tamis_keys block = {sizeof block, TAMIS_DIGESTS, count, digests, 0, 0, NULL, 0, NULL, 0, NULL, NULL, 0};
    tamis_error error;
    const int64_t answer = use(self->filter, &block, first, context, &error);
    if (answer < 0) {
      raise_error(&error);
      return -1;
    }
    sum += answer;
  }
  return sum;
}

int64_t for_keys(filter_object* self, key_source* keys, enum access access, use_keys use, void* context) {
  if (keys->items != NULL) return use_items(self, keys, access, use, context);
  int64_t sum = 0;
  uint64_t first = 0;
  for (size_t i = 0; i < keys->part_count; ++i) {
    const int64_t answer = use_part(self, &keys->parts[i].keys, first, access, use, context);
    if (answer < 0) return -1;
    sum += answer;
    first += keys->parts[i].keys.count;
  }
  return sum;
}

static int64_t hash_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  return tamis_hash(filter, keys, (tamis_digest*)context + first, error);
}

/* Digests that were hashed already are copied: a block of items comes as such. */
tamis_digest* hash_keys(filter_object* self, key_source* keys) {
  if (keys->count > PY_SSIZE_T_MAX / sizeof(tamis_digest)) {
    PyErr_NoMemory();
    return NULL;
  }
  tamis_digest* const digests = PyMem_Malloc(keys->count == 0 ? 1 : keys->count * sizeof *digests);
  if (digests == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (for_keys(self, keys, reading, hash_some, digests) >= 0) return digests;
  PyMem_Free(digests);
  return NULL;
}
