// sched/work/parking.h on the checker: a P that changes hands, and the stop of the world.
//
// Law    parking_house.h: I8, a P that is handed off finds whoever needs it; each P is the
//        stopper's once, when it goes on.
#include "sched/work/parking.h"

#include "faulty_parking.h"
#include "mutants.h"
#include "parking_house.h"

namespace {

using shipped = house<shipped_text>;

// Somebody submits, while a P is handed off.
const house_plan kGlobalHandedOff{.procs = 1, .global = 1, .handing = 1, .asleep = 2};
const house_plan kLocalHandedOff{.local = 1, .handing = 1, .asleep = 2};
const house_plan kHandedOffBesideASearcher{
    .procs = 3, .local = 1, .searching = 1, .handing = 1, .asleep = 3};
// The P with the work is the one that goes.
const house_plan kRetired{.local = 1, .retiring = 1, .asleep = 2};
// There is no thread, and then there is one.
const house_plan kSetAside{.procs = 1, .global = 1, .handing = 1, .refused = true, .asleep = 0};
const house_plan kWakeUpSetAside{.local = 1, .returning = 1, .refused = true, .asleep = 0};
const house_plan kPromiseSetAside{.local = 1, .handing = 1, .refused = true, .asleep = 0};
// A stop.
const house_plan kStopIdle{.stops = true, .asleep = 2};
const house_plan kStopSearching{.procs = 2, .searching = 1, .stops = true, .asleep = 2};
const house_plan kStopHandedOff{
    .procs = 2, .searching = 1, .handing = 1, .stops = true, .asleep = 2};
const house_plan kStopBesideWork{.procs = 1, .global = 1, .busy = 1, .stops = true, .asleep = 2};
const house_plan kStopRetiring{.procs = 1, .retiring = 1, .stops = true, .asleep = 2};
const house_plan kStopSettingAside{
    .procs = 1, .global = 1, .handing = 1, .stops = true, .refused = true, .asleep = 0};

TEST(HandOff, FindsWhoNeedsIt) {
  const model::options o{.seconds = 1}, two{.preemptions = 2, .seconds = 1};
  model::holds<shipped>("1 global G, 1 P handed off", o, kGlobalHandedOff);
  model::holds<shipped>("1 local G, 1 P handed off", two, kLocalHandedOff);
  model::holds<shipped>("1 local G, 1 searching, 1 P handed off", two, kHandedOffBesideASearcher);
}

TEST(HandOff, WorkOfAPThatRetiresIsEverybodys) {
  model::holds<shipped>("1 local G, 1 P retires", {.preemptions = 2, .seconds = 1}, kRetired);
}

TEST(HandOff, APWithoutAThreadWaitsForOne) {
  const model::options two{.preemptions = 2, .seconds = 1};
  model::holds<shipped>("1 global G, a P handed off to nobody", two, kSetAside);
  model::holds<shipped>("1 local G, a wake-up of nobody", two, kWakeUpSetAside);
  model::holds<shipped>("1 local G, a P handed off to nobody", two, kPromiseSetAside);
}

TEST(Stop, EveryPIsTheStoppers) {
  const model::options two{.preemptions = 2, .seconds = 1};
  model::holds<shipped>("a stop, all idle", two, kStopIdle);
  model::holds<shipped>("a stop, 1 searching", two, kStopSearching);
  model::holds<shipped>("a stop, 1 searching, 1 P handed off", two, kStopHandedOff);
  model::holds<shipped>("a stop, 1 global G, 1 busy", two, kStopBesideWork);
  model::holds<shipped>("a stop, 1 P retires", two, kStopRetiring);
  model::holds<shipped>("a stop, a P handed off to nobody", two, kStopSettingAside);
}

}  // namespace
