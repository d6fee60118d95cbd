//! How far a breakdown spreads, through the slots that calls hold.

use super::{CallTree, Parameters};

/// A broken component, and the rounds after which a call to it fails.
#[derive(Clone, Copy)]
pub(super) struct Breakdown<'a> {
    pub(super) component: &'a str,
    pub(super) rounds: u64,
}

/// How long a call holds its caller's slot, and whether it is answered.
pub(super) struct Hold {
    pub(super) rounds: u64,
    pub(super) answered: bool,
}

/// A component's part in all flows.
pub(super) struct Load<'a> {
    pub(super) component: &'a str,
    pub(super) slots: f64,
    /// The flows that pass through it, by position.
    pub(super) flows: Vec<usize>,
}

/// How far a breakdown reaches.
pub(super) struct BlastRadius<'a> {
    pub(super) loads: Vec<Load<'a>>,
    pub(super) saturated: Vec<&'a str>,
    /// Components that are saturated or broken.
    pub(super) hit: usize,
    pub(super) flows: usize,
    /// Requests per second in those flows.
    pub(super) rate: f64,
}

impl CallTree {
    /// The calls end at the first that fails.
    pub(super) fn hold(&self, parameters: &Parameters, breakdown: Option<Breakdown>) -> Hold {
        if let Some(Breakdown { rounds, .. }) = breakdown.filter(|broken| broken.component == self.component) {
            return Hold { rounds, answered: false };
        }
        if self.calls.is_empty() {
            return Hold { rounds: parameters.usual_rounds, answered: true };
        }
        let mut rounds = parameters.forwarding_rounds;
        for call in &self.calls {
            let below = call.hold(parameters, breakdown);
            rounds += below.rounds;
            if !below.answered {
                return Hold { rounds, answered: false };
            }
        }
        Hold { rounds, answered: true }
    }

    /// The component itself, then everything below it, in calling order.
    pub(super) fn components(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.calls.iter().flat_map(Self::components)).collect()
    }
}

impl BlastRadius<'_> {
    pub(super) fn slots_in_use(&self, component: &str) -> f64 {
        self.loads.iter().find(|load| load.component == component).map_or(0.0, |load| load.slots)
    }
}

impl Parameters {
    /// Nothing broken, and a component broken in the two modes that spread differently.
    pub(super) fn cases<'a>(&self, component: &'a str) -> [(&'static str, Option<Breakdown<'a>>); 3] {
        [
            ("usual", None),
            ("down", Some(Breakdown { component, rounds: self.error_rounds })),
            ("slowdown", Some(Breakdown { component, rounds: self.timeout_rounds })),
        ]
    }

    pub(super) fn blast_radius<'a>(&'a self, breakdown: Option<Breakdown<'a>>) -> BlastRadius<'a> {
        let loads = self.loads(breakdown);
        let is_full = |load: &Load| load.slots >= self.slots as f64;
        let is_broken = |load: &Load| breakdown.is_some_and(|broken| broken.component == load.component);
        let mut hit: Vec<&Load> = loads.iter().filter(|load| is_full(load) || is_broken(load)).collect();
        // The rates are added in this order: flows through saturated components first.
        hit.sort_by_key(|load| !is_full(load));
        let mut flows: Vec<usize> = Vec::new();
        for &flow in hit.iter().flat_map(|load| &load.flows) {
            if !flows.contains(&flow) {
                flows.push(flow);
            }
        }
        BlastRadius {
            saturated: loads.iter().filter(|load| is_full(load)).map(|load| load.component).collect(),
            hit: hit.len(),
            flows: flows.len(),
            rate: flows.iter().fold(0.0, |sum, &flow| sum + self.flows[flow].rate),
            loads,
        }
    }

    /// Slots in use in every component: the rate of each flow through it times the rounds that its part takes.
    pub(super) fn loads(&self, breakdown: Option<Breakdown>) -> Vec<Load<'_>> {
        let mut loads: Vec<Load> = Vec::new();
        for (at, flow) in self.flows.iter().enumerate() {
            for part in flow.tree.components() {
                let slots = flow.rate / self.rounds_per_second() * part.hold(self, breakdown).rounds as f64;
                match loads.iter_mut().find(|load| load.component == part.component) {
                    Some(load) => {
                        load.slots += slots;
                        load.flows.push(at);
                    }
                    None => loads.push(Load { component: &part.component, slots, flows: vec![at] }),
                }
            }
        }
        loads
    }
}
