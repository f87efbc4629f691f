/* tamis.Filter. */

#include <string.h>

#include "tamis_python.h"

PyTypeObject* filter_type;

/* ---- life ---- */

/* Takes over `made`. */
static PyObject* wrapped(PyTypeObject* type, tamis_filter* made) {
  filter_object* const self = (filter_object*)PyType_GenericAlloc(type, 0);
  if (self == NULL || turn_init(&self->turn) < 0) {
    tamis_filter_free(made);
    Py_XDECREF((PyObject*)self);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  self->filter = made;
  self->turn.is_free = tamis_filter_stripes(made) > 0;
  return (PyObject*)self;
}

static void filter_dealloc(filter_object* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  if (self->filter != NULL) {
    tamis_filter_free(self->filter);
    turn_destroy(&self->turn);
  }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject* created(PyTypeObject* type, const char* spec, PyObject* given_secret) {
  const uint8_t* secret;
  if (secret_of(given_secret, &secret) < 0) return NULL;
  tamis_filter* made;
  tamis_error error;
  if (tamis_filter_create(spec, secret, &made, &error) < 0) return raise_error(&error);
  return wrapped(type, made);
}

static PyObject* filter_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* secret = NULL;
  PyObject* const spec = spec_of("Filter", args, kwargs, &secret);
  const char* const text = spec == NULL ? NULL : PyUnicode_AsUTF8AndSize(spec, NULL);
  PyObject* const made = text == NULL ? NULL : created(type, text, secret);
  Py_XDECREF(spec);
  return made;
}

static PyObject* filter_from_spec(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"spec", "secret", NULL};
  const char* spec;
  PyObject* secret = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|O:from_spec", names, &spec, &secret)) return NULL;
  return created(type, spec, secret);
}

typedef int (*open_file)(const char*, const uint8_t*, tamis_filter**, tamis_error*);

static PyObject* from_file(PyTypeObject* type, PyObject* args, PyObject* kwargs, const char* format, open_file open) {
  static char* names[] = {"path", "secret", NULL};
  PyObject *path, *given = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, PyUnicode_FSConverter, &path, &given)) return NULL;
  const uint8_t* secret;
  tamis_filter* made = NULL;
  tamis_error error;
  int answer = secret_of(given, &secret);
  if (answer == 0) {
    Py_BEGIN_ALLOW_THREADS answer = open(PyBytes_AsString(path), secret, &made, &error);
    Py_END_ALLOW_THREADS if (answer < 0) raise_file_error(&error);
  }
  Py_DECREF(path);
  return answer < 0 ? NULL : wrapped(type, made);
}

static PyObject* filter_load(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return from_file(type, args, kwargs, "O&|O:load", tamis_filter_load_file);
}
static PyObject* filter_open_mapped(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return from_file(type, args, kwargs, "O&|O:open_mapped", tamis_filter_open_mapped);
}

static PyObject* filter_from_bytes(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"data", "secret", NULL};
  Py_buffer data;
  PyObject* given = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "y*|O:from_bytes", names, &data, &given)) return NULL;
  const uint8_t* secret;
  tamis_filter* made = NULL;
  tamis_error error;
  int answer = secret_of(given, &secret);
  if (answer == 0 && (answer = tamis_filter_load_bytes(data.buf, (size_t)data.len, secret, &made, &error)) < 0)
    raise_error(&error);
  PyBuffer_Release(&data);
  return answer < 0 ? NULL : wrapped(type, made);
}

static PyObject* filter_save(filter_object* self, PyObject* given) {
  PyObject* path;
  if (!PyUnicode_FSConverter(given, &path)) return NULL;
  tamis_error error;
  int answer;
  turn_begin_read(&self->turn);
  Py_BEGIN_ALLOW_THREADS answer = tamis_filter_save_file(self->filter, PyBytes_AsString(path), &error);
  Py_END_ALLOW_THREADS turn_end_read(&self->turn);
  Py_DECREF(path);
  if (answer < 0) return raise_file_error(&error);
  Py_RETURN_NONE;
}

