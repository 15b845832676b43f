// The benchmarks in which tasks wait for each other: channels, select, a mutex.
//
// What stands for what:
// - an unbuffered channel: tokio::sync::mpsc of capacity 1, the smallest there is. The sender
//   need not meet the receiver and so waits less often than Go's.
// - a buffered channel of one receiver: tokio::sync::mpsc.
// - chan_mpmc: async_channel, for tokio's own queues have one receiver. One of those in a
//   tokio::sync::Mutex takes four times as long or more.
// - select: tokio::select!, which starts at a random branch, as Go's does.
// - a mutex: tokio::sync::Mutex, first come first served.
// - parked's channel that is only ever closed: tokio::sync::Notify, notify_waiters.

use crate::{leak, ms, ns_each, report, Boxed, WaitGroup};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::mpsc::{channel, Sender};
use tokio::sync::{Mutex, Notify};

fn rss_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

pub async fn spawn_seq(n: usize) -> bool {
    let (tx, mut rx) = channel(1);
    let start = Instant::now();
    for _ in 0..n {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(()).await });
        rx.recv().await;
    }
    report("spawn_seq", ns_each(start, n), "ns/op");
    true
}

pub async fn pingpong(n: usize) -> bool {
    let (to, mut at_echo) = channel(1);
    let (back, mut from) = channel(1);
    tokio::spawn(async move {
        while let Some(v) = at_echo.recv().await {
            back.send(v).await.unwrap();
        }
    });
    let start = Instant::now();
    let mut right = true;
    for i in 0..n {
        to.send(i).await.unwrap();
        right &= from.recv().await == Some(i);
    }
    report("pingpong", ns_each(start, n), "ns/roundtrip");
    right
}

pub async fn chan_spsc(n: usize) -> bool {
    let (tx, mut rx) = channel(128);
    let start = Instant::now();
    tokio::spawn(async move {
        for i in 0..n {
            tx.send(i).await.unwrap();
        }
    });
    let mut sum = 0;
    while let Some(v) = rx.recv().await {
        sum += v;
    }
    report("chan_spsc", ns_each(start, n), "ns/msg");
    sum == n * (n - 1) / 2
}

pub async fn chan_mpmc(n: usize) -> bool {
    const EACH: usize = 8;
    let m = n / EACH;
    let (tx, rx) = async_channel::bounded(128);
    let sum = leak(AtomicUsize::new(0));
    let (producers, consumers) = (WaitGroup::new(EACH), WaitGroup::new(EACH));
    let start = Instant::now();
    for _ in 0..EACH {
        let (tx, rx) = (tx.clone(), rx.clone());
        tokio::spawn(async move {
            for i in 0..m {
                tx.send(i).await.unwrap();
            }
            producers.done();
        });
        tokio::spawn(async move {
            let mut s = 0;
            while let Ok(v) = rx.recv().await {
                s += v;
            }
            sum.fetch_add(s, Ordering::AcqRel);
            consumers.done();
        });
    }
    producers.wait().await;
    tx.close();
    consumers.wait().await;
    report("chan_mpmc", ns_each(start, n), "ns/msg");
    sum.load(Ordering::Acquire) == EACH * (m * m.saturating_sub(1) / 2)
}

pub async fn select4(n: usize) -> bool {
    const SENDERS: usize = 4;
    let (t0, mut r0) = channel(1);
    let (t1, mut r1) = channel(1);
    let (t2, mut r2) = channel(1);
    let (t3, mut r3) = channel(1);
    // `open` outlives the loop: a channel whose senders are gone would win every select.
    let open = [t0, t1, t2, t3];
    for tx in open.clone() {
        tokio::spawn(async move {
            for i in 0..n / SENDERS {
                tx.send(i).await.unwrap();
            }
        });
    }
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..n / SENDERS * SENDERS {
        let got = tokio::select! {
            v = r0.recv() => v,
            v = r1.recv() => v,
            v = r2.recv() => v,
            v = r3.recv() => v,
        };
        sum += got.unwrap();
    }
    report("select4", ns_each(start, n), "ns/op");
    let m = n / SENDERS;
    drop(open);
    sum == SENDERS * (m * m.saturating_sub(1) / 2)
}

pub async fn mutex64(n: usize) -> bool {
    const TASKS: usize = 64;
    let x = leak(Mutex::new(0));
    let wg = WaitGroup::new(TASKS);
    let start = Instant::now();
    for _ in 0..TASKS {
        tokio::spawn(async move {
            for _ in 0..n / TASKS {
                *x.lock().await += 1;
            }
            wg.done();
        });
    }
    wg.wait().await;
    report("mutex64", ns_each(start, n), "ns/op");
    *x.lock().await == n / TASKS * TASKS
}

fn skynet_node(to: Sender<usize>, num: usize, size: usize) -> Boxed<()> {
    const WAYS: usize = 10;
    Box::pin(async move {
        if size == 1 {
            return to.send(num).await.unwrap();
        }
        let (tx, mut rx) = channel(1);
        for i in 0..WAYS {
            tokio::spawn(skynet_node(tx.clone(), num + i * (size / WAYS), size / WAYS));
        }
        let mut sum = 0;
        for _ in 0..WAYS {
            sum += rx.recv().await.unwrap();
        }
        to.send(sum).await.unwrap();
    })
}

pub async fn skynet(n: usize) -> bool {
    let start = Instant::now();
    let (tx, mut rx) = channel(1);
    tokio::spawn(skynet_node(tx, 0, n));
    let r = rx.recv().await.unwrap();
    report("skynet", ms(start), "ms");
    println!("skynet_rss {} KB", rss_kb());
    n != 1_000_000 || r == 499_999_500_000
}

pub async fn sieve(n: usize) -> bool {
    let start = Instant::now();
    let (tx, mut rx) = channel(1);
    tokio::spawn(async move {
        let mut i = 2;
        while tx.send(i).await.is_ok() {
            i += 1;
        }
    });
    let mut prime = 0;
    for _ in 0..n {
        prime = rx.recv().await.unwrap();
        let (tx, next) = channel(1);
        let mut from = std::mem::replace(&mut rx, next);
        let p = prime;
        tokio::spawn(async move {
            while let Some(v) = from.recv().await {
                if v % p != 0 && tx.send(v).await.is_err() {
                    return;
                }
            }
        });
    }
    report("sieve", ms(start), "ms");
    n != 1000 || prime == 7919
}

pub async fn parked(n: usize) -> bool {
    let closed = leak(Notify::new());
    let before = rss_kb();
    let start = Instant::now();
    let (started, done) = (WaitGroup::new(n), WaitGroup::new(n));
    for _ in 0..n {
        tokio::spawn(async move {
            let wake = closed.notified(); // hears notify_waiters from here on
            started.done();
            wake.await;
            done.done();
        });
    }
    started.wait().await;
    let spawn = ns_each(start, n);
    let bytes = (rss_kb() - before) as f64 * 1024.0 / n as f64;
    report("parked_bytes", bytes, "B/goroutine");
    report("parked_spawn", spawn, "ns/goroutine");
    let start = Instant::now();
    closed.notify_waiters();
    done.wait().await;
    report("parked_wakeall", ns_each(start, n), "ns/goroutine");
    true
}
