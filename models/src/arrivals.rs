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
        let whole = self.due as u64;
        self.due -= whole as f64;
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp)] // The claim is that not one bit differs.
    fn whole_arrivals_are_those_of_taking_one_at_a_time() {
        for rate in [0.0, 0.1, 0.9722, 4.1667, 97.22, 100_000.7] {
            let (mut carry, mut due) = (Carry::default(), 0.0);
            for _ in 0..100 {
                due += rate;
                let mut single = 0;
                while due >= 1.0 {
                    due -= 1.0;
                    single += 1;
                }
                assert_eq!(carry.arrivals(rate), single, "rate {rate}");
                assert_eq!(carry.due, due, "rate {rate}");
            }
        }
    }
}