/* How long it becomes is not known before: others may change a concurrent filter meanwhile. */
static PyObject* filter_to_bytes(filter_object* self, PyObject* Py_UNUSED(none)) {
  tamis_error error;
  PyObject* const room = PyByteArray_FromStringAndSize(NULL, 0);
  if (room == NULL) return NULL;
  turn_for_one_read(&self->turn);
  const int answer = tamis_filter_save(self->filter, sink_to_bytearray, room, &error);
  PyObject* const bytes = answer < 0 ? raise_error(&error) : PyBytes_FromObject(room);
  Py_DECREF(room);
  return bytes;
}

static PyObject* filter_reduce(filter_object* self, PyObject* Py_UNUSED(none)) {
  if (tamis_filter_is_keyed(self->filter)) {
    PyErr_SetString(PyExc_TypeError,
                    "a filter with a secret cannot be pickled: its secret is not saved; use to_bytes and from_bytes");
    return NULL;
  }
  PyObject* const bytes = filter_to_bytes(self, NULL);
  PyObject* const maker = bytes == NULL ? NULL : PyObject_GetAttrString((PyObject*)Py_TYPE((PyObject*)self), "from_bytes");
  PyObject* const answer = maker == NULL ? NULL : Py_BuildValue("O(O)", maker, bytes);
  Py_XDECREF(maker);
  Py_XDECREF(bytes);
  return answer;
}

static PyObject* filter_copy(filter_object* self, PyObject* Py_UNUSED(none)) {
  tamis_filter* made;
  tamis_error error;
  turn_for_one_read(&self->turn);
  if (tamis_filter_copy(self->filter, &made, &error) < 0) return raise_error(&error);
  return wrapped(Py_TYPE((PyObject*)self), made);
}

/* ---- one key ---- */

static int filter_contains(filter_object* self, PyObject* object) {
  one_key key;
  if (read_key(object, &key) < 0) return -1;
  turn_for_one_read(&self->turn);
  const int answer = key.is_integer ? tamis_may_contain_u64(self->filter, key.integer)
                                    : tamis_may_contain_bytes(self->filter, key.bytes.data, key.bytes.size);
  release_key(&key);
  return answer;
}

enum change { insert_one, erase_one };

static int change_one(filter_object* self, PyObject* object, enum change change) {
  one_key key;
  tamis_error error;
  if (read_key(object, &key) < 0) return -1;
  turn_for_one_change(&self->turn);
  int answer;
  if (change == insert_one) {
    answer = key.is_integer ? tamis_insert_u64(self->filter, key.integer, &error)
                            : tamis_insert_bytes(self->filter, key.bytes.data, key.bytes.size, &error);
  } else {
    answer = key.is_integer ? tamis_erase_u64(self->filter, key.integer, &error)
                            : tamis_erase_bytes(self->filter, key.bytes.data, key.bytes.size, &error);
  }
  release_key(&key);
  if (answer < 0) raise_error(&error);
  return answer < 0 ? -1 : answer;
}

static PyObject* filter_add(filter_object* self, PyObject* key) {
  if (change_one(self, key, insert_one) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* filter_discard(filter_object* self, PyObject* key) {
  const int answer = change_one(self, key, erase_one);
  return answer < 0 ? NULL : PyBool_FromLong(answer);
}

static PyObject* filter_remove(filter_object* self, PyObject* key) {
  const int answer = change_one(self, key, erase_one);
  if (answer < 0) return NULL;
  if (answer == 0) {
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* filter_count(filter_object* self, PyObject* object) {
  one_key key;
  tamis_error error;
  if (read_key(object, &key) < 0) return NULL;
  turn_for_one_read(&self->turn);
  const int64_t answer = key.is_integer ? tamis_count_u64(self->filter, key.integer, &error)
                                        : tamis_count_bytes(self->filter, key.bytes.data, key.bytes.size, &error);
  release_key(&key);
  return answer < 0 ? raise_error(&error) : PyLong_FromLongLong(answer);
}

/* ---- batches ---- */

/* An array of numpy if there is numpy, else a bytearray. */
static PyObject* new_array(uint64_t count, const char* dtype, size_t size, int columns) {
  PyObject* const numpy = PyImport_ImportModule("numpy");
  if (numpy == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_ImportError)) return NULL;
    PyErr_Clear();
    return PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * size));
  }
  PyObject* const array = columns == 1
                              ? PyObject_CallMethod(numpy, "empty", "Ks", (unsigned long long)count, dtype)
                              : PyObject_CallMethod(numpy, "empty", "(Ki)s", (unsigned long long)count, columns, dtype);
  Py_DECREF(numpy);
  return array;
}

