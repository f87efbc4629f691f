/* Differences between saved filters. Whole files are compared, so all of it runs without the GIL. */

#include "tamis_python.h"

/* A tamis_sink, whose context is a bytearray. */
static int sink_without_gil(void* context, const void* bytes, size_t size) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const int answer = sink_to_bytearray(context, bytes, size);
  PyGILState_Release(state);
  return answer;
}

/* ---- of bytes ---- */

typedef int (*use_bytes)(const Py_buffer* given, tamis_sink sink, void* context, tamis_error* error);

static int diff_bytes(const Py_buffer* given, tamis_sink sink, void* context, tamis_error* error) {
  return tamis_diff_bytes(given[0].buf, (size_t)given[0].len, given[1].buf, (size_t)given[1].len, sink, context, error);
}
static int patch_bytes(const Py_buffer* given, tamis_sink sink, void* context, tamis_error* error) {
  return tamis_patch_bytes(given[0].buf, (size_t)given[0].len, given[1].buf, (size_t)given[1].len, sink, context, error);
}
static int checksums_of_bytes(const Py_buffer* given, tamis_sink sink, void* context, tamis_error* error) {
  return tamis_checksums_of_bytes(given[0].buf, (size_t)given[0].len, sink, context, error);
}

/* `format` takes one or two buffers. */
static PyObject* made_of_bytes(PyObject* args, const char* format, use_bytes use) {
  Py_buffer given[2] = {{.obj = NULL}, {.obj = NULL}};
  if (!PyArg_ParseTuple(args, format, &given[0], &given[1])) return NULL;
  PyObject *made = NULL, *const room = PyByteArray_FromStringAndSize(NULL, 0);
  if (room != NULL) {
    tamis_error error;
    int answer;
    Py_BEGIN_ALLOW_THREADS answer = use(given, sink_without_gil, room, &error);
    Py_END_ALLOW_THREADS made = answer < 0 ? raise_error(&error) : PyBytes_FromObject(room);
    Py_DECREF(room);
  }
  PyBuffer_Release(&given[0]);
  PyBuffer_Release(&given[1]);
  return made;
}

PyObject* module_diff(PyObject* Py_UNUSED(module), PyObject* args) { return made_of_bytes(args, "y*y*:diff", diff_bytes); }
PyObject* module_patch(PyObject* Py_UNUSED(module), PyObject* args) { return made_of_bytes(args, "y*y*:patch", patch_bytes); }
PyObject* module_checksums(PyObject* Py_UNUSED(module), PyObject* args) {
  return made_of_bytes(args, "y*:checksums", checksums_of_bytes);
}

/* ---- of files ---- */

typedef int (*use_files)(const char* first, const char* second, tamis_sink sink, void* context, tamis_error* error);

static int checksums_of_file(const char* path, const char* Py_UNUSED(none), tamis_sink sink, void* context,
                             tamis_error* error) {
  return tamis_checksums_of_file(path, sink, context, error);
}
static int patch_file(const char* path, const char* patch, tamis_sink Py_UNUSED(sink), void* Py_UNUSED(context),
                      tamis_error* error) {
  return tamis_patch_file(path, patch, error);
}

/* `format` takes one or two paths. */
static PyObject* made_of_files(PyObject* args, const char* format, use_files use) {
  PyObject* paths[2] = {NULL, NULL};
  if (!PyArg_ParseTuple(args, format, PyUnicode_FSConverter, &paths[0], PyUnicode_FSConverter, &paths[1])) return NULL;
  const char* const first = PyBytes_AsString(paths[0]);
  const char* const second = paths[1] == NULL ? NULL : PyBytes_AsString(paths[1]);
  PyObject *made = NULL, *const room = PyByteArray_FromStringAndSize(NULL, 0);
  if (room != NULL) {
    tamis_error error;
    int answer;
    Py_BEGIN_ALLOW_THREADS answer = use(first, second, sink_without_gil, room, &error);
    Py_END_ALLOW_THREADS made = answer < 0 ? raise_file_error(&error) : PyBytes_FromObject(room);
    Py_DECREF(room);
  }
  Py_DECREF(paths[0]);
  Py_XDECREF(paths[1]);
  return made;
}

PyObject* module_diff_files(PyObject* Py_UNUSED(module), PyObject* args) {
  return made_of_files(args, "O&O&:diff_files", tamis_diff_files);
}
PyObject* module_checksums_of_file(PyObject* Py_UNUSED(module), PyObject* args) {
  return made_of_files(args, "O&:checksums_of_file", checksums_of_file);
}
PyObject* module_patch_file(PyObject* Py_UNUSED(module), PyObject* args) {
  PyObject* const nothing = made_of_files(args, "O&O&:patch_file", patch_file);
  if (nothing == NULL) return NULL;
  Py_DECREF(nothing);
  Py_RETURN_NONE;
}
