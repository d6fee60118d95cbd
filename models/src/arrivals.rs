//! Arrivals at a rate that is no whole number a round.

/// What is left of a rate after the whole arrivals of each round; it is carried over to the next one.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    due: f64,
}

impl Carry {
    /// The whole arrivals of one more round.
    pub fn arrivals(&mut self, rate: f64) -> u64 {
        self.due += rate;
        let whole = self.due.floor();
        self.due -= whole;
        whole as u64
    }
}
