//! How far a loss reaches and what independence costs, for any flows, stamps and shared components.

use super::{BlastRadius, Parameters, Placement, Scope, WITH_GEO_REPLICA};
use crate::invariants::{Held, Invariant};
use std::collections::BTreeSet;

pub(super) fn all() -> Vec<Invariant<Parameters>> {
    vec![
        Invariant { id: "blast-radius-is-counted", check: blast_radius_is_counted },
        Invariant { id: "local-radius-divides", check: local_radius_divides },
        Invariant { id: "shared-radius-ignores-stamps", check: shared_radius_ignores_stamps },
        Invariant { id: "one-stamp-is-the-single-piece", check: one_stamp_is_the_single_piece },
        Invariant { id: "no-radius-beyond-floor-or-share", check: no_radius_beyond_floor_or_share },
        Invariant { id: "fewer-shared-fewer-crossings", check: fewer_shared_fewer_crossings },
        Invariant { id: "crossings-bounded-and-symmetric", check: crossings_bounded_and_symmetric },
        Invariant { id: "components-are-deployed-once", check: components_are_deployed_once },
        Invariant { id: "geo-replica-doubles", check: geo_replica_doubles },
        Invariant { id: "geo-replica-doubles-the-stamps", check: geo_replica_doubles_the_stamps },
    ]
}

/// One deployed component: the copy of a stamp, or the one outside.
type Deployed<'a> = (&'a str, Option<u64>);

impl Parameters {
    /// The placements at a number of stamps that can be counted one by one.
    fn countable(&self) -> Self {
        Parameters { stamps: 1 + self.stamps % 40, ..self.clone() }
    }

    fn each_radius(&self, mut check: impl FnMut(Placement<'_>, &str, BlastRadius) -> Held) -> Held {
        let placements = self.placements();
        let cells = placements.iter().flat_map(|(_, placement)| self.components().into_iter().map(|c| (*placement, c)));
        Held::all(cells.map(|(placement, down)| check(placement, down, self.blast_radius(placement, down))))
    }

    /// Of the same service in one piece.
    fn in_one_piece(&self, down: &str) -> BlastRadius {
        self.blast_radius(Placement::SinglePiece, down)
    }

    /// Every sequence of deployed components that a request of one stamp runs through, with the requests.
    fn routes<'a>(&'a self, placement: Placement<'_>, stamp: u64) -> Vec<(u64, Vec<Deployed<'a>>)> {
        let place =
            |component: &'a String| (component.as_str(), (placement.scope(component) == Scope::Stamp).then_some(stamp));
        self.flows.iter().map(|flow| (flow.requests, flow.path.iter().map(place).collect())).collect()
    }

    fn all_routes<'a>(&'a self, placement: Placement<'_>) -> Vec<(u64, u64, Vec<Deployed<'a>>)> {
        let stamps = 0..placement.stamps();
        let of =
            |stamp| self.routes(placement, stamp).into_iter().map(move |(requests, route)| (stamp, requests, route));
        stamps.flat_map(of).collect()
    }
}

/// Request by request: those of any stamp that run through the one copy that is down.
fn blast_radius_is_counted(p: &Parameters) -> Held {
    let p = p.countable();
    p.each_radius(|placement, down, radius| {
        let copy = (down, (placement.scope(down) == Scope::Stamp).then_some(0));
        let routes = p.all_routes(placement);
        let requests = |touched: bool| {
            let of = routes.iter().filter(|(_, _, route)| !touched || route.contains(&copy));
            of.map(|(_, requests, _)| requests).sum::<u64>()
        };
        let stamps: BTreeSet<u64> =
            routes.iter().filter(|(_, _, route)| route.contains(&copy)).map(|(stamp, ..)| *stamp).collect();
        let counted =
            BlastRadius { requests: requests(true), all_requests: requests(false), stamps: stamps.len() as u64 };
        Held::equal(format!("without {down}"), radius, counted)
    })
}

/// A component of the stamps takes with it one stamp's share of what it takes in one piece.
fn local_radius_divides(p: &Parameters) -> Held {
    p.each_radius(|placement, down, radius| {
        Held::provided(placement.scope(down) == Scope::Stamp, || {
            let whole = p.in_one_piece(down);
            let found = (radius.requests, radius.all_requests, radius.stamps);
            Held::equal(format!("without {down}"), found, (whole.requests, whole.all_requests * p.stamps, 1))
        })
    })
}

fn shared_radius_ignores_stamps(p: &Parameters) -> Held {
    p.each_radius(|placement, down, radius| {
        Held::provided(placement.scope(down) == Scope::Shared && radius.all_requests > 0, || {
            let whole = p.in_one_piece(down);
            Held::equal(
                format!("percent and stamps without {down}"),
                (radius.percent(), radius.stamps),
                (whole.percent(), placement.stamps()),
            )
        })
    })
}

