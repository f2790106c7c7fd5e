// A fixed pool of worker threads.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cairn {

// Runs tasks on n threads; the destructor finishes what was submitted. Exceptions of a task are kept and
// rethrown by wait().
class ThreadPool {
 public:
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  void submit(std::function<void()> task);
  // Blocks until all submitted tasks are done.
  void wait();
  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

 private:
  void work();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  std::size_t running_ = 0;
  bool stop_ = false;
  std::exception_ptr failure_;
};

}  // namespace cairn
