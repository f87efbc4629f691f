/* tamis._guard: tamis.Store without what Python does as well (tamis/store.py). */

#include <stdlib.h>
#include <string.h>
#include <tamis/tamis_guard.h>

#include "tamis_python.h"

/* Every operation of the store may run beside every other but closing: they take a reader's turn, closing takes the writer's.
 * They run without the GIL, and so do their callbacks, which therefore touch no Python object. */
typedef struct {
  PyObject_HEAD tamis_store* store; /* NULL: closed */
  int has_turn;
  turn turn;
} store_object;

static int begin(store_object* self) {
  turn_begin_read(&self->turn);
  if (self->store != NULL) return 0;
  turn_end_read(&self->turn);
  PyErr_SetString(PyExc_ValueError, "the store is closed");
  return -1;
}
static void end(store_object* self) { turn_end_read(&self->turn); }

/* A callback of this file fails for want of memory only. */
static void raise_store_error(const tamis_error* error) {
  if (error->code == TAMIS_CALLBACK) {
    PyErr_NoMemory();
  } else {
    raise_error(error);
  }
}

/* `answer` of a call that uses the store, in a turn and without the GIL. If it is < 0 an exception is set. */
#define IN_TURN(self, answer, call)              \
  do {                                           \
    tamis_error error;                           \
    (answer) = -1;                               \
    if (begin(self) < 0) break;                  \
    Py_BEGIN_ALLOW_THREADS(answer) = (call);     \
    Py_END_ALLOW_THREADS end(self);              \
    if ((answer) < 0) raise_store_error(&error); \
  } while (0)

/* Bytes that callbacks collect, without the GIL and so without Python's memory. */
typedef struct {
  char* bytes;
  size_t used, room;
} byte_list;

/* A tamis_sink, whose context is a byte_list. */
static int append_bytes(void* context, const void* bytes, size_t size) {
  byte_list* const list = context;
  if (list->room - list->used < size) {
    const size_t room = 2 * list->room + size;
    char* const grown = room < size ? NULL : realloc(list->bytes, room);
    if (grown == NULL) return -1;
    list->bytes = grown;
    list->room = room;
  }
  if (size > 0) memcpy(list->bytes + list->used, bytes, size);
  list->used += size;
  return 0;
}

static int read_store_key(PyObject* object, one_key* key) {
  if (read_key(object, key) < 0) return -1;
  if (!key->is_integer) return 0;
  PyErr_SetString(PyExc_TypeError, "a store's key is str or bytes, not int; encode it to bytes first");
  return -1;
}

static int read_value(PyObject* object, Py_buffer* value) {
  if (PyObject_GetBuffer(object, value, PyBUF_SIMPLE) == 0) return 0;
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Format(PyExc_TypeError, "a value is bytes, not %R; encode it first", (PyObject*)Py_TYPE(object));
  }
  return -1;
}

/* ---- life ---- */

/* The arguments behind the directory, and the directory as bytes, or None for a store in memory. */
static PyObject* split_arguments(PyObject* args, PyObject** kwargs, PyObject** directory) {
  PyObject* given = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
  PyObject* const rest = PyTuple_GetSlice(args, given == NULL ? 0 : 1, PyTuple_Size(args));
  if (rest == NULL) return NULL;
  PyObject* const named = *kwargs == NULL ? NULL : PyDict_GetItemString(*kwargs, "directory");
  *kwargs = *kwargs == NULL ? NULL : PyDict_Copy(*kwargs);
  if (given == NULL && named != NULL) {
    given = named;
    if (PyDict_DelItemString(*kwargs, "directory") < 0) given = NULL;
  }
  if (given == NULL || Py_IsNone(given)) {
    *directory = Py_NewRef(Py_None);
  } else if (!PyUnicode_FSConverter(given, directory)) {
    Py_DECREF(rest);
    return NULL;
  }
  return rest;
}

static tamis_store* opened(PyObject* directory, PyObject* spec, const uint8_t* secret) {
  const char* const path = Py_IsNone(directory) ? NULL : PyBytes_AsString(directory);
  const char* const text = PyUnicode_AsUTF8AndSize(spec, NULL);
  if (text == NULL) return NULL;
  tamis_store* store;
  tamis_error error;
  int answer;
  Py_BEGIN_ALLOW_THREADS answer = tamis_store_open(path, text, secret, &store, &error);
  Py_END_ALLOW_THREADS if (answer < 0) raise_error(&error);
  return answer < 0 ? NULL : store;
}

