// sched/work/parking.h on the checker: submitters and workers in a small house.
//
// Note   the house has few Gs: each protocol step is met by the second or third. With
//        more threads the search is bounded by preemptions, or random.
#include "sched/work/parking.h"

#include "faulty_parking.h"
#include "mutants.h"
#include "parking_house.h"

namespace {

using shipped = house<shipped_text>;

// One submit, and a worker in each of the states it may be in.
const house_plan kSearching{.local = 1, .searching = 1, .asleep = 1};
const house_plan kGlobal{.procs = 1, .global = 1, .searching = 1, .asleep = 1};
const house_plan kBusy{.local = 1, .steals = 0, .busy = 1, .asleep = 1};
const house_plan kBusyThief{.local = 1, .busy = 1, .asleep = 1};
const house_plan kAsleep{.local = 1, .asleep = 1};
// Two submits: wake-ups that follow each other.
const house_plan kTwoBusyThief{.local = 2, .busy = 1, .asleep = 1};
const house_plan kTwoSearching{.local = 2, .searching = 1, .asleep = 1};
const house_plan kBothKinds{.local = 1, .global = 1, .steals = 0, .busy = 1, .asleep = 2};
const house_plan kEndless{.procs = 3, .local = 2, .endless = true, .searching = 1, .asleep = 2};
const house_plan kReturning{.local = 1, .steals = 0, .searching = 1, .returning = 1, .asleep = 1};
const house_plan kThreeBusy{.procs = 3, .local = 1, .steals = 0, .busy = 1, .searching = 1,
                            .asleep = 2};
const house_plan kAll{.procs = 3, .local = 2, .global = 1, .stays = false, .steals = 2,
                      .busy = 1, .searching = 1, .asleep = 3};

TEST(Parking, OneSubmitIsNotMissed) {
  const model::options o{.seconds = 3};
  model::holds<shipped>("1 local G, 1 asleep", o, kAsleep);
  model::holds<shipped>("1 local G, 1 searching", o, kSearching);
  model::holds<shipped>("1 global G, 1 searching", o, kGlobal);
  model::holds<shipped>("1 local G, 1 busy", o, kBusy);
  model::holds<shipped>("1 local G, 1 busy that steals", o, kBusyThief);
}

TEST(Parking, WakeUpsFollowEachOther) {
  const model::options two{.preemptions = 2, .seconds = 2}, one{.preemptions = 1, .seconds = 2};
  model::holds<shipped>("2 local Gs, 1 busy that steals", two, kTwoBusyThief);
  model::holds<shipped>("2 local Gs, 1 searching", two, kTwoSearching);
  model::holds<shipped>("1 local G, 1 searching, 1 returning", two, kReturning);
  model::holds<shipped>("1 local G, 1 global, 1 busy", one, kBothKinds);
  model::holds<shipped>("3 Ps, 2 endless local Gs, 1 searching", one, kEndless);
  model::holds<shipped>("3 Ps, 1 local G, 1 busy, 1 searching", one, kThreeBusy);
}

TEST(Parking, LargerHousesAtRandom) {
  const model::options o{.random = 20'000};
  model::holds<shipped>("1 local G, 1 global, 1 busy", o, kBothKinds);
  model::holds<shipped>("3 Ps, 2 endless local Gs, 1 searching", o, kEndless);
  model::holds<shipped>("3 Ps, 1 local G, 1 busy, 1 searching", o, kThreeBusy);
  for (const std::uint64_t seed : {1, 2, 3})
    model::holds<shipped>("3 Ps, 3 Gs, all kinds", {.random = 20'000, .seed = seed}, kAll);
}

TEST(Parking, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  house_plan s1 = kSearching, d2 = kSearching, s3 = kSearching, fence = kTwoBusyThief;
  s1.weak_s1 = d2.weak_d2 = s3.weak_s3 = fence.no_fence = true;
  model::catches<shipped>("parking: S1 release", o, s1);
  model::catches<shipped>("parking: S3 acquire", o, s3);
  model::catches<shipped>("parking: D2 relaxed", o, d2);
  model::catches<shipped>("parking: displaced G without a fence", o, fence);
  model::catches<house<faulty_text<fault::no_last_look>>>("parking: D4 skipped", o, kSearching);
  model::catches<house<faulty_text<fault::drops_after_unlock>>>(
      "parking: spinning dropped after L", o, kBothKinds);
  model::catches<house<faulty_text<fault::no_promise>>>("parking: need_spinning not set", o, kBusy);
  model::catches<house<faulty_text<fault::no_promise_at_d4>>>(
      "parking: need_spinning not set at D4", o, kReturning);
  model::catches<house<faulty_text<fault::promise_untested>>>("parking: need_spinning not tested",
                                                              o, kBusy);
  model::catches<house<faulty_text<fault::promise_half_tested>>>(
      "parking: need_spinning outlives its P", o, kTwoBusyThief);
  model::catches<house<faulty_text<fault::no_successor>>>("parking: found_work without submit", o,
                                                          kEndless);
  model::holds<house<faulty_text<fault::none>>>("parking: the mutants' common text", o, kBusy);
}

}  // namespace
