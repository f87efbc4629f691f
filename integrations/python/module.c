/* The module tamis._tamis, and Strings. */

#include "tamis_python.h"

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
    {"diff", module_diff, METH_VARARGS,
     "The patch that makes the second of two saved filters of the first, or of its checksums."},
    {"diff_files", module_diff_files, METH_VARARGS, "The same of two files."},
    {"patch", module_patch, METH_VARARGS, "The saved filter that a patch makes of another one."},
    {"patch_file", module_patch_file, METH_VARARGS, "Applies a file with a patch to a saved filter, whole or not at all."},
    {"checksums", module_checksums, METH_VARARGS, "The checksums of a saved filter: enough to make a patch for it."},
    {"checksums_of_file", module_checksums_of_file, METH_VARARGS, "The same of a file."},
    {"kinds", kinds, METH_NOARGS, "What filters there are: a dict each, with id, summary, paper, can and options."},
    {"cpu_level", cpu_level, METH_NOARGS, "portable, avx2 or avx512: which code answers."},
    {NULL, NULL, 0, NULL}};

/* The types and errors are static, so the module is one for the process. */
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "tamis._tamis", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__tamis(void) {
  PyObject* const module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (make_errors(module) < 0 || make_strings_type(module) < 0 || make_filter_type(module) < 0 ||
      make_remote_type(module) < 0 || PyModule_AddStringConstant(module, "__version__", tamis_version_text()) < 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
