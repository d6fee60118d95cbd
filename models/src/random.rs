//! The three random generators of the courses, and the two ways they are sampled.
//!
//! Each is reproduced exactly, because a published table is one realisation of one seed. Seeds are parameters.

/// A source of uniform numbers in [0, 1).
pub trait Uniform {
    /// The next number.
    fn next(&mut self) -> f64;

    /// True with the given probability; uses one number.
    fn chance(&mut self, probability: f64) -> bool {
        self.next() < probability
    }

    /// A Poisson count of the given mean, by multiplying uniforms until they fall below e^-mean (Knuth).
    ///
    /// From a mean of 746 on e^-mean is zero: the product still gets there, but after a count that no longer depends
    /// on the mean.
    fn poisson(&mut self, mean: f64) -> u64 {
        // `f64::exp` differs from platform to platform; `libm` gives what V8 gives.
        let floor = libm::exp(-mean);
        let (mut count, mut product) = (0, self.next());
        while product > floor {
            count += 1;
            product *= self.next();
        }
        count
    }

    /// Fisher-Yates from the last place down, one number a place.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() * (last as f64 + 1.0)) as usize;
            items.swap(last, other);
        }
    }
}

/// Lehmer's generator modulo the Mersenne prime 2^31 - 1, multiplier 48271.
#[derive(Debug, Clone)]
pub struct Lehmer {
    state: u64,
}

impl Lehmer {
    const MODULUS: u64 = (1 << 31) - 1;

    /// Any seed; it is reduced modulo 2^31 - 1. A multiple of the modulus yields zeros for ever.
    pub fn new(seed: u64) -> Self {
        Self { state: seed % Self::MODULUS }
    }
}

impl Uniform for Lehmer {
    fn next(&mut self) -> f64 {
        self.state = self.state * 48271 % Self::MODULUS;
        self.state as f64 / Self::MODULUS as f64
    }
}

/// The 32-bit linear congruential generator x -> 1103515245 x + 12345.
#[derive(Debug, Clone)]
pub struct Congruential {
    state: u32,
}

impl Congruential {
    /// Any seed; its lower 32 bits count.
    pub fn new(seed: u64) -> Self {
        Self { state: seed as u32 }
    }
}

impl Uniform for Congruential {
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        f64::from(self.state) / TWO_POW_32
    }
}

/// Splitmix with a 32-bit state.
#[derive(Debug, Clone)]
pub struct SplitMix32 {
    state: u32,
}

impl SplitMix32 {
    /// Any seed; its lower 32 bits count.
    pub fn new(seed: u64) -> Self {
        Self { state: seed as u32 }
    }
}

impl Uniform for SplitMix32 {
    fn next(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9);
        let mut z = (self.state ^ (self.state >> 16)).wrapping_mul(0x21f0_aaad);
        z = (z ^ (z >> 15)).wrapping_mul(0x735a_2d97);
        f64::from(z ^ (z >> 15)) / TWO_POW_32
    }
}

const TWO_POW_32: f64 = 4_294_967_296.0;

#[cfg(test)]
mod tests {
    use super::*;
    use quickcheck::{Gen, QuickCheck};

    // Expected values are the output of node 20.20.2, running the courses' own generators and loops.

    /// The first three numbers of each seed, to the last bit.
    fn assert_first_numbers<R: Uniform>(seeded: fn(u64) -> R, expected: [[f64; 3]; 5]) {
        let seeds = [0, 1, (1 << 31) - 1, 20_260_730, (1 << 32) - 1];
        for (seed, numbers) in seeds.into_iter().zip(expected) {
            let mut random = seeded(seed);
            let drawn = numbers.map(|_| random.next());
            assert_eq!(drawn.map(f64::to_bits), numbers.map(f64::to_bits), "seed {seed}: {drawn:?}");
        }
    }

    #[test]
    fn lehmer_yields_the_courses_numbers() {
        assert_first_numbers(
            Lehmer::new,
            [
                [0.0, 0.0, 0.0],
                [0.000022477936010098986, 0.08503244914348818, 0.6013526053174179],
                [0.0, 0.0, 0.0],
                [0.41939245789283536, 0.4933349450553464, 0.771132766628234],
                [0.000022477936010098986, 0.08503244914348818, 0.6013526053174179],
            ],
        );
    }

    /// The check value of `minstd_rand` in the C++ standard.
    #[test]
    fn lehmer_reaches_the_standard_ten_thousandth_state() {
        let mut random = Lehmer::new(1);
        for _ in 0..10_000 {
            random.next();
        }
        assert_eq!(random.state, 399_268_537);
    }

