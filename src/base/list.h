// Intrusive lists: the links are members of the element.
//
// Who    the owner of the list, or the holder of the lock that guards it.
// Law    size() is the number of elements between front() and the end. An element
//        stands in at most one list per link.
// Note   pop leaves the element's link null. Nothing here allocates, owns or
//        destroys an element.
#pragma once

#include <cstddef>

namespace vole::base {

template <class T, T* T::*Next>
class fifo {
 public:
  bool empty() const noexcept { return front_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* front() const noexcept { return front_; }
  T* back() const noexcept { return back_; }

  void push_back(T* e) noexcept {
    e->*Next = nullptr;
    (back_ == nullptr ? front_ : back_->*Next) = e;
    back_ = e;
    ++size_;
  }

  void push_front(T* e) noexcept {
    e->*Next = front_;
    if (front_ == nullptr) back_ = e;
    front_ = e;
    ++size_;
  }

  // nullptr: empty.
  T* pop_front() noexcept {
    T* const e = front_;
    if (e == nullptr) return nullptr;
    front_ = e->*Next;
    if (front_ == nullptr) back_ = nullptr;
    e->*Next = nullptr;
    --size_;
    return e;
  }

  // Moves all of `other` behind our last element; `other` is empty afterwards.
  void append(fifo& other) noexcept {
    if (&other == this || other.empty()) return;
    (back_ == nullptr ? front_ : back_->*Next) = other.front_;
    back_ = other.back_;
    size_ += other.size_;
    other = fifo();
  }
  void append(fifo&& other) noexcept { append(other); }

  // Appends a chain that is linked already: n elements from `first` to `last`.
  void append_chain(T* first, T* last, std::size_t n) noexcept {
    if (n == 0) return;
    last->*Next = nullptr;
    (back_ == nullptr ? front_ : back_->*Next) = first;
    back_ = last;
    size_ += n;
  }

  // For tests and VOLE_CHECKED: walks the whole list.
  bool is_valid() const noexcept {
    std::size_t n = 0;
    T* last = nullptr;
    for (T* e = front_; e != nullptr && n <= size_; e = e->*Next) last = e, ++n;
    return n == size_ && last == back_;
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
  std::size_t size_ = 0;
};

template <class T, T* T::*Next>
class lifo {
 public:
  bool empty() const noexcept { return top_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* top() const noexcept { return top_; }

  void push(T* e) noexcept {
    e->*Next = top_;
    top_ = e;
    ++size_;
  }

  // nullptr: empty.
  T* pop() noexcept {
    T* const e = top_;
    if (e == nullptr) return nullptr;
    top_ = e->*Next;
    e->*Next = nullptr;
    --size_;
    return e;
  }

 private:
  T* top_ = nullptr;
  std::size_t size_ = 0;
};

// A lifo out of whose middle an element may be taken: two links.
template <class T, T* T::*Next, T* T::*Above>
class double_lifo {
 public:
  bool empty() const noexcept { return top_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* top() const noexcept { return top_; }

  void push(T* e) noexcept {
    e->*Next = top_;
    e->*Above = nullptr;
    if (top_ != nullptr) top_->*Above = e;
    top_ = e;
    ++size_;
  }

  // nullptr: empty.
  T* pop() noexcept {
    T* const e = top_;
    if (e != nullptr) remove(e);
    return e;
  }

  void remove(T* e) noexcept {
    T* const below = e->*Next;
    T* const above = e->*Above;
    (above == nullptr ? top_ : above->*Next) = below;
    if (below != nullptr) below->*Above = above;
    e->*Next = e->*Above = nullptr;
    --size_;
  }

 private:
  T* top_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vole::base
