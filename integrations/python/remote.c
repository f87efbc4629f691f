/* tamis.Remote: what is really stored, as digests in memory. */

#include "tamis_python.h"

PyTypeObject* remote_type;

static PyObject* remote_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"like", NULL};
  PyObject* like;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Remote", names, filter_type, &like)) return NULL;
  remote_object* const self = (remote_object*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  tamis_error error;
  if (tamis_remote_memory(&self->remote, &error) < 0) {
    Py_DECREF((PyObject*)self);
    return raise_error(&error);
  }
  self->like = (filter_object*)Py_NewRef(like);
  return (PyObject*)self;
}

static void remote_dealloc(remote_object* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  tamis_remote_free(self->remote);
  Py_XDECREF((PyObject*)self->like);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Changes of a remote keep the GIL, and so does everything that asks it: it needs no turn. */
static int64_t change_remote(remote_object* self, PyObject* given, int erases) {
  key_source keys;
  if (open_keys(given, &keys) < 0) return -1;
  tamis_digest* const digests = hash_keys(self->like, &keys);
  int64_t done = -1;
  if (digests != NULL) {
    tamis_error error;
    done = erases ? tamis_remote_erase(self->remote, digests, keys.count, &error)
                  : tamis_remote_insert(self->remote, digests, keys.count, &error);
    if (done < 0) raise_error(&error);
  }
  PyMem_Free(digests);
  close_keys(&keys);
  return done < 0 ? -1 : done;
}

static PyObject* remote_update(remote_object* self, PyObject* keys) {
  if (change_remote(self, keys, 0) < 0) return NULL;
  Py_RETURN_NONE;
}

static int64_t change_one(remote_object* self, PyObject* key, int erases) {
  PyObject* const one = PyTuple_Pack(1, key);
  if (one == NULL) return -1;
  const int64_t done = change_remote(self, one, erases);
  Py_DECREF(one);
  return done;
}

static PyObject* remote_add(remote_object* self, PyObject* key) {
  if (change_one(self, key, 0) < 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* remote_discard(remote_object* self, PyObject* key) {
  const int64_t done = change_one(self, key, 1);
  return done < 0 ? NULL : PyBool_FromLong(done > 0);
}

static Py_ssize_t remote_len(remote_object* self) {
  tamis_error error;
  const int64_t size = tamis_remote_size(self->remote, &error);
  if (size < 0) raise_error(&error);
  return size < 0 ? -1 : (Py_ssize_t)size;
}

static PyMethodDef remote_methods[] = {
    {"add", (PyCFunction)remote_add, METH_O, "Stores a key; a key may be stored several times."},
    {"update", (PyCFunction)remote_update, METH_O, "Stores many keys."},
    {"discard", (PyCFunction)remote_discard, METH_O, "Removes one copy of a key. Was it there?"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot remote_slots[] = {
    {Py_tp_doc, "Remote(like): what is really stored, in memory, 16 bytes a key, hashed as the filter `like` does."},
    {Py_tp_new, remote_new},
    {Py_tp_dealloc, remote_dealloc},
    {Py_tp_methods, remote_methods},
    {Py_sq_length, remote_len},
    {0, NULL}};
static PyType_Spec remote_spec = {"tamis.Remote", sizeof(remote_object), 0, Py_TPFLAGS_DEFAULT, remote_slots};

int make_remote_type(PyObject* module) {
  remote_type = (PyTypeObject*)PyType_FromSpec(&remote_spec);
  return remote_type == NULL ? -1 : PyModule_AddObjectRef(module, "Remote", (PyObject*)remote_type);
}