    #[test]
    fn congruential_yields_the_courses_numbers() {
        assert_first_numbers(
            Congruential::new,
            [
                [0.0000028742942959070206, 0.8275770242325962, 0.6524071616586298],
                [0.25693503906950355, 0.5878706516232342, 0.15432575810700655],
                [0.24307070951908827, 0.5672833968419582, 0.650488565210253],
                [0.21882886695675552, 0.7328593451529741, 0.8170266824308783],
                [0.7430707095190883, 0.06728339684195817, 0.150488565210253],
            ],
        );
    }

    #[test]
    fn splitmix_yields_the_courses_numbers() {
        assert_first_numbers(
            SplitMix32::new,
            [
                [0.3921251413412392, 0.8505931859835982, 0.684420470148325],
                [0.3678755429573357, 0.08161311969161034, 0.8205357783008367],
                [0.9892002872657031, 0.9923704110551625, 0.3003470527473837],
                [0.9166396830696613, 0.24942504335194826, 0.4222150731366128],
                [0.9197099530138075, 0.999645066447556, 0.30326323537155986],
            ],
        );
    }

    /// The number after the counts shows that they used up as many numbers. The last mean has an e^-mean of zero.
    #[test]
    fn poisson_counts_as_the_courses_loop_does() {
        let cases: [(f64, [u64; 8], f64); 5] = [
            (0.0, [0, 0, 0, 0, 0, 0, 0, 0], 0.8335238978422824),
            (0.5, [0, 0, 1, 0, 0, 0, 0, 1], 0.18346486109470245),
            (4.1667, [4, 3, 1, 2, 12, 6, 4, 5], 0.537787209981022),
            (30.0, [35, 31, 35, 37, 25, 34, 33, 29], 0.4405540839957791),
            (750.0, [764, 742, 760, 743, 744, 775, 799, 759], 0.8442483301480526),
        ];
        for (mean, counts, next) in cases {
            let mut random = Lehmer::new(20_260_730);
            assert_eq!(counts.map(|_| random.poisson(mean)), counts, "mean {mean}");
            assert_eq!(random.next().to_bits(), next.to_bits(), "mean {mean}");
        }
    }

    #[test]
    fn shuffle_orders_as_the_courses_loop_does() {
        fn shuffled(mut random: impl Uniform) -> [u8; 12] {
            let mut items = std::array::from_fn(|i| i as u8);
            random.shuffle(&mut items);
            items
        }
        let seed = 20_260_730;
        assert_eq!(shuffled(Lehmer::new(seed)), [6, 4, 10, 8, 2, 0, 9, 1, 3, 7, 11, 5]);
        assert_eq!(shuffled(Congruential::new(seed)), [7, 9, 1, 11, 4, 6, 3, 0, 5, 10, 8, 2]);
        assert_eq!(shuffled(SplitMix32::new(seed)), [1, 3, 7, 5, 8, 0, 6, 11, 9, 4, 2, 10]);
    }

    /// Whatever the seed; the same cases in every run, and a failure if fewer than all of them count.
    fn for_every_seed(law: fn(u64, Vec<u8>) -> bool) {
        const CASES: u64 = 2_000;
        QuickCheck::new().rng(Gen::from_size_and_seed(100, 1)).tests(CASES).min_tests_passed(CASES).quickcheck(law);
    }

    #[test]
    fn numbers_are_at_least_zero_and_below_one() {
        fn holds(mut random: impl Uniform) -> bool {
            (0..100).all(|_| (0.0..1.0).contains(&random.next()))
        }
        for_every_seed(|seed, _| {
            holds(Lehmer::new(seed)) && holds(Congruential::new(seed)) && holds(SplitMix32::new(seed))
        });
    }

    #[test]
    fn shuffle_is_a_permutation() {
        fn holds(mut random: impl Uniform, mut items: Vec<u8>) -> bool {
            let mut before = items.clone();
            random.shuffle(&mut items);
            before.sort_unstable();
            items.sort_unstable();
            before == items
        }
        for_every_seed(|seed, items| {
            holds(Lehmer::new(seed), items.clone())
                && holds(Congruential::new(seed), items.clone())
                && holds(SplitMix32::new(seed), items)
        });
    }

    #[test]
    fn a_mean_of_zero_yields_only_zeros() {
        fn holds(mut random: impl Uniform) -> bool {
            (0..100).all(|_| random.poisson(0.0) == 0)
        }
        for_every_seed(|seed, _| {
            holds(Lehmer::new(seed)) && holds(Congruential::new(seed)) && holds(SplitMix32::new(seed))
        });
    }
}
