/* One key, as str, bytes or int. */

#include "tamis_python.h"

static int wrong_key(PyObject* object) {
  PyErr_Format(PyExc_TypeError, "a key is str, bytes or int, not %R; encode it to bytes first", (PyObject*)Py_TYPE(object));
  return -1;
}

static int read_integer(PyObject* object, one_key* key) {
  key->is_integer = 1;
  key->integer = PyLong_AsUnsignedLongLong(object);
  if (key->integer != (uint64_t)-1 || !PyErr_Occurred()) return 0;
  if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
  PyErr_Clear();
  key->integer = (uint64_t)PyLong_AsLongLong(object); /* negative numbers are sign-extended */
  if (key->integer != (uint64_t)-1 || !PyErr_Occurred()) return 0;
  PyErr_SetString(PyExc_OverflowError, "an int as a key must fit into 64 bits; encode it to bytes first");
  return -1;
}

static int read_other_key(PyObject* object, one_key* key) {
  if (PyIndex_Check(object)) { /* numpy.int64 */
    PyObject* const number = PyNumber_Index(object);
    if (number == NULL) return -1;
    const int answer = read_integer(number, key);
    Py_DECREF(number);
    return answer;
  }
  if (!PyByteArray_Check(object) && !PyMemoryView_Check(object)) return wrong_key(object);
  if (PyObject_GetBuffer(object, &key->view, PyBUF_SIMPLE) < 0) return -1;
  key->bytes.data = key->view.buf;
  key->bytes.size = (size_t)key->view.len;
  return 0;
}

int read_key(PyObject* object, one_key* key) {
  key->is_integer = 0;
  key->view.obj = NULL;
  if (PyUnicode_Check(object)) {
    Py_ssize_t size;
    key->bytes.data = PyUnicode_AsUTF8AndSize(object, &size);
    key->bytes.size = (size_t)size;
    return key->bytes.data == NULL ? -1 : 0;
  }
  if (PyLong_Check(object)) return read_integer(object, key);
  if (PyBytes_Check(object)) {
    key->bytes.data = PyBytes_AsString(object);
    key->bytes.size = (size_t)PyBytes_Size(object);
    return 0;
  }
  return read_other_key(object, key);
}

void release_key(one_key* key) {
  if (key->view.obj != NULL) PyBuffer_Release(&key->view);
}