fn one_stamp_is_the_single_piece(p: &Parameters) -> Held {
    let p = Parameters { stamps: 1, ..p.clone() };
    p.each_radius(|_, down, radius| Held::equal(format!("without {down}"), radius, p.in_one_piece(down)))
}

/// Nothing reaches farther than a stamp's share, but what is shared; so the widest loss never falls below the floor.
fn no_radius_beyond_floor_or_share(p: &Parameters) -> Held {
    let placement = p.self_contained();
    let radii: Vec<(Scope, BlastRadius)> = p
        .components()
        .into_iter()
        .map(|component| (placement.scope(component), p.blast_radius(placement, component)))
        .collect();
    let Some((_, any)) = radii.first() else { return Held::Vacuous };
    Held::provided(any.all_requests > 0, || {
        let widest = radii.iter().map(|(_, radius)| radius.percent()).reduce(f64::max);
        let floor = p.floor_percent();
        let local = radii.iter().filter(|(scope, _)| *scope == Scope::Stamp);
        let beyond = local.map(|(_, radius)| {
            Held::at_most("requests of a copy, times stamps", radius.requests * p.stamps, radius.all_requests)
        });
        Held::all(beyond.chain([
            Held::at_most("the floor", floor, widest),
            Held::equal("the floor of one stamp", Parameters { stamps: 1, ..p.clone() }.floor_percent(), floor),
        ]))
    })
}

/// Of the components shared by the stamps that are not self-contained, each one moved into them.
fn fewer_shared_fewer_crossings(p: &Parameters) -> Held {
    let all = &p.shared.shared_stamp;
    let crossings = |shared: &[String]| p.crossing_links(Placement::Stamped { stamps: p.stamps, shared });
    Held::all(all.iter().map(|moved| {
        let fewer: Vec<String> = all.iter().filter(|component| *component != moved).cloned().collect();
        Held::at_most(format!("crossing links with {moved} in the stamps"), crossings(&fewer), crossings(all))
    }))
}

/// Each use of a shared component crosses at most twice, each link once; what is inside and what outside is the same.
fn crossings_bounded_and_symmetric(p: &Parameters) -> Held {
    let names: Vec<String> = p.components().into_iter().map(str::to_owned).collect();
    let crossings = |shared: &[String]| p.crossing_links(Placement::Stamped { stamps: p.stamps, shared });
    let links = p.flows.iter().map(|flow| flow.path.len().saturating_sub(1)).sum();
    let placements = [&p.shared.shared_stamp, &p.shared.self_contained].map(|shared| {
        let uses = p.flows.iter().flat_map(|flow| &flow.path).filter(|component| shared.contains(component)).count();
        let others: Vec<String> = names.iter().filter(|name| !shared.contains(name)).cloned().collect();
        let fewer = Parameters { stamps: 1, ..p.clone() };
        Held::all([
            Held::at_most("crossing links", crossings(shared), (2 * uses).min(links)),
            Held::equal("with the others shared", crossings(&others), crossings(shared)),
            Held::equal(
                "with one stamp",
                fewer.crossing_links(Placement::Stamped { stamps: 1, shared }),
                crossings(shared),
            ),
        ])
    });
    let ends = [Held::equal("with all or nothing shared", [crossings(&names), crossings(&[])], [0; 2])];
    Held::all(placements.into_iter().chain(ends))
}

/// The deployed components that requests of all stamps run through, each counted once; another stamp adds its own.
fn components_are_deployed_once(p: &Parameters) -> Held {
    let counted = |stamps: u64| {
        let p = Parameters { stamps, ..p.clone() };
        let routes = p.all_routes(p.self_contained()).into_iter();
        let deployed: BTreeSet<Deployed<'_>> = routes.flat_map(|(_, _, route)| route).collect();
        deployed.len() as u64
    };
    let stamps = p.countable().stamps;
    Held::all([
        Held::equal("components", p.deployed(stamps, 1), counted(stamps)),
        Held::equal("of one stamp", p.deployed(1, 1), p.components().len() as u64),
    ])
}

fn geo_replica_doubles(p: &Parameters) -> Held {
    Held::all(
        p.stamp_counts
            .iter()
            .map(|&stamps| Held::equal("components", p.deployed(stamps, WITH_GEO_REPLICA), 2 * p.deployed(stamps, 1))),
    )
}

fn geo_replica_doubles_the_stamps(p: &Parameters) -> Held {
    let shared = p.components().len() as u64 - p.count(p.self_contained(), Scope::Stamp) as u64;
    Held::all(p.stamp_counts.iter().map(|&stamps| {
        let added = p.deployed(stamps, WITH_GEO_REPLICA) - p.deployed(stamps, 1);
        Held::equal("components added", added, p.deployed(stamps, 1) - shared)
    }))
}
