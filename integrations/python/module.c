/* The module tamis._tamis, its errors, and Strings. */

#include <string.h>

#include "tamis_python.h"

static PyObject *error_class, *full_class, *corrupt_class, *wrong_hash_class, *unsupported_class;
static PyObject* json_loads;

static PyObject* new_error(PyObject* module, const char* name, const char* doc, PyObject* bases) {
  char full[64] = "tamis.";
  strncat(full, name, sizeof full - 8);
  PyObject* const made = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
  Py_XDECREF(bases);
  return made != NULL && PyModule_AddObjectRef(module, name, made) == 0 ? made : NULL;
}

int make_errors(PyObject* module) {
  error_class = new_error(module, "Error", "What tamis refuses; the message names the thing and the reason.", NULL);
  if (error_class == NULL) return -1;
  full_class = new_error(module, "Full", "There is no room for a key.", Py_NewRef(error_class));
  corrupt_class =
      new_error(module, "Corrupt", "Bytes that are not a saved filter.", Py_BuildValue("(OO)", error_class, PyExc_ValueError));
  wrong_hash_class =
      new_error(module, "WrongHash", "Another hash, seed or secret.", Py_BuildValue("(OO)", error_class, PyExc_ValueError));
  unsupported_class =
      new_error(module, "Unsupported", "This filter cannot do that.", Py_BuildValue("(OO)", error_class, PyExc_TypeError));
  return full_class != NULL && corrupt_class != NULL && wrong_hash_class != NULL && unsupported_class != NULL ? 0 : -1;
}

static PyObject* class_of(int code) {
  switch (code) {
    case TAMIS_INVALID:
    case TAMIS_RANGE:
    case TAMIS_MISMATCH: return PyExc_ValueError;
    case TAMIS_DAMAGED:
    case TAMIS_NEWER: return corrupt_class;
    case TAMIS_HASH: return wrong_hash_class;
    case TAMIS_UNSUPPORTED: return unsupported_class;
    case TAMIS_FULL: return full_class;
    case TAMIS_IO: return PyExc_OSError;
    case TAMIS_MEMORY: return PyExc_MemoryError;
    default: return error_class;
  }
}

PyObject* raise_error(const tamis_error* error) {
  if (error->code == TAMIS_CALLBACK && PyErr_Occurred()) return NULL; /* what the callback raised */
  PyErr_SetString(class_of(error->code), error->message);
  return NULL;
}

PyObject* raise_full(void) {
  PyErr_SetString(full_class, "the filter is full");
  return NULL;
}

int secret_of(PyObject* given, const uint8_t** out) {
  *out = NULL;
  if (given == NULL || Py_IsNone(given)) return 0;
  if (!PyBytes_Check(given) || PyBytes_Size(given) != 16) {
    PyErr_SetString(PyExc_ValueError, "a secret is 16 bytes");
    return -1;
  }
  *out = (const uint8_t*)PyBytes_AsString(given);
  return 0;
}

int sink_to_bytearray(void* context, const void* bytes, size_t size) {
  const Py_ssize_t before = PyByteArray_Size(context);
  if (PyByteArray_Resize(context, before + (Py_ssize_t)size) < 0) return -1;
  memcpy(PyByteArray_AsString(context) + before, bytes, size);
  return 0;
}

PyObject* parsed_json(PyObject* bytearray) { return PyObject_CallFunctionObjArgs(json_loads, bytearray, NULL); }

/* ---- Strings ---- */

PyTypeObject* strings_type;

static PyObject* strings_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"offsets", "data", NULL};
  PyObject *offsets, *data;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:Strings", names, &offsets, &data)) return NULL;
  strings_object* const self = (strings_object*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  self->offsets = Py_NewRef(offsets);
  self->data = Py_NewRef(data);
  return (PyObject*)self;
}

static void strings_dealloc(strings_object* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  Py_XDECREF(self->offsets);
  Py_XDECREF(self->data);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyType_Slot strings_slots[] = {
    {Py_tp_doc, "Strings(offsets, data): key i is data[offsets[i]:offsets[i + 1]], as in Arrow. Offsets are int32 or int64."},
    {Py_tp_new, strings_new},
    {Py_tp_dealloc, strings_dealloc},
    {0, NULL}};
static PyType_Spec strings_spec = {"tamis.Strings", sizeof(strings_object), 0, Py_TPFLAGS_DEFAULT, strings_slots};

int make_strings_type(PyObject* module) {
  strings_type = (PyTypeObject*)PyType_FromSpec(&strings_spec);
  return strings_type == NULL ? -1 : PyModule_AddObjectRef(module, "Strings", (PyObject*)strings_type);
}

/* ---- functions of the module ---- */

static PyObject* kinds(PyObject* Py_UNUSED(module), PyObject* Py_UNUSED(none)) {
  PyObject* const list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < tamis_kinds(); ++i) {
    tamis_error error;
    PyObject* const text = PyByteArray_FromStringAndSize(NULL, 0);
    if (text == NULL) break;
    PyObject* about = NULL;
    if (tamis_describe(tamis_kind(i), sink_to_bytearray, text, &error) < 0) {
      raise_error(&error);
    } else {
      about = parsed_json(text);
    }
    Py_DECREF(text);
    const int answer = about == NULL ? -1 : PyList_Append(list, about);
    Py_XDECREF(about);
    if (answer < 0) break;
  }
  if (list != NULL && PyErr_Occurred()) {
    Py_DECREF(list);
    return NULL;
  }
  return list;
}

static PyObject* cpu_level(PyObject* Py_UNUSED(module), PyObject* Py_UNUSED(none)) {
  return PyUnicode_FromString(tamis_cpu_level());
}

static PyMethodDef functions[] = {
    {"kinds", kinds, METH_NOARGS, "What filters there are: a dict each, with id, summary, paper, can and options."},
    {"cpu_level", cpu_level, METH_NOARGS, "portable, avx2 or avx512: which code answers."},
    {NULL, NULL, 0, NULL}};

/* The types and errors are static, so the module is one for the process. */
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tamis._tamis", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tamis(void) {
  PyObject* const json = PyImport_ImportModule("json");
  if (json == NULL) return NULL;
  json_loads = PyObject_GetAttrString(json, "loads");
  Py_DECREF(json);
  PyObject* const module = json_loads == NULL ? NULL : PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (make_errors(module) < 0 || make_strings_type(module) < 0 || make_filter_type(module) < 0 ||
      make_remote_type(module) < 0 || PyModule_AddStringConstant(module, "__version__", tamis_version_text()) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