/* `given`, or a new array, with its memory. */
static PyObject* answer_array(PyObject* given, uint64_t count, const char* dtype, size_t size, int columns, Py_buffer* view) {
  PyObject* const array = given == NULL || Py_IsNone(given) ? new_array(count, dtype, size, columns) : Py_NewRef(given);
  if (array == NULL) return NULL;
  if (PyObject_GetBuffer(array, view, PyBUF_CONTIG) < 0) {
    Py_DECREF(array);
    return NULL;
  }
  if ((uint64_t)view->len == count * size) return array;
  PyErr_Format(PyExc_ValueError, "out: has %zd bytes, must have %llu", view->len, (unsigned long long)(count * size));
  PyBuffer_Release(view);
  Py_DECREF(array);
  return NULL;
}

static int64_t find_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  return tamis_may_contain(filter, keys, (uint8_t*)context + first, error);
}
static int64_t count_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  return tamis_count(filter, keys, (uint64_t*)context + first, error);
}
static int64_t hash_into(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  return tamis_hash(filter, keys, (tamis_digest*)context + first, error);
}
static int64_t rejuvenate_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context,
                               tamis_error* error) {
  (void)first, (void)context;
  return tamis_rejuvenate(filter, keys, error);
}
/* Nulls are no keys: they neither go in nor make a batch fail. */
static uint64_t keys_there(const tamis_keys* keys) {
  uint64_t there = keys->count;
  for (uint64_t i = 0; keys->validity != NULL && i < keys->count; ++i) {
    const uint64_t bit = keys->validity_offset + i;
    if ((keys->validity[bit / 8] >> (bit % 8) & 1) == 0) --there;
  }
  return there;
}
/* A batch that did not go in whole: how many keys are missing. */
static int64_t insert_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  (void)first, (void)context;
  const int64_t in = tamis_insert(filter, keys, NULL, NULL, error);
  return in < 0 ? in : (int64_t)keys_there(keys) - in;
}
static int64_t erase_some(tamis_filter* filter, const tamis_keys* keys, uint64_t first, void* context, tamis_error* error) {
  (void)first, (void)context;
  return tamis_erase(filter, keys, NULL, NULL, error);
}

static PyObject* ask_many(filter_object* self, PyObject* given, PyObject* out, use_keys use, const char* dtype, size_t size,
                          int columns) {
  key_source keys;
  if (open_keys(given, &keys) < 0) return NULL;
  Py_buffer view;
  PyObject* array = answer_array(out, keys.count, dtype, size, columns, &view);
  if (array != NULL) {
    const int64_t answer = for_keys(self, &keys, reading, use, view.buf);
    PyBuffer_Release(&view);
    if (answer < 0) Py_CLEAR(array);
  }
  close_keys(&keys);
  return array;
}

static PyObject* filter_contains_many(filter_object* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"keys", "out", NULL};
  PyObject *keys, *out = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:contains_many", names, &keys, &out)) return NULL;
  return ask_many(self, keys, out, find_some, "bool", 1, 1);
}
static PyObject* filter_count_many(filter_object* self, PyObject* keys) {
  return ask_many(self, keys, NULL, count_some, "uint64", sizeof(uint64_t), 1);
}
static PyObject* filter_hash_many(filter_object* self, PyObject* keys) {
  return ask_many(self, keys, NULL, hash_into, "uint64", sizeof(tamis_digest), 2);
}

