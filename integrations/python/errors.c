/* The errors of tamis, and what else both modules need of Python. */

#include <string.h>

#include "tamis_python.h"

static PyObject *error_class, *full_class, *corrupt_class, *wrong_hash_class, *unsupported_class;

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

/* Another module of the package takes the errors that `tamis` has made. */
int take_errors(PyObject* tamis) {
  const struct {
    const char* name;
    PyObject** place;
  } classes[] = {{"Error", &error_class},
                 {"Full", &full_class},
                 {"Corrupt", &corrupt_class},
                 {"WrongHash", &wrong_hash_class},
                 {"Unsupported", &unsupported_class}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) {
    *classes[i].place = PyObject_GetAttrString(tamis, classes[i].name);
    if (*classes[i].place == NULL) return -1;
  }
  return 0;
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

PyObject* raise_file_error(const tamis_error* error) {
  if (error->code != TAMIS_NOT_FOUND) return raise_error(error);
  PyErr_SetString(PyExc_FileNotFoundError, error->message);
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

PyObject* parsed_json(PyObject* bytearray) {
  PyObject* const json = PyImport_ImportModule("json");
  PyObject* const parsed = json == NULL ? NULL : PyObject_CallMethod(json, "loads", "O", bytearray);
  Py_XDECREF(json);
  return parsed;
}
