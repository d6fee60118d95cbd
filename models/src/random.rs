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
    fn poisson(&mut self, mean: f64) -> u64 {
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
