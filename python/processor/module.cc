// The extension bapi._processor. Compiled for the oldest processor of the family, unlike bapi._core, and imported
// before it: on a processor that lacks what the engine was built for, an exception is better than "illegal
// instruction". It is apart from bapi._core because loading that one already runs code of the engine.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace {

// What the engine needs and this processor lacks; empty if nothing.
PyObject* lacking(PyObject* /*module*/, PyObject* /*arguments*/) {
#if defined(BAPI_NEEDS_AVX2) && defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool fma = __builtin_cpu_supports("fma") != 0;
  if (!avx2 && !fma) return PyUnicode_FromString("AVX2 and FMA");
  if (!avx2) return PyUnicode_FromString("AVX2");
  if (!fma) return PyUnicode_FromString("FMA");
#endif
  return PyUnicode_FromString("");
}

PyMethodDef methods[] = {
    {"lacking", lacking, METH_NOARGS, "What the engine needs and this processor lacks; empty if nothing."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_processor",
                          "Whether the engine runs on this processor.",
                          0,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModule_Create(&definition); }
