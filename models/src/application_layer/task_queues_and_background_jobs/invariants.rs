//! What a long job costs the short ones behind it, and what its own queue changes, for any arrivals.

use super::{Design, Durations, Job, Kind, Parameters, Served, count, serve, starts};
use crate::invariants::{Held, Invariant};
use std::collections::BTreeMap;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "every-job-starts-once-in-turn", check: every_job_starts_once_in_turn },
        Invariant { id: "waits-only-behind-busy-servers", check: waits_only_behind_busy_servers },
        Invariant { id: "separate-queues-never-meet", check: separate_queues_never_meet },
        Invariant { id: "separate-queries-never-wait", check: separate_queries_never_wait },
        Invariant { id: "short-queries-never-wait", check: short_queries_never_wait },
        Invariant { id: "sharing-never-helps-a-query", check: sharing_never_helps_a_query },
        Invariant { id: "more-servers-never-later", check: more_servers_never_later },
        Invariant { id: "more-reports-never-help", check: more_reports_never_help },
        Invariant { id: "one-report-holds-up", check: one_report_holds_up },
        Invariant { id: "slots-beside-the-reports-suffice", check: slots_beside_the_reports_suffice },
        Invariant { id: "fewest-slots-are-a-threshold", check: fewest_slots_are_a_threshold },
        Invariant { id: "fewest-slots-are-a-threshold-if-all-start", check: fewest_slots_are_a_threshold_if_all_start },
        Invariant { id: "workers-for-each-report-suffice", check: workers_for_each_report_suffice },
        Invariant { id: "no-reports-no-difference", check: no_reports_no_difference },
    ]
}

impl Parameters {
    fn designs(&self) -> Vec<Design> {
        let shared = self.shared_slots.iter().map(|&slots| Design::Shared { slots });
        let separate = self.separate_slots.iter().map(|&slots| Design::Separate { slots, workers: self.workers });
        shared.chain(separate).collect()
    }

    fn each_design(&self, mut check: impl FnMut(&[Job], Design) -> Held) -> Held {
        let jobs = self.arrivals(self.asking_share);
        Held::all(self.designs().into_iter().map(|design| check(&jobs, design)))
    }

    fn served(&self, design: Design, jobs: &[Job]) -> Served {
        serve(design, jobs, self.durations())
    }
}

/// Even a job that takes no time holds its server for a tick.
fn held_for(durations: Durations, kind: Kind) -> u64 {
    durations.of(kind).max(1)
}

/// The servers of each queue, and the kinds of jobs in it.
fn pools(design: Design) -> Vec<(u64, &'static [Kind])> {
    match design {
        Design::Shared { slots } => vec![(slots, &[Kind::Tracking, Kind::Report])],
        Design::Separate { slots, workers } => vec![(slots, &[Kind::Tracking]), (workers, &[Kind::Report])],
    }
}

/// The starts of the jobs of some kinds, as arrival and start.
fn starts_of(p: &Parameters, design: Design, jobs: &[Job], kinds: &[Kind]) -> Vec<(u64, u64, Kind)> {
    let started = starts(design, jobs, p.durations()).filter(|(job, _)| kinds.contains(&job.kind));
    started.map(|(job, start)| (job.arrival, start, job.kind)).collect()
}

/// The most jobs of a kind that arrive while one of them would run.
fn most_at_once(jobs: &[Job], kind: Kind, duration: u64) -> u64 {
    let arrivals: Vec<u64> = jobs.iter().filter(|job| job.kind == kind).map(|job| job.arrival).collect();
    let since = |last: &u64| arrivals.partition_point(|arrival| arrival + duration <= *last);
    arrivals.iter().enumerate().map(|(i, last)| (i + 1 - since(last)) as u64).max().unwrap_or_default()
}

/// Those that start are the first of their queue, in the order of arrival; nothing starts twice or before it arrives.
fn every_job_starts_once_in_turn(p: &Parameters) -> Held {
    p.each_design(|jobs, design| {
        Held::all(pools(design).into_iter().map(|(_, kinds)| {
            let queued = jobs.iter().filter(|job| kinds.contains(&job.kind)).map(|job| (job.arrival, job.kind));
            let started = starts_of(p, design, jobs, kinds);
            let early = started.iter().find(|(arrival, start, _)| start < arrival || *start >= p.window_ticks());
            let turned = started.windows(2).find(|pair| pair[0].1 > pair[1].1);
            let first: Vec<(u64, Kind)> = queued.take(started.len()).collect();
            let started: Vec<(u64, Kind)> = started.iter().map(|(arrival, _, kind)| (*arrival, *kind)).collect();
            Held::all([
                Held::that(early.is_none(), || format!("{design:?}: before its arrival or after the window {early:?}")),
                Held::that(turned.is_none(), || format!("{design:?}: out of turn {turned:?}")),
                Held::that(first == started, || format!("{design:?}: another one started instead of the next")),
            ])
        }))
    })
}