static PyObject* store_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject *directory = NULL, *given_secret = NULL;
  const uint8_t* secret;
  PyObject* const rest = split_arguments(args, &kwargs, &directory);
  PyObject* const spec = rest == NULL ? NULL : spec_of("Store", rest, kwargs, &given_secret);
  store_object* self = NULL;
  if (spec != NULL && secret_of(given_secret, &secret) == 0) self = (store_object*)PyType_GenericAlloc(type, 0);
  if (self != NULL && turn_init(&self->turn) < 0) {
    PyErr_NoMemory();
    Py_CLEAR(self);
  }
  if (self != NULL) {
    self->has_turn = 1;
    self->store = opened(directory, spec, secret);
    if (self->store == NULL) Py_CLEAR(self);
  }
  Py_XDECREF(spec);
  Py_XDECREF(rest);
  Py_XDECREF(directory);
  Py_XDECREF(kwargs);
  return (PyObject*)self;
}

static PyObject* store_close(store_object* self, PyObject* Py_UNUSED(none)) {
  tamis_error error;
  int answer;
  turn_begin_change(&self->turn);
  tamis_store* const store = self->store;
  self->store = NULL;
  Py_BEGIN_ALLOW_THREADS answer = tamis_store_close(store, &error);
  Py_END_ALLOW_THREADS turn_end_change(&self->turn);
  if (answer < 0) return raise_error(&error);
  Py_RETURN_NONE;
}

/* What closing says is lost here: whoever wants to know closes. */
static void store_dealloc(store_object* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  tamis_store* const store = self->store;
  Py_BEGIN_ALLOW_THREADS tamis_store_close(store, NULL);
  Py_END_ALLOW_THREADS if (self->has_turn) turn_destroy(&self->turn);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyObject* store_enter(PyObject* self, PyObject* Py_UNUSED(none)) { return Py_NewRef(self); }
static PyObject* store_exit(store_object* self, PyObject* Py_UNUSED(args)) { return store_close(self, NULL); }

/* ---- one key ---- */

static int store_contains(store_object* self, PyObject* object) {
  one_key key;
  int answer;
  if (read_store_key(object, &key) < 0) return -1;
  IN_TURN(self, answer, tamis_store_contains(self->store, key.bytes.data, key.bytes.size, &error));
  release_key(&key);
  return answer < 0 ? -1 : answer;
}

static PyObject* store_may_contain(store_object* self, PyObject* object) {
  one_key key;
  if (read_store_key(object, &key) < 0) return NULL;
  PyObject* answer = NULL;
  if (begin(self) == 0) {
    int found;
    Py_BEGIN_ALLOW_THREADS found = tamis_store_may_contain(self->store, key.bytes.data, key.bytes.size);
    Py_END_ALLOW_THREADS end(self);
    answer = PyBool_FromLong(found);
  }
  release_key(&key);
  return answer;
}

/* 1: *value is new. 0: the key is not there. -1: an exception is set. */
static int find_value(store_object* self, PyObject* object, PyObject** value) {
  one_key key;
  int answer;
  byte_list copy = {NULL, 0, 0};
  if (read_store_key(object, &key) < 0) return -1;
  IN_TURN(self, answer, tamis_store_get(self->store, key.bytes.data, key.bytes.size, append_bytes, &copy, &error));
  release_key(&key);
  if (answer == 1) {
    *value = PyBytes_FromStringAndSize(copy.bytes, (Py_ssize_t)copy.used);
    if (*value == NULL) answer = -1;
  }
  free(copy.bytes);
  return answer < 0 ? -1 : answer;
}

static PyObject* store_get(store_object* self, PyObject* args) {
  PyObject *key, *otherwise = Py_None, *value;
  if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise)) return NULL;
  const int found = find_value(self, key, &value);
  return found < 0 ? NULL : found == 1 ? value : Py_NewRef(otherwise);
}

static PyObject* store_getitem(store_object* self, PyObject* key) {
  PyObject* value;
  const int found = find_value(self, key, &value);
  if (found == 0) PyErr_SetObject(PyExc_KeyError, key);
  return found == 1 ? value : NULL;
}

static int put(store_object* self, const one_key* key, PyObject* object) {
  Py_buffer value;
  int answer;
  if (read_value(object, &value) < 0) return -1;
  IN_TURN(self, answer, tamis_store_put(self->store, key->bytes.data, key->bytes.size, value.buf, (size_t)value.len, &error));
  PyBuffer_Release(&value);
  return answer < 0 ? -1 : 0;
}

/* 1: it was there. */
static int erase(store_object* self, const one_key* key) {
  int answer;
  IN_TURN(self, answer, tamis_store_erase(self->store, key->bytes.data, key->bytes.size, &error));
  return answer < 0 ? -1 : answer;
}

