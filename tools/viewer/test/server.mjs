// A made-up server for pictures and tests: connections, a pool of workers, a cache behind a lock,
// a slow database, a ticker. Its numbers come from a seed.
//
//   node test/server.mjs OUT [ms] [connections] [ps]
import { writeFileSync } from "node:fs";
import { chan, mutex, World } from "./simulate.mjs";

export function server({ ms = 60, connections = 24, workers = 6, ps = 4, seed = 5, generation = 1e9 } = {}) {
  const w = new World({ ps, seed, generation }), rnd = () => w.random();
  const jobs = chan(8), rows = chan(), queries = chan(2), cache = mutex();
  let task = 0;
  const worker = (i) => function* () {
    for (;;) {
      yield ["recv", jobs];
      yield ["begin", "parse"];
      yield ["work", 4000 + rnd() * 9000];
      yield ["end", "parse"];
      yield ["lock", cache];
      yield ["work", 2000 + rnd() * 12000 + (rnd() < 0.04 ? 400000 : 0)];
      yield ["unlock", cache];
      if (rnd() < 0.3) {
        yield ["begin", "query"];
        yield ["send", queries];
        yield ["recv", rows];
        yield ["end", "query"];
      }
      if (rnd() < 0.06) yield ["call", 3000 + rnd() * 300000];
      yield ["work", 3000 + rnd() * 20000];
    }
  };
  const database = function* () {
    for (;;) {
      yield ["recv", queries];
      yield ["work", 9000 + rnd() * 30000];
      yield ["send", rows];
    }
  };
  const connection = function* () {
    for (;;) {
      yield ["net", 50000 + rnd() * 900000];
      const id = ++task;
      yield ["task", id, 0, rnd() < 0.5 ? "GET /" : "GET /item"];
      yield ["work", 1000 + rnd() * 5000];
      yield ["send", jobs];
      if (rnd() < 0.1) yield ["log", id, "slow client"];
      yield ["work", 2000 + rnd() * 4000];
      yield ["done", id];
    }
  };
  const ticker = function* () {
    for (;;) {
      yield ["nap", 2e6];
      yield ["work", 15000 + rnd() * 20000];
    }
  };
  return w.run(function* () {
    for (let i = 0; i < workers; i++) yield ["go", "server::worker(vole::chan<job>)", worker(i), `worker ${i}`];
    yield ["go", "database::serve()", database, "db"];
    yield ["go", "metrics::tick()", ticker];
    for (let i = 0; i < connections; i++) yield ["go", "server::connection(vole::net::conn)", connection];
    yield ["recv", chan()];
  }, ms * 1e6);
}

if (process.argv[1]?.endsWith("server.mjs") && process.argv[2]) {
  const [, , out, ms = 60, connections = 24, ps = 4] = process.argv;
  const done = server({ ms: +ms, connections: +connections, workers: Math.max(6, connections >> 2), ps: +ps });
  writeFileSync(out, done.trace.file());
}
