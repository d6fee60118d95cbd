//! What the lesson publishes: the figures of its blocks in order.

use super::{Parameters, Path, Scope};
use crate::figures::{Block, Figure, Mark};

impl Parameters {
    pub(super) fn measure(&self) -> Block {
        let slow = self.store;
        let mut block = Block::new("measure");
        block.fixed("rate.all", self.upload_rate() + self.view_rate(), 4);
        block.fixed("rate.upload", self.upload_rate(), 4);
        block.fixed("rate.view", self.view_rate(), 4);
        block.plain("parameters.view_rate", self.view_rate);
        block.plain("parameters.rounds", self.rounds);
        block.plain("parameters.round_s", self.round_s);
        block.fixed("run_s", self.rounds as f64 * self.round_s, 0);
        block.fixed("arrivals_a_round", self.arrivals_a_round(), 4);
        block.plain("parameters.store.healthy_rounds", slow.healthy_rounds);
        block.plain("parameters.store.slow_rounds", slow.slow_rounds);
        block.plain("parameters.store.slowdown_length", slow.slowdown_length);
        block.fixed("slowdown_s", slow.slowdown_length as f64 * self.round_s, 0);

        for (path, path_name) in [(Path::Proxy, "proxy"), (Path::Valet, "valet")] {
            for (store, store_name) in [(slow.never_slow(), "healthy"), (slow, "slowdown")] {
                let row = format!("runs.{path_name}.{store_name}");
                let run = self.run(path, store);
                block.plain(format!("{row}.accepted"), run.accepted);
                block.plain(format!("{row}.rejected"), run.rejected);
                block.plain(format!("{row}.peak_slots"), run.peak_slots);
                block.fixed(format!("{row}.average_slots"), run.slot_rounds as f64 / self.rounds as f64, 2);
                block.fixed(format!("{row}.service_mb"), run.service_bytes as f64 / 1e6, 3);
            }
        }

        let (proxy, valet) = (self.service_bytes(Path::Proxy), self.service_bytes(Path::Valet));
        block.plain("transfer.proxy_bytes", proxy);
        block.plain("transfer.valet_bytes", valet);
        block.push(Figure::fixed("transfer.ratio", proxy as f64 / valet as f64, 1).marked(Mark::Times));
        block
    }

    pub(super) fn scope(&self) -> Block {
        let mut block = Block::new("scope");
        block.plain("parameters.key_s", self.key_s);
        block.plain("parameters.leak_probability", self.leak_probability);
        block.grouped("parameters.daily_shipments", self.daily_shipments);
        block.plain("parameters.sellers", self.sellers);
        block.plain("shipments_a_seller", self.shipments_a_seller());

        for scope in Scope::ALL {
            let row = format!("scopes.{}", scope.name());
            let peak = self.peak_rate(self.issued(scope) as f64);
            block.grouped(format!("{row}.keys_a_day"), self.issued(scope));
            block.fixed(format!("{row}.peak_keys"), peak, 4);
            let percent = 100.0 * peak / self.peak_edge;
            block.push(Figure::fixed(format!("{row}.of_edge"), percent, 3).marked(Mark::Percent));
            block.fixed(format!("{row}.open_keys"), self.open_keys(scope, self.key_s), 1);
            block.grouped(format!("{row}.surface"), self.surface(scope));
            block.fixed(format!("{row}.exposure"), self.exposure(scope), 1);
        }

        for &key_s in &self.key_sweep_s {
            let row = format!("sweep.seconds_{key_s}");
            block.plain(format!("{row}.key_s"), key_s);
            block.fixed(format!("{row}.single_object.open_keys"), self.open_keys(Scope::SingleObject, key_s), 1);
            block.fixed(format!("{row}.seller_day.open_keys"), self.open_keys(Scope::SellerDay, key_s), 1);
            // Multiplied in the published order, which is not that of `exposure`.
            let leaked_days = self.sellers as f64 * self.leak_probability * self.shipments_a_seller();
            let exposure = leaked_days * self.retention_days as f64 * key_s as f64;
            block.fixed(format!("{row}.seller_bucket.exposure"), exposure, 0);
        }

        let [single, day, bucket] = Scope::ALL.map(|scope| self.exposure(scope));
        let more_keys = self.daily_shipments as f64 / self.sellers as f64;
        block.push(Figure::fixed("narrowing.to_seller_day.exposure", bucket / day, 0).marked(Mark::Times));
        block.push(Figure::fixed("narrowing.to_single_object.exposure", day / single, 2).marked(Mark::Times));
        block.push(Figure::fixed("narrowing.to_single_object.keys", more_keys, 0).marked(Mark::Times));
        for scope in Scope::ALL {
            block.grouped(format!("worst_case.{}", scope.name()), self.surface(scope));
        }
        block
    }
}