static int store_setitem(store_object* self, PyObject* object, PyObject* value) {
  one_key key;
  if (read_store_key(object, &key) < 0) return -1;
  int answer;
  if (value != NULL) {
    answer = put(self, &key, value);
  } else {
    answer = erase(self, &key);
    if (answer == 0) PyErr_SetObject(PyExc_KeyError, object);
    answer = answer == 1 ? 0 : -1;
  }
  release_key(&key);
  return answer;
}

static PyObject* store_discard(store_object* self, PyObject* object) {
  one_key key;
  if (read_store_key(object, &key) < 0) return NULL;
  const int answer = erase(self, &key);
  release_key(&key);
  return answer < 0 ? NULL : PyBool_FromLong(answer);
}

/* ---- many keys ---- */

enum { block_size = 512 };

/* The values of a block, one behind the other. A size of -1: the key is not there. */
typedef struct {
  byte_list values;
  int64_t sizes[block_size];
} value_block;

static int take_value(void* context, uint64_t index, const void* value, size_t size) {
  value_block* const block = context;
  block->sizes[index] = value == NULL ? -1 : (int64_t)size;
  return append_bytes(&block->values, value, value == NULL ? 0 : size);
}

static int append_values(const value_block* block, size_t count, PyObject* list) {
  const char* next = block->values.bytes;
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = block->sizes[i];
    PyObject* const value = size < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(size == 0 ? "" : next, (Py_ssize_t)size);
    const int answer = value == NULL ? -1 : PyList_Append(list, value);
    Py_XDECREF(value);
    if (answer < 0) return -1;
    if (size > 0) next += size;
  }
  return 0;
}

static int get_block(store_object* self, const tamis_slice* slices, size_t count, value_block* block, PyObject* list) {
  const tamis_keys keys = {sizeof keys, TAMIS_SLICES, count, slices, 0, 0, NULL, 0, NULL, 0, NULL, NULL, 0};
  int answer;
  block->values.used = 0;
  IN_TURN(self, answer, tamis_store_get_many(self->store, &keys, take_value, block, &error));
  return answer < 0 ? -1 : append_values(block, count, list);
}

/* The tuple keeps str and bytes alive; other objects may change meanwhile, and are copied. */
static PyObject* plain_key(PyObject* object) {
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return Py_NewRef(object);
  one_key key;
  if (read_store_key(object, &key) < 0) return NULL;
  PyObject* const copy = PyBytes_FromStringAndSize(key.bytes.data, (Py_ssize_t)key.bytes.size);
  release_key(&key);
  return copy;
}

static PyObject* plain_keys(PyObject* given) {
  if (PyUnicode_Check(given) || PyBytes_Check(given) || PyByteArray_Check(given)) {
    return PyErr_Format(PyExc_TypeError, "%R is one key, not many; put it into a list", (PyObject*)Py_TYPE(given));
  }
  PyObject* const items = PySequence_List(given);
  for (Py_ssize_t i = 0; items != NULL && i < PyList_Size(items); ++i) {
    PyObject* const key = plain_key(PyList_GetItem(items, i));
    if (key == NULL || PyList_SetItem(items, i, key) < 0) {
      Py_DECREF(items);
      return NULL;
    }
  }
  return items;
}

static PyObject* store_get_many(store_object* self, PyObject* given) {
  PyObject* const keys = plain_keys(given);
  PyObject* list = keys == NULL ? NULL : PyList_New(0);
  value_block* const block = calloc(1, sizeof *block);
  if (list != NULL && block == NULL) {
    PyErr_NoMemory();
    Py_CLEAR(list);
  }
  const Py_ssize_t size = list == NULL ? 0 : PyList_Size(keys);
  tamis_slice slices[block_size];
  for (Py_ssize_t i = 0; list != NULL && i < size; ++i) {
    one_key key;
    const size_t at = (size_t)i % block_size;
    if (read_key(PyList_GetItem(keys, i), &key) < 0) {
      Py_CLEAR(list);
      break;
    }
    slices[at] = key.bytes;
    if ((at + 1 == block_size || i + 1 == size) && get_block(self, slices, at + 1, block, list) < 0) Py_CLEAR(list);
  }
  if (block != NULL) free(block->values.bytes);
  free(block);
  Py_XDECREF(keys);
  return list;
}

/* ---- batches of changes ---- */