static int64_t change_many(filter_object* self, PyObject* given, use_keys use) {
  key_source keys;
  if (open_keys(given, &keys) < 0) return -1;
  const int64_t answer = for_keys(self, &keys, changing, use, NULL);
  close_keys(&keys);
  return answer;
}

static PyObject* filter_remove_many(filter_object* self, PyObject* keys) {
  const int64_t gone = change_many(self, keys, erase_some);
  return gone < 0 ? NULL : PyLong_FromLongLong(gone);
}

static PyObject* filter_rejuvenate(filter_object* self, PyObject* keys) {
  if (change_many(self, keys, rejuvenate_some) < 0) return NULL;
  Py_RETURN_NONE;
}

/* ---- with a remote: the GIL is kept, because the remote may be asked ---- */

typedef int64_t (*change_digests)(tamis_filter*, const tamis_keys*, const tamis_remote*, uint8_t*, tamis_error*);

static const tamis_remote* remote_of(PyObject* given) {
  return given == NULL || Py_IsNone(given) ? NULL : ((remote_object*)given)->remote;
}
/* A remote that was hashed otherwise would make a filter take members for mistakes. */
static int is_remote_of(filter_object* self, PyObject* given) {
  if (given == NULL || Py_IsNone(given)) return 1;
  if (!PyObject_TypeCheck(given, remote_type)) {
    PyErr_Format(PyExc_TypeError, "remote: must be a tamis.Remote, not %R", (PyObject*)Py_TYPE(given));
    return 0;
  }
  if (tamis_filter_same_hash(self->filter, ((remote_object*)given)->like->filter)) return 1;
  raise_error(&(tamis_error){TAMIS_HASH, "remote: was made for a filter of another hash or seed"});
  return 0;
}

/* How many of `*count` keys were changed. */
static int64_t change_with_remote(filter_object* self, PyObject* given, PyObject* remote, change_digests change,
                                  uint64_t* count) {
  key_source keys;
  if (!is_remote_of(self, remote) || open_keys(given, &keys) < 0) return -1;
  tamis_digest* const digests = hash_keys(self, &keys);
  *count = keys.count;
  int64_t answer = -1;
  if (digests != NULL) {
    const tamis_keys hashed = {sizeof hashed, TAMIS_DIGESTS, keys.count, digests, 0, 0, NULL, 0, NULL, 0, NULL, NULL, 0};
    tamis_error error;
    turn_for_one_change(&self->turn);
    answer = change(self->filter, &hashed, remote_of(remote), NULL, &error);
    if (answer < 0) raise_error(&error);
  }
  PyMem_Free(digests);
  close_keys(&keys);
  return answer < 0 ? -1 : answer;
}

static PyObject* filter_update(filter_object* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"keys", "remote", NULL};
  PyObject *keys, *remote = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:update", names, &keys, &remote)) return NULL;
  int64_t missing;
  if (remote == NULL || Py_IsNone(remote)) {
    missing = change_many(self, keys, insert_some);
  } else {
    uint64_t count = 0;
    missing = change_with_remote(self, keys, remote, tamis_insert, &count);
    if (missing >= 0) missing = (int64_t)count - missing;
  }
  if (missing < 0) return NULL;
  if (missing > 0) return raise_full();
  Py_RETURN_NONE;
}

static PyObject* filter_adapt(filter_object* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"keys", "remote", NULL};
  PyObject *keys, *remote = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:adapt", names, &keys, &remote)) return NULL;
  uint64_t count;
  const int64_t fixed = change_with_remote(self, keys, remote, tamis_adapt, &count);
  return fixed < 0 ? NULL : PyLong_FromLongLong(fixed);
}

/* ---- whole filters ---- */

