#pragma once

#include <cxxabi.h>
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bapi/base/clock.h"

namespace bapi::test {

// Thrown into an actor that is killed: nothing of it runs on but its destructors.
struct Killed {};

// Programs that run side by side in the time of a ManualClock, within one thread. Only one runs at any instant, from
// one `sleep` to its next; which one is a matter of their times alone, so that everything happens the same way every
// time.
class Stage {
 public:
  class Actor {
   public:
    // Lets the others run for so long. Throws Killed if the actor was killed meanwhile.
    void sleep(double seconds) {
      wake_ = stage_.clock_.now() + (seconds > 0.0 ? seconds : 0.0);
      swap(context_, stage_.context_);
      if (killed_) throw Killed{};
    }

    void kill() {
      killed_ = true;
      wake_ = stage_.clock_.now();
    }

   private:
    friend class Stage;
    Actor(Stage& stage, std::function<void(Actor&)> play)
        : stage_(stage), play_(std::move(play)), wake_(stage.clock_.now()), stack_(new char[kStack]) {
      ::getcontext(&context_.place);
      context_.place.uc_stack = {.ss_sp = stack_.get(), .ss_flags = 0, .ss_size = kStack};
      context_.place.uc_link = nullptr;
      context_.bottom = stack_.get();
      context_.size = kStack;
      ::makecontext(&context_.place, &Stage::perform, 0);
    }

    Stage& stage_;
    std::function<void(Actor&)> play_;
    double wake_;
    bool killed_ = false;
    bool ended_ = false;

    // Where it stands, with the exceptions that it is handling: these belong to the thread, and the thread to all.
    static constexpr std::size_t kStack = std::size_t{1} << 20;
    struct Exceptions {
      void* caught = nullptr;
      unsigned int uncaught = 0;
    };
    struct Context {
      ucontext_t place = {};
      Exceptions exceptions = {};
      const void* bottom = nullptr;  // of its stack, for the sanitizer
      std::size_t size = 0;
    };
    static void swap(Context& from, Context& to) {
      auto* const here = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
      from.exceptions = *here;
      *here = to.exceptions;
#if defined(__SANITIZE_ADDRESS__)
      void* kept = nullptr;
      __sanitizer_start_switch_fiber(&kept, to.bottom, to.size);
#endif
      ::swapcontext(&from.place, &to.place);
#if defined(__SANITIZE_ADDRESS__)
      __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
#endif
    }

    std::unique_ptr<char[]> stack_;
    Context context_;
  };

  explicit Stage(ManualClock& clock) : clock_(clock) {}

  // Kills who is left.
  ~Stage() {
    for (std::size_t i = 0; i < actors_.size(); ++i) {
      actors_[i]->kill();
      while (!actors_[i]->ended_) run_on(*actors_[i]);
    }
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Runs `play` from its next turn on. The actor lives as long as the stage.
  Actor& enter(std::function<void(Actor&)> play) {
    actors_.push_back(std::unique_ptr<Actor>(new Actor(*this, std::move(play))));
    return *actors_.back();
  }

  // The turn of the actor whose time comes first. False if all have ended.
  bool turn() {
    Actor* next = nullptr;
    for (const auto& actor : actors_) {
      if (!actor->ended_ && (!next || actor->wake_ < next->wake_)) next = actor.get();
    }
    if (!next) return false;
    if (next->wake_ > clock_.now()) clock_.set(next->wake_);
    run_on(*next);
    return true;
  }

 private:
  static inline Actor* entering_ = nullptr;

  static void perform() {
    Actor& actor = *entering_;
#if defined(__SANITIZE_ADDRESS__)
    Actor::Context& outside = actor.stage_.context_;
    __sanitizer_finish_switch_fiber(nullptr, &outside.bottom, &outside.size);
#endif
    try {
      if (!actor.killed_) actor.play_(actor);
    } catch (const Killed&) {
    }
    actor.ended_ = true;
    Actor::swap(actor.context_, actor.stage_.context_);
  }

  void run_on(Actor& actor) {
    entering_ = &actor;
    Actor::swap(context_, actor.context_);
    if (actor.ended_) actor.stack_.reset();
  }

  ManualClock& clock_;
  Actor::Context context_;
  std::vector<std::unique_ptr<Actor>> actors_;
};

}  // namespace bapi::test