/// By counting who runs in each tick: never more than there are servers, and all of them whenever somebody waits.
fn waits_only_behind_busy_servers(p: &Parameters) -> Held {
    let window = p.window_ticks();
    p.each_design(|jobs, design| {
        Held::all(pools(design).into_iter().map(|(servers, kinds)| {
            let started = starts_of(p, design, jobs, kinds);
            let queued = jobs.iter().filter(|job| kinds.contains(&job.kind)).count();
            let mut changes: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
            for job in jobs.iter().filter(|job| kinds.contains(&job.kind)) {
                changes.entry(job.arrival).or_default().1 += 1;
            }
            for (_, start, kind) in &started {
                let begins = changes.entry(*start).or_default();
                *begins = (begins.0 + 1, begins.1 - 1);
                changes.entry(start + held_for(p.durations(), *kind)).or_default().0 -= 1;
            }
            let (mut running, mut waiting) = (0, 0);
            let wrong = changes.range(..window).find(|(_, (more_run, more_wait))| {
                running += more_run;
                waiting += more_wait;
                running > servers as i64 || waiting < 0 || (waiting > 0 && running < servers as i64)
            });
            Held::provided(queued > 0, || {
                Held::that(wrong.is_none(), || format!("{design:?}: in tick {wrong:?}, {running} run, {waiting} wait"))
            })
        }))
    })
}

/// Neither the reports' number nor the workers move a query, and no query moves a report.
fn separate_queues_never_meet(p: &Parameters) -> Held {
    let jobs = p.arrivals(p.asking_share);
    let only = |kind| -> Vec<Job> { jobs.iter().filter(|job| job.kind == kind).copied().collect() };
    Held::all(p.separate_slots.iter().map(|&slots| {
        let both = p.served(Design::Separate { slots, workers: p.workers }, &jobs);
        let queries = p.served(Design::Separate { slots, workers: 0 }, &only(Kind::Tracking));
        let reports = p.served(Design::Separate { slots: 0, workers: p.workers }, &only(Kind::Report));
        Held::all([
            Held::that(both.waits == queries.waits, || format!("queries see the reports at {slots} slots")),
            Held::that(both.report_ticks == reports.report_ticks, || {
                format!("reports see the queries at {slots} slots")
            }),
        ])
    }))
}

fn longest_separate_wait(p: &Parameters, slots: u64) -> u64 {
    let jobs = p.arrivals(p.asking_share);
    let served = p.served(Design::Separate { slots, workers: p.workers }, &jobs);
    served.waits.into_iter().max().unwrap_or_default()
}

fn separate_queries_never_wait(p: &Parameters) -> Held {
    Held::all(p.separate_slots.iter().map(|&slots| {
        Held::provided(slots > 0, || {
            Held::equal(format!("longest wait at {slots} slots"), longest_separate_wait(p, slots), 0)
        })
    }))
}

/// At most one query arrives in a tick.
fn short_queries_never_wait(p: &Parameters) -> Held {
    let enough = held_for(p.durations(), Kind::Tracking);
    Held::all(p.separate_slots.iter().chain([&enough]).map(|&slots| {
        Held::provided(slots >= enough, || {
            Held::equal(format!("longest wait at {slots} slots"), longest_separate_wait(p, slots), 0)
        })
    }))
}

/// Fewer jobs may start within the window, and none of them earlier.
fn no_earlier(what: &str, found: &[(u64, u64, Kind)], than: &[(u64, u64, Kind)]) -> Held {
    let earlier = found.iter().zip(than).find(|(found, than)| found.0 != than.0 || found.1 < than.1);
    Held::all([
        Held::at_most(format!("started, {what}"), found.len(), than.len()),
        Held::that(earlier.is_none(), || format!("{what}: {earlier:?}")),
    ])
}

fn sharing_never_helps_a_query(p: &Parameters) -> Held {
    let jobs = p.arrivals(p.asking_share);
    Held::all(p.shared_slots.iter().map(|&slots| {
        let separate = Design::Separate { slots, workers: p.workers };
        let [shared, separate] =
            [Design::Shared { slots }, separate].map(|design| starts_of(p, design, &jobs, &[Kind::Tracking]));
        no_earlier(&format!("{slots} shared slots"), &shared, &separate)
    }))
}

fn more_servers_never_later(p: &Parameters) -> Held {
    p.each_design(|jobs, design| {
        let more = match design {
            Design::Shared { slots } => Design::Shared { slots: slots + 1 },
            Design::Separate { slots, workers } => Design::Separate { slots: slots + 1, workers: workers + 1 },
        };
        Held::all(pools(design).into_iter().map(|(_, kinds)| {
            let [fewer, more] = [design, more].map(|design| starts_of(p, design, jobs, kinds));
            no_earlier(&format!("{design:?}"), &fewer, &more)
        }))
    })
}

