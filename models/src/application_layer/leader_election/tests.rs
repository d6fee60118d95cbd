use super::*;

/// Three nodes; the first is away in rounds 4 and 5, its lease expires in round 4, and it reads the record in 7.
fn parameters() -> Parameters {
    Parameters {
        nodes: 3,
        rounds: 8,
        lease: 1,
        renewal: 7,
        outage_start: 4,
        outage: 2,
        triggers: vec![],
        conflicting_leaders: 2,
        leases: vec![],
        short_outage: 1,
        long_lease: 1,
        invoice_lines: 0.0,
        handovers_a_year: vec![],
    }
}

#[test]
fn an_unreachable_leader_believes_but_does_not_act() {
    let parameters = parameters();
    let run = parameters.run(parameters.plain());
    assert_eq!(run.two_believers, [4, 5, 6, 7]);
    assert_eq!(run.two_leader, [6, 7]);
    assert_eq!(run.belief_dropped, Some(7));
}

#[test]
fn the_record_keeps_only_the_last_trigger_that_nobody_saw() {
    let parameters = Parameters { lease: 9, triggers: vec![4, 5, 8], ..parameters() };
    let run = parameters.run(parameters.fencing_trigger());
    let starts: Vec<BatchStart> = run.triggers.iter().map(|trigger| trigger.start).collect();
    assert!(starts == [BatchStart::Waiting, BatchStart::Late { round: 6 }, BatchStart::OnTime { starts: 1 }]);
}
