use super::*;
use serde_json::json;

/// The published kind of system in small: the greedy order starts with the idle route, and pays for it.
fn system() -> Parameters {
    let parameters = json!({
        "routes": [
            { "name": "query", "daily_requests": 900, "reads": ["event", "shipment"], "writes": [] },
            { "name": "report", "daily_requests": 300, "reads": ["shipment"], "writes": ["event"] },
            { "name": "create", "daily_requests": 40, "reads": [], "writes": ["shipment"] },
            { "name": "prove", "daily_requests": 40, "reads": ["event"], "writes": ["proof"] },
            { "name": "bill", "daily_requests": 4, "reads": ["shipment", "event", "tariff"], "writes": [] },
            { "name": "price", "daily_requests": 1, "reads": [], "writes": ["tariff"] },
        ],
        "entities": [
            { "name": "shipment", "daily_writes": 40 },
            { "name": "event", "daily_writes": 300 },
            { "name": "proof", "daily_writes": 40 },
            { "name": "tariff", "daily_writes": 1 },
        ],
        "peak_edge": 10, "failure_share_minutes": 10, "scan_rate": 10, "backfilled": "event", "stopped_since": [],
        "stop_share": 0.5, "facade_revert_s": 1, "entry_lifetime_s": 60,
        "budget": { "threshold_ms": 200, "gateway_ms": 20, "facade_ms": 20, "calls": 2 },
    });
    serde_json::from_value(parameters).unwrap()
}

fn orders<'a>(chosen: &mut Vec<&'a Route>, routes: &'a [Route], visit: &mut impl FnMut(&[&'a Route])) {
    visit(chosen);
    for route in routes {
        if chosen.iter().all(|other| other.name != route.name) {
            chosen.push(route);
            orders(chosen, routes, visit);
            chosen.pop();
        }
    }
}

#[test]
fn no_order_of_all_has_less_dual_writes_than_the_least_or_moves_traffic_sooner_with_as_many() {
    let system = system();
    let rank = |migration: &Migration<'_>| {
        let day = |area: f64, unit: f64| (area * unit).round() as i64;
        (day(migration.dual_write_area, SECONDS_A_DAY), -day(migration.traffic_area, system.daily_requests() as f64))
    };
    let mut ranks = Vec::new();
    orders(&mut Vec::new(), &system.routes, &mut |order| {
        if order.len() == system.routes.len() {
            ranks.push(rank(&system.migrate(order)));
        }
    });
    assert_eq!(ranks.len(), 720);
    assert_eq!(ranks.iter().min(), Some(&rank(&system.migrate(&system.least_dual_writes()))));
    assert!(rank(&system.migrate(&system.order(Order::State))) > rank(&system.migrate(&system.least_dual_writes())));
}