/// The same numbers are drawn: whoever asks at a lower share asks at a higher one as well.
fn more_reports_never_help(p: &Parameters) -> Held {
    let [low, high] = [p.lower_asking_share.min(p.asking_share), p.lower_asking_share.max(p.asking_share)];
    let [few, many] = [low, high].map(|share| p.arrivals(share));
    Held::all(p.shared_slots.iter().map(|&slots| {
        let queries = |jobs: &[Job]| starts_of(p, Design::Shared { slots }, jobs, &[Kind::Tracking]);
        no_earlier(&format!("{slots} shared slots, share {high}"), &queries(&many), &queries(&few))
    }))
}

/// One report in an empty pool, and queries behind it.
fn one_report_holds_up(p: &Parameters) -> Held {
    let mut jobs = p.arrivals(0.0);
    jobs.insert(0, Job { arrival: 0, kind: Kind::Report });
    let behind = jobs.iter().skip(1).any(|job| job.arrival < p.report_records);
    Held::all(p.shared_slots.iter().map(|&slots| {
        Held::provided(slots > 0 && behind, || {
            let longest = p.served(Design::Shared { slots }, &jobs).waits.into_iter().max();
            Held::that(longest > Some(0), || format!("nobody waits behind the report at {slots} slots"))
        })
    }))
}

/// A slot for each report that may run at once, and as many as a query takes ticks: the closed form beside the search.
fn slots_beside_the_reports_suffice(p: &Parameters) -> Held {
    let jobs = p.arrivals(p.asking_share);
    let reports = most_at_once(&jobs, Kind::Report, held_for(p.durations(), Kind::Report));
    let slots = reports + most_at_once(&jobs, Kind::Tracking, held_for(p.durations(), Kind::Tracking));
    let served = p.served(Design::Shared { slots }, &jobs);
    let all_reports = vec![p.report_records; count(&jobs, Kind::Report)];
    let fewest = p.fewest_slots(&jobs, |slots| Design::Shared { slots });
    Held::all([
        Held::equal(format!("longest wait at {slots} slots"), served.waits.into_iter().max().unwrap_or_default(), 0),
        Held::that(served.report_ticks == all_reports, || format!("a report waits at {slots} slots")),
        Held::provided(slots > 0 && slots <= p.most_slots, || Held::at_most("fewest slots", fewest, slots)),
    ])
}

/// In each design, where `applies` at the fewest slots.
fn threshold(p: &Parameters, applies: impl Fn(&[Job], Design) -> bool) -> Held {
    let jobs = p.arrivals(p.asking_share);
    let check = |design: &dyn Fn(u64) -> Design| {
        let fewest = p.fewest_slots(&jobs, design);
        // The search gives none as 0.
        let enough = if fewest == 0 { p.most_slots + 1 } else { fewest };
        Held::provided(applies(&jobs, design(enough)), || {
            Held::all((1..=p.most_slots).map(|slots| {
                let late = p.late(&p.served(design(slots), &jobs)) > 0;
                Held::equal(format!("somebody is late, {:?}", design(slots)), late, slots < enough)
            }))
        })
    };
    Held::all([
        check(&|slots| Design::Shared { slots }),
        check(&|slots| Design::Separate { slots, workers: p.workers }),
    ])
}

fn fewest_slots_are_a_threshold(p: &Parameters) -> Held {
    threshold(p, |_, _| true)
}

fn fewest_slots_are_a_threshold_if_all_start(p: &Parameters) -> Held {
    threshold(p, |jobs, design| p.served(design, jobs).waits.len() == count(jobs, Kind::Tracking))
}

fn workers_for_each_report_suffice(p: &Parameters) -> Held {
    let jobs = p.arrivals(p.asking_share);
    let workers = most_at_once(&jobs, Kind::Report, held_for(p.durations(), Kind::Report));
    let fewer = p.served(Design::Separate { slots: 1, workers: workers.saturating_sub(1) }, &jobs).report_ticks;
    let enough = p.served(Design::Separate { slots: 1, workers }, &jobs).report_ticks;
    Held::provided(workers > 0, || {
        let all = vec![p.report_records; count(&jobs, Kind::Report)];
        Held::all([
            Held::that(enough == all, || format!("a report waits for one of {workers} workers")),
            Held::that(fewer != all, || format!("no report waits for one of {} workers", workers - 1)),
        ])
    })
}

fn no_reports_no_difference(p: &Parameters) -> Held {
    let jobs = p.arrivals(0.0);
    Held::all(p.shared_slots.iter().chain([&0]).map(|&slots| {
        let shared = p.served(Design::Shared { slots }, &jobs);
        let separate = p.served(Design::Separate { slots, workers: p.workers }, &jobs);
        let served = (shared.waits.len(), shared.report_ticks.len());
        Held::all([
            Held::that(shared == separate, || format!("the designs differ without a report, {slots} slots")),
            Held::provided(slots == 0, || Held::equal("served without slots", served, (0, 0))),
        ])
    }))
}