static PyObject* filter_expand(filter_object* self, PyObject* Py_UNUSED(none)) {
  tamis_error error;
  turn_for_one_change(&self->turn);
  if (tamis_expand(self->filter, &error) < 0) return raise_error(&error);
  Py_RETURN_NONE;
}

static PyObject* filter_verify(filter_object* self, PyObject* Py_UNUSED(none)) {
  tamis_error error;
  int answer;
  turn_begin_change(&self->turn);
  Py_BEGIN_ALLOW_THREADS answer = tamis_filter_verify(self->filter, &error);
  Py_END_ALLOW_THREADS turn_end_change(&self->turn);
  if (answer < 0) return raise_error(&error);
  Py_RETURN_NONE;
}

static PyObject* filter_fold(filter_object* self, PyObject* rate) {
  tamis_error error;
  const double fpr = PyFloat_AsDouble(rate);
  if (fpr == -1.0 && PyErr_Occurred()) return NULL;
  turn_for_one_change(&self->turn);
  const int64_t by = tamis_fold(self->filter, fpr, &error);
  return by < 0 ? raise_error(&error) : PyLong_FromLongLong(by);
}

/* Both turns are there at the same moment: whoever waited for one looks at the other again. */
static int merge_one(filter_object* self, filter_object* other, const tamis_remote* remote) {
  do {
    turn_for_one_read(&other->turn);
    turn_for_one_change(&self->turn);
  } while (other->turn.writers != 0);
  tamis_error error;
  if (tamis_merge(self->filter, other->filter, remote, &error) >= 0) return 0;
  raise_error(&error);
  return -1;
}

