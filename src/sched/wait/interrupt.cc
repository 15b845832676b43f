#include "sched/wait/interrupt.h"

#include "sched/park.h"

namespace vole::rt {

interruptible_wait::interruptible_wait(interrupter* by, void* object, unlink_fn unlink) noexcept
    : by_(by), object_(object) {
  self.thread = &note_;
  self.object = object;
  self.unlink = unlink;
  self.winner = &winner_;
  link_.claim = &claim_waiter;
  link_.fire = &wake_waiter;
  link_.wait = this;
}

bool interruptible_wait::claim_waiter(interrupt& i, M*) noexcept {
  return rt::claim(&static_cast<link&>(i).wait->self);
}

void interruptible_wait::wake_waiter(interrupt& i, M* m) noexcept {
  interruptible_wait& mine = *static_cast<link&>(i).wait;
  mine.self.unlink(mine.object_, &mine.self);
  wake(m, &mine.self, kCanceled);
}

// The runtime ends; nobody is inside. A waiter that has been served or claimed is off its queue, and
// then its object, or its context, may be gone.
void interruptible_wait::unlink_both(void* wait, waiter* whole) noexcept {
  auto& mine = *static_cast<interruptible_wait*>(wait);
  if (mine.link_.linked) mine.by_->disarm(mine.link_);
  if (mine.self.object != nullptr) mine.self.unlink(mine.object_, &mine.self);
  whole->object = nullptr;
}

bool interruptible_wait::arm(M* m) noexcept {
  if (!by_->arm(link_)) return false;
  if (m == nullptr) return true;
  self.g = m->curg;
  rt::self(m, this, &unlink_both);
  return true;
}

void interruptible_wait::end_inside(M* m) noexcept {
  if (m != nullptr) m->curg->wait.object = nullptr;
  by_->disarm(link_);
}

bool interruptible_wait::end(std::uintptr_t told) noexcept {
  const bool served = told != kCanceled;
  inside([this, served](M* m) {
    if (served) return end_inside(m);
    if (m != nullptr) m->curg->wait.object = nullptr;
  });
  return served;
}

}  // namespace vole::rt
