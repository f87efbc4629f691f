/* The arguments of a constructor as the text that tamis.h takes: "evergreen capacity=1M fpr=0.01". */

#include "tamis_python.h"

/* Appends " name=value" to the spec. A blank in either would begin another option. */
static int append_option(PyObject** spec, PyObject* name, PyObject* value) {
  PyObject* const text = PyUnicode_FromFormat("%S=%S", name, value);
  if (text == NULL) return -1;
  PyObject* const words = PyUnicode_Split(text, NULL, -1);
  const int is_one = words != NULL && PyList_Size(words) == 1;
  Py_XDECREF(words);
  if (!is_one) {
    if (words != NULL) PyErr_Format(PyExc_ValueError, "option '%S': a value has no blanks", name);
    Py_DECREF(text);
    return -1;
  }
  PyObject* const longer = PyUnicode_FromFormat("%U %U", *spec, text);
  Py_DECREF(text);
  Py_DECREF(*spec);
  *spec = longer;
  return longer == NULL ? -1 : 0;
}

/* The seed is hexadecimal in a spec, and a number here. */
static PyObject* seed_text(PyObject* seed) {
  PyObject* const digits = PyNumber_ToBase(seed, 16);
  if (digits == NULL) return NULL;
  PyObject* const text = PyUnicode_Substring(digits, 2, PyUnicode_GetLength(digits));
  Py_DECREF(digits);
  return text;
}

static PyObject* option_text(PyObject* name, PyObject* value) {
  if (PyUnicode_CompareWithASCIIString(name, "seed") == 0) return seed_text(value);
  if (PyBool_Check(value)) return PyLong_FromLong(Py_IsTrue(value));
  return Py_NewRef(value);
}

static int append_keywords(PyObject** spec, PyObject* kwargs, PyObject** secret) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
    if (PyUnicode_CompareWithASCIIString(name, "kind") == 0 || Py_IsNone(value)) continue;
    if (PyUnicode_CompareWithASCIIString(name, "secret") == 0) {
      *secret = value;
      continue;
    }
    PyObject* const text = option_text(name, value);
    const int answer = text == NULL ? -1 : append_option(spec, name, text);
    Py_XDECREF(text);
    if (answer < 0) return -1;
  }
  return 0;
}

static int is_one_word(PyObject* text) {
  PyObject* const words = PyUnicode_Split(text, NULL, -1);
  const int answer = words == NULL ? -1 : PyList_Size(words) == 1;
  Py_XDECREF(words);
  return answer;
}

/* `*kind` and `*capacity` are borrowed, and NULL if they are not among the arguments that have no name. */
static int read_kind(const char* function, PyObject* args, PyObject* kwargs, PyObject** kind, PyObject** capacity) {
  *kind = kwargs == NULL ? NULL : PyDict_GetItemString(kwargs, "kind");
  *capacity = NULL;
  const int named = *kind != NULL;
  if (!PyArg_UnpackTuple(args, function, 0, named ? 1 : 2, named ? capacity : kind, capacity)) return -1;
  if (*kind == NULL) return 0;
  if (!PyUnicode_Check(*kind)) {
    PyErr_Format(PyExc_TypeError, "kind: must be str, not %R", (PyObject*)Py_TYPE(*kind));
    return -1;
  }
  const int is_id = is_one_word(*kind);
  if (is_id == 0) {
    PyErr_Format(PyExc_ValueError, "kind: %R is not the id of a filter; Filter.from_spec takes texts with options", *kind);
  }
  return is_id == 1 ? 0 : -1;
}

PyObject* spec_of(const char* function, PyObject* args, PyObject* kwargs, PyObject** secret) {
  PyObject *kind, *capacity;
  if (read_kind(function, args, kwargs, &kind, &capacity) < 0) return NULL;
  PyObject* spec = kind == NULL ? PyUnicode_FromString("evergreen") : Py_NewRef(kind);
  PyObject* const name = PyUnicode_FromString("capacity");
  const int failed = spec == NULL || name == NULL || (capacity != NULL && append_option(&spec, name, capacity) < 0) ||
                     append_keywords(&spec, kwargs, secret) < 0;
  Py_XDECREF(name);
  if (failed) Py_CLEAR(spec);
  return spec;
}