static PyObject* filter_merge(filter_object* self, PyObject* args, PyObject* kwargs) {
  PyObject* const remote = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "remote");
  if (kwargs != NULL && PyDict_Size(kwargs) != (remote == NULL ? 0 : 1)) {
    PyErr_SetString(PyExc_TypeError, "merge() takes filters, and remote=");
    return NULL;
  }
  if (!is_remote_of(self, remote)) return NULL;
  for (Py_ssize_t i = 0; i < PyTuple_Size(args); ++i) {
    PyObject* const other = PyTuple_GetItem(args, i);
    if (!PyObject_TypeCheck(other, filter_type)) {
      return PyErr_Format(PyExc_TypeError, "merge() takes filters, not %R", (PyObject*)Py_TYPE(other));
    }
    if (merge_one(self, (filter_object*)other, remote_of(remote)) < 0) return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* filter_inplace_or(PyObject* self, PyObject* other) {
  if (!PyObject_TypeCheck(self, filter_type) || !PyObject_TypeCheck(other, filter_type)) Py_RETURN_NOTIMPLEMENTED;
  if (merge_one((filter_object*)self, (filter_object*)other, NULL) < 0) return NULL;
  return Py_NewRef(self);
}

static PyObject* filter_or(PyObject* self, PyObject* other) {
  if (!PyObject_TypeCheck(self, filter_type) || !PyObject_TypeCheck(other, filter_type)) Py_RETURN_NOTIMPLEMENTED;
  PyObject* const copy = filter_copy((filter_object*)self, NULL);
  if (copy == NULL || merge_one((filter_object*)copy, (filter_object*)other, NULL) == 0) return copy;
  Py_DECREF(copy);
  return NULL;
}

static Py_ssize_t filter_len(filter_object* self) {
  turn_for_one_read(&self->turn);
  return (Py_ssize_t)tamis_filter_keys(self->filter);
}

static PyObject* filter_repr(filter_object* self) {
  turn_for_one_read(&self->turn);
  return PyUnicode_FromFormat("<tamis.Filter %s, %llu of %llu keys>", tamis_filter_kind(self->filter),
                              (unsigned long long)tamis_filter_keys(self->filter),
                              (unsigned long long)tamis_filter_capacity(self->filter));
}

static PyObject* get_kind(filter_object* self, void* Py_UNUSED(closure)) {
  return PyUnicode_FromString(tamis_filter_kind(self->filter));
}
static PyObject* get_capacity(filter_object* self, void* Py_UNUSED(closure)) {
  turn_for_one_read(&self->turn);
  return PyLong_FromUnsignedLongLong(tamis_filter_capacity(self->filter));
}
static PyObject* get_expected_fpr(filter_object* self, void* Py_UNUSED(closure)) {
  turn_for_one_read(&self->turn);
  return PyFloat_FromDouble(tamis_filter_expected_fpr(self->filter));
}
static PyObject* get_bits(filter_object* self, void* Py_UNUSED(closure)) {
  uint64_t fast, slow;
  turn_for_one_read(&self->turn);
  tamis_filter_bits(self->filter, &fast, &slow);
  return Py_BuildValue("KK", (unsigned long long)fast, (unsigned long long)slow);
}
static PyObject* get_nbytes(filter_object* self, void* Py_UNUSED(closure)) {
  uint64_t fast, slow;
  turn_for_one_read(&self->turn);
  tamis_filter_bits(self->filter, &fast, &slow);
  return PyLong_FromUnsignedLongLong(fast / 8 + slow / 8);
}
static PyObject* get_known_mistakes(filter_object* self, void* Py_UNUSED(closure)) {
  turn_for_one_read(&self->turn);
  return PyLong_FromUnsignedLongLong(tamis_filter_known_mistakes(self->filter));
}
static PyObject* get_stripes(filter_object* self, void* Py_UNUSED(closure)) {
  return PyLong_FromUnsignedLong(tamis_filter_stripes(self->filter));
}
static PyObject* get_is_verified(filter_object* self, void* Py_UNUSED(closure)) {
  turn_for_one_read(&self->turn);
  return PyBool_FromLong(tamis_filter_is_verified(self->filter));
}
static PyObject* get_can(filter_object* self, void* Py_UNUSED(closure)) {
  static const char* const names[] = {"erase", "count", "adapt", "expand", "merge", "rejuvenate"};
  const uint32_t can = tamis_filter_can(self->filter);
  PyObject* const list = PyList_New(0);
  if (list == NULL) return NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if ((can >> i & 1) == 0) continue;
    PyObject* const name = PyUnicode_FromString(names[i]);
    const int answer = name == NULL ? -1 : PyList_Append(list, name);
    Py_XDECREF(name);
    if (answer < 0) {
      Py_DECREF(list);
      return NULL;
    }
  }
  PyObject* const set = PyFrozenSet_New(list);
  Py_DECREF(list);
  return set;
}
static PyObject* get_settings(filter_object* self, void* Py_UNUSED(closure)) {
  tamis_error error;
  PyObject* const text = PyByteArray_FromStringAndSize(NULL, 0);
  if (text == NULL) return NULL;
  turn_for_one_read(&self->turn);
  PyObject* const answer =
      tamis_filter_settings(self->filter, sink_to_bytearray, text, &error) < 0 ? raise_error(&error) : parsed_json(text);
  Py_DECREF(text);
  return answer;
}

