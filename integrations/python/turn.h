#ifndef TAMIS_PYTHON_TURN_H
#define TAMIS_PYTHON_TURN_H

/* Who may use a filter while the GIL is free. The counters are guarded by the GIL. Every entry waits, without the GIL, before
 * it takes its turn: a single lookup as well as a batch, or it would read what a batch in another thread is changing. A waiting
 * writer stops new readers, so that it gets its turn. No Python code runs while a turn is held. What sees to its threads itself
 * (a concurrent filter) has a turn that everybody gets at once. */

#include <pthread.h>

typedef struct {
  int is_free; /* nobody waits */
  int readers;
  int writers; /* 0 or 1 */
  int waiting_writers;
  int waiting_readers;
  unsigned long passed; /* turns that ended; guarded by the mutex */
  pthread_mutex_t mutex;
  pthread_cond_t ended;
} turn;

static inline int turn_init(turn* t) {
  t->is_free = t->readers = t->writers = t->waiting_writers = t->waiting_readers = 0;
  t->passed = 0;
  if (pthread_mutex_init(&t->mutex, NULL) != 0) return -1;
  if (pthread_cond_init(&t->ended, NULL) == 0) return 0;
  pthread_mutex_destroy(&t->mutex);
  return -1;
}

static inline void turn_destroy(turn* t) {
  pthread_cond_destroy(&t->ended);
  pthread_mutex_destroy(&t->mutex);
}

/* Waits until some turn has ended. The number is read while the GIL is held, as is every end: none is missed. Nobody waits for
 * the GIL with the mutex in hand. */
static inline void turn_wait(turn* t) {
  pthread_mutex_lock(&t->mutex);
  const unsigned long before = t->passed;
  pthread_mutex_unlock(&t->mutex);
  Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&t->mutex);
  while (t->passed == before) pthread_cond_wait(&t->ended, &t->mutex);
  pthread_mutex_unlock(&t->mutex);
  Py_END_ALLOW_THREADS
}

static inline void turn_announce(turn* t) {
  pthread_mutex_lock(&t->mutex);
  ++t->passed;
  pthread_cond_broadcast(&t->ended);
  pthread_mutex_unlock(&t->mutex);
}

/* For who keeps the GIL: there is nothing to give back. */
static inline void turn_for_one_read(turn* t) {
  while (t->writers != 0) turn_wait(t);
}
static inline void turn_for_one_change(turn* t) {
  if (t->is_free) return;
  ++t->waiting_writers;
  while (t->writers != 0 || t->readers != 0) turn_wait(t);
  --t->waiting_writers;
  /* Readers that waited for this writer may go on once the GIL is free. */
  if (t->waiting_readers != 0) turn_announce(t);
}

static inline void turn_begin_read(turn* t) {
  if (t->is_free) return;
  ++t->waiting_readers;
  while (t->writers != 0 || t->waiting_writers != 0) turn_wait(t);
  --t->waiting_readers;
  ++t->readers;
}
static inline void turn_end_read(turn* t) {
  if (t->is_free) return;
  --t->readers;
  turn_announce(t);
}

static inline void turn_begin_change(turn* t) {
  if (t->is_free) return;
  ++t->waiting_writers;
  while (t->writers != 0 || t->readers != 0) turn_wait(t);
  --t->waiting_writers;
  ++t->writers;
}
static inline void turn_end_change(turn* t) {
  if (t->is_free) return;
  --t->writers;
  turn_announce(t);
}

#endif