static int add_put(tamis_batch* batch, PyObject* pair) {
  PyObject* const two = PySequence_Tuple(pair);
  if (two == NULL) return -1;
  one_key key;
  Py_buffer value;
  tamis_error error;
  int answer = -1;
  if (PyTuple_Size(two) != 2) {
    PyErr_SetString(PyExc_ValueError, "puts: must be pairs of a key and a value");
  } else if (read_store_key(PyTuple_GetItem(two, 0), &key) == 0) {
    if (read_value(PyTuple_GetItem(two, 1), &value) == 0) {
      answer = tamis_batch_put(batch, key.bytes.data, key.bytes.size, value.buf, (size_t)value.len, &error);
      if (answer < 0) raise_error(&error);
      PyBuffer_Release(&value);
    }
    release_key(&key);
  }
  Py_DECREF(two);
  return answer;
}

static int add_erase(tamis_batch* batch, PyObject* object) {
  one_key key;
  tamis_error error;
  if (read_store_key(object, &key) < 0) return -1;
  const int answer = tamis_batch_erase(batch, key.bytes.data, key.bytes.size, &error);
  if (answer < 0) raise_error(&error);
  release_key(&key);
  return answer;
}

static int add_all(tamis_batch* batch, PyObject* iterable, int (*add)(tamis_batch*, PyObject*)) {
  PyObject* const iterator = PyObject_GetIter(iterable);
  if (iterator == NULL) return -1;
  int answer = 0;
  PyObject* item;
  while (answer >= 0 && (item = PyIter_Next(iterator)) != NULL) {
    answer = add(batch, item);
    Py_DECREF(item);
  }
  Py_DECREF(iterator);
  return answer < 0 || PyErr_Occurred() ? -1 : 0;
}

static int add_puts(tamis_batch* batch, PyObject* puts) {
  if (!PyObject_HasAttrString(puts, "items")) return add_all(batch, puts, add_put);
  PyObject* const items = PyObject_CallMethod(puts, "items", NULL);
  const int answer = items == NULL ? -1 : add_all(batch, items, add_put);
  Py_XDECREF(items);
  return answer;
}

typedef int (*use_batch)(tamis_store*, const tamis_batch*, tamis_error*);

static tamis_batch* new_batch(void) {
  tamis_batch* batch;
  tamis_error error;
  if (tamis_batch_create(&batch, &error) < 0) raise_error(&error);
  return batch;
}

