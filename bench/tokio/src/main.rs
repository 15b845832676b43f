// The work of bench/README.md on tokio: `tokio_bench NAME [N]` prints "NAME value unit".
//
// Runtime, by the environment variable TOKIO_SCHED:
//   multi    (default) the multi-thread runtime, a worker per core
//   current  the current_thread runtime
//
// Law    the same work as bench/go/main.go. A task has no stack: it is a state machine, and
//        so a goroutine that calls (fib, skynet) is a boxed future per call.
// Idioms
// - the work itself is a spawned task: what block_on runs is no task, stays on a thread that
//   is no worker, and is woken through the operating system.
// - tasks are detached and counted by a WaitGroup on a Notify; fib awaits its JoinHandle.
// - what C++ captures by reference is leaked (&'static): no Arc, nothing to count.
// - link-time optimization, panic = "abort"; the allocator is glibc's, as for the C++ programs.
// Exit   0; 1: a wrong result; 2: an unknown NAME or a bad N.
mod waiting;

use std::future::Future;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Notify;
use tokio::task::yield_now;

pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// True: the result is right.
type Work = fn(usize) -> Boxed<bool>;

pub fn report(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.2} {unit}");
}

pub fn ns_each(start: Instant, n: usize) -> f64 {
    start.elapsed().as_nanos() as f64 / n as f64
}

pub fn ms(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / 1e6
}

pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Counts down once; one waiter.
pub struct WaitGroup {
    left: AtomicUsize,
    zero: Notify,
}

impl WaitGroup {
    pub fn new(n: usize) -> &'static WaitGroup {
        leak(WaitGroup { left: AtomicUsize::new(n), zero: Notify::new() })
    }

    pub fn done(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.zero.notify_one(); // kept for a waiter who comes later
        }
    }

    pub async fn wait(&self) {
        self.zero.notified().await;
    }
}

async fn spawn_join(n: usize) -> bool {
    let start = Instant::now();
    let wg = WaitGroup::new(n);
    for _ in 0..n {
        tokio::spawn(async move { wg.done() });
    }
    wg.wait().await;
    report("spawn_join", ns_each(start, n), "ns/op");
    true
}

async fn yields(name: &str, n: usize, tasks: usize) -> bool {
    let start = Instant::now();
    let wg = WaitGroup::new(tasks);
    for _ in 0..tasks {
        tokio::spawn(async move {
            for _ in 0..n / tasks {
                yield_now().await;
            }
            wg.done();
        });
    }
    wg.wait().await;
    report(name, ns_each(start, n), "ns/op");
    true
}

fn fib_of(n: usize) -> Boxed<usize> {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let a = tokio::spawn(fib_of(n - 1));
        let b = fib_of(n - 2).await;
        a.await.unwrap() + b
    })
}

async fn fib(n: usize) -> bool {
    let start = Instant::now();
    let r = fib_of(n).await;
    report("fib", ms(start), "ms");
    n != 27 || r == 196_418
}

const WORKS: &[(&str, Work, usize)] = &[
    ("spawn_join", |n| Box::pin(spawn_join(n)), 1_000_000),
    ("yield", |n| Box::pin(yields("yield", n, 2)), 5_000_000),
    ("yield1k", |n| Box::pin(yields("yield1k", n, 1000)), 5_000_000),
    ("fib", |n| Box::pin(fib(n)), 27),
    ("spawn_seq", |n| Box::pin(waiting::spawn_seq(n)), 1_000_000),
    ("pingpong", |n| Box::pin(waiting::pingpong(n)), 1_000_000),
    ("chan_spsc", |n| Box::pin(waiting::chan_spsc(n)), 5_000_000),
    ("chan_mpmc", |n| Box::pin(waiting::chan_mpmc(n)), 4_000_000),
    ("select4", |n| Box::pin(waiting::select4(n)), 1_000_000),
    ("mutex64", |n| Box::pin(waiting::mutex64(n)), 6_400_000),
    ("skynet", |n| Box::pin(waiting::skynet(n)), 1_000_000),
    ("sieve", |n| Box::pin(waiting::sieve(n)), 1000),
    ("parked", |n| Box::pin(waiting::parked(n)), 1_000_000),
];

fn usage(complaint: &str) -> ExitCode {
    let names: Vec<&str> = WORKS.iter().map(|w| w.0).collect();
    eprintln!("tokio_bench: {complaint}\nusage: tokio_bench NAME [N]; names: {}", names.join(" "));
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let sched = std::env::var("TOKIO_SCHED").unwrap_or_else(|_| "multi".into());
    let mut builder = match sched.as_str() {
        "multi" => tokio::runtime::Builder::new_multi_thread(),
        "current" => tokio::runtime::Builder::new_current_thread(),
        _ => return usage(&format!("bad TOKIO_SCHED: {sched}")),
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = match words.first() {
        Some(name) => name,
        None => return usage("no name"),
    };
    let (work, default_n) = match WORKS.iter().find(|w| w.0 == name) {
        Some(&(_, work, default_n)) => (work, default_n),
        None => return usage(&format!("unknown name: {name}")),
    };
    let n = match words.get(1).map(|word| word.parse::<usize>()) {
        None => default_n,
        Some(Ok(n)) if n > 0 => n,
        _ => return usage(&format!("bad N: {}", words[1])),
    };
    let runtime = builder.build().expect("tokio_bench: no runtime");
    let right = runtime.block_on(async move { tokio::spawn(work(n)).await.unwrap() });
    runtime.shutdown_background(); // sieve's tasks never end
    if right {
        return ExitCode::SUCCESS;
    }
    eprintln!("tokio_bench: {name} gave a wrong result");
    ExitCode::FAILURE
}