static PyGetSetDef properties[] = {
    {"kind", (getter)get_kind, NULL, "The filter's id.", NULL},
    {"capacity", (getter)get_capacity, NULL, "How many keys it is made for, or has grown to.", NULL},
    {"expected_fpr", (getter)get_expected_fpr, NULL, "False positives in one question, with what is in now.", NULL},
    {"bits", (getter)get_bits, NULL, "Bits of memory: those a lookup may touch, and others (mirrors, shadows).", NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Bytes of all its memory.", NULL},
    {"can", (getter)get_can, NULL, "What it can do: erase, count, adapt, expand, merge, rejuvenate.", NULL},
    {"known_mistakes", (getter)get_known_mistakes, NULL, "How many mistakes its list has (option mistakes=N).", NULL},
    {"stripes", (getter)get_stripes, NULL, "In how many parts a concurrent filter is changed; 0: it is none.", NULL},
    {"is_verified", (getter)get_is_verified, NULL, "Have the checksums of its file been compared? See open_mapped.", NULL},
    {"settings", (getter)get_settings, NULL, "The options in force.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"from_spec", WITH_KEYWORDS(filter_from_spec) | METH_CLASS, "A filter from a text: 'evergreen capacity=1M fpr=0.01'."},
    {"load", WITH_KEYWORDS(filter_load) | METH_CLASS, "A filter from a file; of a keyed one, with its secret."},
    {"open_mapped", WITH_KEYWORDS(filter_open_mapped) | METH_CLASS,
     "A file that is used where it is: read when it is touched, shared between processes. See verify."},
    {"verify", (PyCFunction)filter_verify, METH_NOARGS,
     "Compares all of a mapped file with its checksums. Corrupt if it is damaged."},
    {"from_bytes", WITH_KEYWORDS(filter_from_bytes) | METH_CLASS, "A filter from what to_bytes answered."},
    {"save", (PyCFunction)filter_save, METH_O, "Writes a file, whole or not at all."},
    {"to_bytes", (PyCFunction)filter_to_bytes, METH_NOARGS, "The bytes of the file that save writes."},
    {"__reduce__", (PyCFunction)filter_reduce, METH_NOARGS, NULL},
    {"copy", (PyCFunction)filter_copy, METH_NOARGS, "Another filter with the same keys."},
    {"__copy__", (PyCFunction)filter_copy, METH_NOARGS, NULL},
    {"__deepcopy__", (PyCFunction)filter_copy, METH_O, NULL},
    {"add", (PyCFunction)filter_add, METH_O, "Adds a key. Full if there is no room."},
    {"update", WITH_KEYWORDS(filter_update), "Adds many keys. After Full those that fit are in."},
    {"contains_many", WITH_KEYWORDS(filter_contains_many),
     "Whether each key may be in: an array of bool (a bytearray without numpy)."},
    {"discard", (PyCFunction)filter_discard, METH_O, "Removes a key that is in. False if it certainly was not."},
    {"remove", (PyCFunction)filter_remove, METH_O, "Removes a key that is in. KeyError if it certainly was not."},
    {"remove_many", (PyCFunction)filter_remove_many, METH_O, "Removes keys that are in. How many went."},
    {"count", (PyCFunction)filter_count, METH_O, "How often a key is in, at least."},
    {"count_many", (PyCFunction)filter_count_many, METH_O, "The same for many: an array of uint64."},
    {"hash_many", (PyCFunction)filter_hash_many, METH_O, "The digests of keys: an array of uint64 with two columns."},
    {"adapt", WITH_KEYWORDS(filter_adapt), "Tells of keys that were wrongly found. How many are fixed."},
    {"rejuvenate", (PyCFunction)filter_rejuvenate, METH_O, "Tells of keys that were rightly found."},
    {"expand", (PyCFunction)filter_expand, METH_NOARGS, "Doubles the room."},
    {"fold", (PyCFunction)filter_fold, METH_O,
     "bloom and bloom1: as small as can be at a rate of at most so much. By how much it became smaller."},
    {"merge", WITH_KEYWORDS(filter_merge), "Adds what is in other filters."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Filter(kind='evergreen', capacity=1_000_000, *, fpr=0.01, bits_per_key=None, seed=0, secret=None, concurrent=False, "
     "**options)\n\n"
     "An approximate set of str, bytes and int: `in` is False for what certainly is not in."},
    {Py_tp_new, filter_new},
    {Py_tp_dealloc, filter_dealloc},
    {Py_tp_repr, filter_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_sq_contains, filter_contains},
    {Py_sq_length, filter_len},
    {Py_nb_or, filter_or},
    {Py_nb_inplace_or, filter_inplace_or},
    {0, NULL}};
static PyType_Spec spec = {"tamis.Filter", sizeof(filter_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int make_filter_type(PyObject* module) {
  filter_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return filter_type == NULL ? -1 : PyModule_AddObjectRef(module, "Filter", (PyObject*)filter_type);
}