static PyObject* change_many(store_object* self, PyObject* puts, PyObject* erases, use_batch use) {
  if (PyUnicode_Check(erases) || PyBytes_Check(erases)) {
    return PyErr_Format(PyExc_TypeError, "erases: %R is one key, not many; put it into a list", (PyObject*)Py_TYPE(erases));
  }
  tamis_batch* const batch = new_batch();
  if (batch == NULL) return NULL;
  int answer = -1;
  if (add_puts(batch, puts) == 0 && add_all(batch, erases, add_erase) == 0) {
    IN_TURN(self, answer, use(self->store, batch, &error));
  }
  tamis_batch_free(batch);
  if (answer < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* store_write(store_object* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"puts", "erases", NULL};
  PyObject *puts = NULL, *erases = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:write", names, &puts, &erases)) return NULL;
  PyObject* const nothing = PyTuple_New(0);
  if (nothing == NULL) return NULL;
  PyObject* const answer =
      change_many(self, puts == NULL ? nothing : puts, erases == NULL ? nothing : erases, tamis_store_write);
  Py_DECREF(nothing);
  return answer;
}

static PyObject* store_load(store_object* self, PyObject* items) {
  PyObject* const nothing = PyTuple_New(0);
  if (nothing == NULL) return NULL;
  PyObject* const answer = change_many(self, items, nothing, tamis_store_load);
  Py_DECREF(nothing);
  return answer;
}

/* ---- in order ---- */

typedef struct {
  byte_list entries; /* size of key, size of value, key, value */
  uint64_t left;
} entry_list;

static int take_entry(void* context, const void* key, size_t key_size, const void* value, size_t value_size) {
  entry_list* const list = context;
  const size_t sizes[2] = {key_size, value_size};
  byte_list* const entries = &list->entries;
  if (append_bytes(entries, sizes, sizeof sizes) < 0 || append_bytes(entries, key, key_size) < 0 ||
      append_bytes(entries, value, value_size) < 0) {
    return -1;
  }
  return --list->left == 0 ? 1 : 0;
}

static PyObject* entries_of(const byte_list* list) {
  PyObject* const entries = PyList_New(0);
  for (size_t at = 0; entries != NULL && at < list->used;) {
    size_t sizes[2];
    memcpy(sizes, list->bytes + at, sizeof sizes);
    at += sizeof sizes;
    PyObject* const pair =
        Py_BuildValue("y#y#", list->bytes + at, (Py_ssize_t)sizes[0], list->bytes + at + sizes[0], (Py_ssize_t)sizes[1]);
    at += sizes[0] + sizes[1];
    const int answer = pair == NULL ? -1 : PyList_Append(entries, pair);
    Py_XDECREF(pair);
    if (answer < 0) {
      Py_DECREF(entries);
      return NULL;
    }
  }
  return entries;
}

static PyObject* store_scan(store_object* self, PyObject* args) {
  PyObject* start;
  unsigned long long count;
  if (!PyArg_ParseTuple(args, "OK:_scan", &start, &count)) return NULL;
  one_key key;
  if (read_store_key(start, &key) < 0) return NULL;
  entry_list list = {{NULL, 0, 0}, count};
  int answer;
  IN_TURN(self, answer, tamis_store_scan(self->store, key.bytes.data, key.bytes.size, take_entry, &list, &error));
  release_key(&key);
  PyObject* const entries = answer < 0 ? NULL : entries_of(&list.entries);
  free(list.entries.bytes);
  return entries;
}

/* ---- the store as a whole ---- */

static PyObject* call_store(store_object* self, int (*call)(tamis_store*, tamis_error*)) {
  int answer;
  IN_TURN(self, answer, call(self->store, &error));
  if (answer < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject* store_snapshot(store_object* self, PyObject* Py_UNUSED(none)) {
  return call_store(self, tamis_store_snapshot);
}
static PyObject* store_wait(store_object* self, PyObject* Py_UNUSED(none)) { return call_store(self, tamis_store_wait); }

static PyObject* store_stats(store_object* self, PyObject* Py_UNUSED(none)) {
  int answer;
  byte_list text = {NULL, 0, 0};
  IN_TURN(self, answer, tamis_store_stats(self->store, append_bytes, &text, &error));
  PyObject* const bytes = answer < 0 ? NULL : PyByteArray_FromStringAndSize(text.bytes, (Py_ssize_t)text.used);
  PyObject* const parsed = bytes == NULL ? NULL : parsed_json(bytes);
  Py_XDECREF(bytes);
  free(text.bytes);
  return parsed;
}

static PyObject* get_closed(store_object* self, void* Py_UNUSED(closure)) { return PyBool_FromLong(self->store == NULL); }

static PyGetSetDef properties[] = {{"closed", (getter)get_closed, NULL, "Has close() been called?", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
    {"get", (PyCFunction)store_get, METH_VARARGS, "The value of a key, or the second argument (None)."},
    {"get_many", (PyCFunction)store_get_many, METH_O, "The values of many keys, None where there is none."},
    {"may_contain", (PyCFunction)store_may_contain, METH_O, "The filter's answer alone: False is certain."},
    {"discard", (PyCFunction)store_discard, METH_O, "Removes a key. Was it there?"},
    {"write", WITH_KEYWORDS(store_write), "Puts (a mapping or pairs) and erases (keys), all or none of them."},
    {"load", (PyCFunction)store_load, METH_O, "Very many puts, much faster and not all or none."},
    {"_scan", (PyCFunction)store_scan, METH_VARARGS, "Up to so many entries from a key on."},
    {"snapshot", (PyCFunction)store_snapshot, METH_NOARGS, "Writes the filter as it is now to disk."},
    {"wait", (PyCFunction)store_wait, METH_NOARGS, "Until all of the filter is there, after an opening that has to build it."},
    {"stats", (PyCFunction)store_stats, METH_NOARGS, "What was asked and answered, how the filter came back: a dict."},
    {"close", (PyCFunction)store_close, METH_NOARGS, "Takes a last snapshot. Closing again does nothing."},
    {"__enter__", (PyCFunction)store_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)store_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "See tamis.Store."},
                              {Py_tp_new, store_new},
                              {Py_tp_dealloc, store_dealloc},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_sq_contains, store_contains},
                              {Py_mp_subscript, store_getitem},
                              {Py_mp_ass_subscript, store_setitem},
                              {0, NULL}};
static PyType_Spec spec = {"tamis._guard.Store", sizeof(store_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tamis._guard", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__guard(void) {
  PyObject* const tamis = PyImport_ImportModule("tamis._tamis");
  const int taken = tamis == NULL ? -1 : take_errors(tamis);
  Py_XDECREF(tamis);
  if (taken < 0) return NULL;
  PyObject* const type = PyType_FromSpec(&spec);
  PyObject* const module = type == NULL ? NULL : PyModule_Create(&definition);
  if (module != NULL && PyModule_AddObjectRef(module, "Store", type) == 0) {
    Py_DECREF(type);
    return module;
  }
  Py_XDECREF(type);
  Py_XDECREF(module);
  return NULL;
}
